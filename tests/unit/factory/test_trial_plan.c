/* tests/unit/factory/test_trial_plan.c - the steps of a glidein under test.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/trial_plan.h"
#include "tests/support/unit.h"

static enum trial_step goes_on(enum trial_step done, struct trial_facts facts)
{
    return trial_plan_step(done, &facts);
}

static void each_step_follows_the_one_before(void **state)
{
    (void)state;
    struct trial_facts facts = {.is_there = true, .state = GLIDEIN_INTENDED};
    assert_int_equal(goes_on(TRIAL_ORDERED, facts), TRIAL_ORDERED);
    facts.is_recorded = true;
    assert_int_equal(goes_on(TRIAL_ORDERED, facts), TRIAL_RECORDED);
    facts.state = GLIDEIN_QUEUED;
    assert_int_equal(goes_on(TRIAL_RECORDED, facts), TRIAL_SUBMITTED);
    facts.listing = GLIDEIN_LISTED;
    assert_int_equal(goes_on(TRIAL_SUBMITTED, facts), TRIAL_LISTED);
    facts.listing = GLIDEIN_LISTED_RUNNING;
    assert_int_equal(goes_on(TRIAL_LISTED, facts), TRIAL_STARTED);
    facts.is_heard = true;
    facts.state = GLIDEIN_JOINED;
    assert_int_equal(goes_on(TRIAL_STARTED, facts), TRIAL_JOINED); /* no look since */
    facts.is_looked_at = true;
    assert_int_equal(goes_on(TRIAL_STARTED, facts), TRIAL_SHOWN);
    facts.is_asked_away = true;
    assert_int_equal(goes_on(TRIAL_SHOWN, facts), TRIAL_ENDING);
    facts.is_heard = false;
    assert_int_equal(goes_on(TRIAL_ENDING, facts), TRIAL_LEFT);
    facts.is_there = false;
    assert_int_equal(goes_on(TRIAL_LEFT, facts), TRIAL_GONE);
    assert_int_equal(goes_on(TRIAL_SHOWN, facts), TRIAL_GONE);
    assert_int_equal(goes_on(TRIAL_GONE, facts), TRIAL_GONE);
}

static void one_that_is_heard_but_not_listed_has_not_started_for_its_site(void **state)
{
    (void)state;
    const struct trial_facts facts = {.is_there = true,
                                      .is_recorded = true,
                                      .is_heard = true,
                                      .state = GLIDEIN_JOINED};
    assert_int_equal(goes_on(TRIAL_ORDERED, facts), TRIAL_SUBMITTED);
}

static void one_that_is_gone_too_early_is_lost(void **state)
{
    (void)state;
    struct trial_facts facts = {.is_there = false};
    assert_false(trial_plan_is_lost(TRIAL_ORDERED, &facts)); /* its turn has not come */
    assert_true(trial_plan_is_lost(TRIAL_RECORDED, &facts));
    assert_true(trial_plan_is_lost(TRIAL_JOINED, &facts));
    assert_false(trial_plan_is_lost(TRIAL_SHOWN, &facts));
    facts.is_there = true;
    assert_false(trial_plan_is_lost(TRIAL_JOINED, &facts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_step_follows_the_one_before),
        cmocka_unit_test(one_that_is_heard_but_not_listed_has_not_started_for_its_site),
        cmocka_unit_test(one_that_is_gone_too_early_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
