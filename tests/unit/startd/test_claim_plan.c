/* The stages of a claim on the machine: the legal moves, and what a stage means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "startd/claim/claim_plan.h"

static const char *const NAMES[CLAIM_STAGES] = {
    [CLAIM_WAITING] = "waiting",     [CLAIM_OFFERED] = "offered",
    [CLAIM_ACCEPTED] = "accepted",   [CLAIM_HELD] = "held",
    [CLAIM_RECORDING] = "recording", [CLAIM_STARTING] = "starting",
    [CLAIM_ACTIVE] = "active",       [CLAIM_OVER] = "over"};

/* Every legal move from one stage to another. */
static const char *const LEGAL[CLAIM_STAGES] = {
    [CLAIM_WAITING] = " offered ",    [CLAIM_OFFERED] = " accepted over ",
    [CLAIM_ACCEPTED] = " held over ", [CLAIM_HELD] = " recording over ",
    [CLAIM_RECORDING] = " starting ", [CLAIM_STARTING] = " active over ",
    [CLAIM_ACTIVE] = " held over ",   [CLAIM_OVER] = " ",
};

static void only_the_legal_moves_are_allowed(void **state)
{
    (void)state;
    for (int from = 0; from < CLAIM_STAGES; from++) {
        for (int to = 0; to < CLAIM_STAGES; to++) {
            char word[32];
            (void)snprintf(word, sizeof word, " %s ", NAMES[to]);
            bool legal = from == to || strstr(LEGAL[from], word) != NULL;
            if (claim_plan_may_move((enum claim_stage)from, (enum claim_stage)to) != legal) {
                fail_msg("from %s to %s: should be %s", NAMES[from], NAMES[to],
                         legal ? "allowed" : "refused");
            }
        }
    }
}

static void a_claim_has_a_run_from_its_record_to_the_end_of_its_starter(void **state)
{
    (void)state;
    for (int stage = 0; stage < CLAIM_STAGES; stage++) {
        bool has_run = stage == CLAIM_RECORDING || stage == CLAIM_STARTING || stage == CLAIM_ACTIVE;
        assert_int_equal(claim_plan_has_run((enum claim_stage)stage), has_run);
    }
}

static void a_claim_is_an_offer_until_it_is_on_the_disk(void **state)
{
    (void)state;
    for (int stage = 0; stage < CLAIM_STAGES; stage++) {
        bool is_offer = stage == CLAIM_OFFERED || stage == CLAIM_ACCEPTED;
        assert_int_equal(claim_plan_is_offer((enum claim_stage)stage), is_offer);
    }
}

UNIT_TESTS(UNIT(only_the_legal_moves_are_allowed),
           UNIT(a_claim_has_a_run_from_its_record_to_the_end_of_its_starter),
           UNIT(a_claim_is_an_offer_until_it_is_on_the_disk))
