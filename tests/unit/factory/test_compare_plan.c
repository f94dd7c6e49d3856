/* tests/unit/factory/test_compare_plan.c - whether site, journal and pool agree about a glidein.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/compare_plan.h"
#include "tests/support/unit.h"

static const struct compare_facts RUNS = {.is_recorded = true,
                                          .is_listed = true,
                                          .is_running = true,
                                          .is_settled = true,
                                          .is_heard = true};

static void is(struct compare_facts facts, enum compare_verdict verdict)
{
    assert_int_equal(compare_plan(&facts, 1000), verdict);
}

static void a_glidein_that_all_know_agrees(void **state)
{
    (void)state;
    struct compare_facts facts = RUNS;
    is(facts, COMPARE_AGREES);
    facts.is_heard = facts.is_running = false; /* it is queued, for however long */
    facts.unheard_ms = 100000;
    is(facts, COMPARE_AGREES);
    facts.is_listed = facts.is_settled = false; /* submitted just now */
    is(facts, COMPARE_AGREES);
}

static void what_the_journal_did_not_know_is_an_orphan(void **state)
{
    (void)state;
    struct compare_facts facts = RUNS;
    facts.is_recorded = false;
    is(facts, COMPARE_ORPHAN);
    facts.is_running = facts.is_heard = false;
    is(facts, COMPARE_ORPHAN);
}

static void what_runs_and_is_not_heard_in_time_is_a_zombie(void **state)
{
    (void)state;
    struct compare_facts facts = RUNS;
    facts.is_heard = false;
    facts.unheard_ms = 999;
    is(facts, COMPARE_AGREES);
    facts.unheard_ms = 1000;
    is(facts, COMPARE_ZOMBIE);
}

static void what_the_site_does_not_list_is_a_ghost(void **state)
{
    (void)state;
    struct compare_facts facts = RUNS;
    facts.is_listed = facts.is_running = false;
    is(facts, COMPARE_GHOST);
    facts.is_recorded = false; /* only the pool has it */
    is(facts, COMPARE_GHOST);
    facts.is_heard = false;
    is(facts, COMPARE_GHOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_glidein_that_all_know_agrees),
        cmocka_unit_test(what_the_journal_did_not_know_is_an_orphan),
        cmocka_unit_test(what_runs_and_is_not_heard_in_time_is_a_zombie),
        cmocka_unit_test(what_the_site_does_not_list_is_a_ghost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
