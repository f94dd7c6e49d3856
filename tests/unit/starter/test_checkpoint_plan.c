/* tests/unit/starter/test_checkpoint_plan.c - when a checkpoint is worth its cost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "starter/checkpoint_plan.h"

#define MINUTE UINT64_C(60000)

static void what_costs_little_comes_as_often_as_it_may(void **state)
{
    (void)state;
    assert_int_equal(checkpoint_plan_interval_ms(0, 3 * MINUTE, 180 * MINUTE), 3 * MINUTE);
    assert_int_equal(checkpoint_plan_interval_ms(3600, 3 * MINUTE, 180 * MINUTE), 3 * MINUTE);
}

static void what_takes_a_minute_takes_a_fiftieth_of_the_time(void **state)
{
    (void)state;
    assert_int_equal(checkpoint_plan_interval_ms(MINUTE, 3 * MINUTE, 180 * MINUTE), 50 * MINUTE);
}

static void what_takes_very_long_still_comes(void **state)
{
    (void)state;
    assert_int_equal(checkpoint_plan_interval_ms(60 * MINUTE, 3 * MINUTE, 180 * MINUTE),
                     180 * MINUTE);
    assert_int_equal(checkpoint_plan_interval_ms(UINT64_MAX, 3 * MINUTE, 180 * MINUTE),
                     180 * MINUTE);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_costs_little_comes_as_often_as_it_may),
        cmocka_unit_test(what_takes_a_minute_takes_a_fiftieth_of_the_time),
        cmocka_unit_test(what_takes_very_long_still_comes),
        cmocka_unit_test(a_rate_is_kept),
        cmocka_unit_test(without_a_rate_nothing_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
