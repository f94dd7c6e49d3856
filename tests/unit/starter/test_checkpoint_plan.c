/* tests/unit/starter/test_checkpoint_plan.c - when a checkpoint is worth its cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "starter/ckpt/checkpoint_plan.h"

#define MINUTE UINT64_C(60000)

static uint64_t interval(uint64_t whole_ms, uint64_t changed_ms, bool followed)
{
    const struct checkpoint_costs costs = {.whole_ms = whole_ms, .changed_ms = changed_ms};
    return checkpoint_plan_interval_ms(&costs, followed, 3 * MINUTE, 180 * MINUTE);
}

static void what_costs_little_comes_as_often_as_it_may(void **state)
{
    (void)state;
    assert_int_equal(interval(0, 0, false), 3 * MINUTE);
    assert_int_equal(interval(3600, 0, false), 3 * MINUTE);
}

static void what_takes_a_minute_takes_a_fiftieth_of_the_time(void **state)
{
    (void)state;
    assert_int_equal(interval(MINUTE, 0, false), 50 * MINUTE);
}

static void what_takes_very_long_still_comes(void **state)
{
    (void)state;
    assert_int_equal(interval(60 * MINUTE, 0, false), 180 * MINUTE);
    assert_int_equal(interval(UINT64_MAX, 0, false), 180 * MINUTE);
}

static void what_changed_costs_what_it_did_before(void **state)
{
    (void)state;
    assert_int_equal(interval(60 * MINUTE, 6000, true), 5 * MINUTE);
    assert_int_equal(interval(MINUTE, 6000, false), 50 * MINUTE); /* the next one is whole */
    assert_int_equal(interval(6000, MINUTE, true), 50 * MINUTE);  /* it became whole each time */
}

static void the_first_time_it_is_taken_to_be_a_quarter_but_by_who_has_no_time(void **state)
{
    (void)state;
    const struct checkpoint_costs costs = {.whole_ms = 2 * MINUTE};
    assert_int_equal(interval(2 * MINUTE, 0, true), 25 * MINUTE);
    assert_int_equal(checkpoint_plan_takes_ms(&costs, true), 2 * MINUTE);
}

static void each_kind_has_its_own_cost(void **state)
{
    (void)state;
    struct checkpoint_costs costs = {.whole_ms = 0};
    checkpoint_plan_note(&costs, 9000, false, false); /* the first: there was nothing to change */
    assert_int_equal(checkpoint_plan_takes_ms(&costs, false), 9000);
    checkpoint_plan_note(&costs, 1000, true, true);
    assert_int_equal(checkpoint_plan_takes_ms(&costs, true), 1000);
    assert_int_equal(checkpoint_plan_takes_ms(&costs, false), 9000);
    checkpoint_plan_note(&costs, 8000, true, false); /* most had changed */
    assert_int_equal(checkpoint_plan_takes_ms(&costs, true), 8000);
    assert_int_equal(checkpoint_plan_takes_ms(&costs, false), 8000);
    checkpoint_plan_note(&costs, 0, true, true); /* too short to be seen: known all the same */
    assert_int_equal(checkpoint_plan_takes_ms(&costs, true), 1);
}

static void a_rate_is_kept(void **state)
{
    (void)state;
    assert_int_equal(checkpoint_plan_wait_ms(1000, 5000, 5000), 0);
    assert_in_range(checkpoint_plan_wait_ms(1000, 5000, 2000), 3000, 3001);
    assert_int_equal(checkpoint_plan_wait_ms(1000, 0, 0), 0);
}

static void without_a_rate_nothing_waits(void **state)
{
    (void)state;
    assert_int_equal(checkpoint_plan_wait_ms(0, UINT64_C(1) << 40, 1), 0);
}

static void files_are_copied_where_there_is_room_beside_the_rest(void **state)
{
    (void)state;
    assert_true(checkpoint_plan_copies(300, 200, 100, 1000, false));
    assert_false(checkpoint_plan_copies(299, 200, 100, 1000, false));
    assert_true(checkpoint_plan_copies(200, 200, 100, 1000, true)); /* it is there already */
    assert_false(checkpoint_plan_copies(199, 200, 100, 1000, true));
    assert_true(checkpoint_plan_copies(-1, 200, 100, 1000, false)); /* nobody knows */
    assert_false(checkpoint_plan_copies(100000, 200, 1001, 1000, false));
    assert_false(checkpoint_plan_copies(100000, 200, 1, 0, false)); /* not wanted */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_costs_little_comes_as_often_as_it_may),
        cmocka_unit_test(what_takes_a_minute_takes_a_fiftieth_of_the_time),
        cmocka_unit_test(what_takes_very_long_still_comes),
        cmocka_unit_test(what_changed_costs_what_it_did_before),
        cmocka_unit_test(the_first_time_it_is_taken_to_be_a_quarter_but_by_who_has_no_time),
        cmocka_unit_test(each_kind_has_its_own_cost),
        cmocka_unit_test(files_are_copied_where_there_is_room_beside_the_rest),
        cmocka_unit_test(a_rate_is_kept),
        cmocka_unit_test(without_a_rate_nothing_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
