/* How far a machine is on its way down: the legal moves, and what a stage means to others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/mem.h"
#include "startd/sleep/going_down.h"
#include "startd/startd_state.h"

static const char *const NAMES[DOWN_STAGES] = {"up",    "asking",    "leaving", "leaving_asking",
                                               "begun", "announced", "waiting", "ordered",
                                               "gone"};

/* Every legal move from one stage to another. */
static const char *const LEGAL[DOWN_STAGES] = {
    [DOWN_UP] = " asking leaving begun ",
    [DOWN_ASKING] = " up ",
    [DOWN_LEAVING] = " up leaving_asking begun ",
    [DOWN_LEAVING_ASKING] = " leaving asking ",
    [DOWN_BEGUN] = " up announced ",
    [DOWN_ANNOUNCED] = " up waiting ordered gone ",
    [DOWN_WAITING] = " up ordered ",
    [DOWN_ORDERED] = " up gone ",
    [DOWN_GONE] = " up ",
};

static void only_the_legal_moves_are_allowed(void **state)
{
    (void)state;
    for (int from = 0; from < DOWN_STAGES; from++) {
        for (int to = 0; to < DOWN_STAGES; to++) {
            char word[32];
            (void)snprintf(word, sizeof word, " %s ", NAMES[to]);
            bool legal = from == to || strstr(LEGAL[from], word) != NULL;
            if (going_down_may_move((enum down_stage)from, (enum down_stage)to) != legal) {
                fail_msg("from %s to %s: should be %s", NAMES[from], NAMES[to],
                         legal ? "allowed" : "refused");
            }
        }
    }
}

static void a_machine_is_taken_back_from_each_stage_that_has_begun(void **state)
{
    (void)state;
    for (int from = DOWN_BEGUN; from < DOWN_STAGES; from++) {
        assert_true(going_down_may_move((enum down_stage)from, DOWN_UP));
    }
}

static void a_stage_says_who_is_still_served(void **state)
{
    (void)state;
    struct startd *startd = mem_zalloc(sizeof *startd);
    static const struct {
        enum down_stage stage;
        bool asking, leaving, begun, silent;
    } ROWS[] = {
        {DOWN_UP, false, false, false, false},     {DOWN_ASKING, true, false, false, false},
        {DOWN_LEAVING, false, true, false, false}, {DOWN_LEAVING_ASKING, true, true, false, false},
        {DOWN_BEGUN, false, false, true, false},   {DOWN_ANNOUNCED, false, false, true, true},
        {DOWN_WAITING, false, false, true, true},  {DOWN_ORDERED, false, false, true, true},
        {DOWN_GONE, false, false, true, true},
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
        startd->down.stage = ROWS[i].stage;
        assert_int_equal(going_down_is_asking(startd), ROWS[i].asking);
        assert_int_equal(going_down_is_leaving(startd), ROWS[i].leaving);
        assert_int_equal(going_down_has_begun(startd), ROWS[i].begun);
        assert_int_equal(going_down_is_silent(startd), ROWS[i].silent);
        assert_int_equal(going_down_takes_none(startd), ROWS[i].leaving || ROWS[i].begun);
    }
    mem_free(startd);
}

static void a_move_changes_the_stage(void **state)
{
    (void)state;
    struct startd *startd = mem_zalloc(sizeof *startd);
    going_down_move(startd, DOWN_ASKING);
    going_down_move(startd, DOWN_UP);
    going_down_move(startd, DOWN_BEGUN);
    assert_int_equal(startd->down.stage, DOWN_BEGUN);
    mem_free(startd);
}

UNIT_TESTS(UNIT(only_the_legal_moves_are_allowed),
           UNIT(a_machine_is_taken_back_from_each_stage_that_has_begun),
           UNIT(a_stage_says_who_is_still_served), UNIT(a_move_changes_the_stage))
