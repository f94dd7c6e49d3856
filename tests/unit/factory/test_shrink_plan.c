/* tests/unit/factory/test_shrink_plan.c - which glideins go by order, and in how many times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/shrink_plan.h"
#include "tests/support/unit.h"

static const struct shrink_item SITE[] = {
    {.state = GLIDEIN_JOINED, .is_claimed = true},
    {.state = GLIDEIN_JOINED},
    {.state = GLIDEIN_LEFT},
    {.state = GLIDEIN_JOINED},
    {.state = GLIDEIN_STARTED},
    {.state = GLIDEIN_QUEUED},
    {.state = GLIDEIN_HELD},
    {.state = GLIDEIN_QUEUED, .is_going = true},
    {.state = GLIDEIN_INTENDED},
};
#define SITE_COUNT (sizeof(SITE) / sizeof(SITE[0]))

static void chooses(size_t count, bool force, const size_t *expected, size_t expected_count)
{
    size_t chosen[SITE_COUNT];
    assert_int_equal(shrink_plan_choose(SITE, SITE_COUNT, count, force, chosen), expected_count);
    for (size_t i = 0; i < expected_count; i++) {
        assert_int_equal(chosen[i], expected[i]);
    }
}

static void those_go_first_that_are_missed_least(void **state)
{
    static const size_t ORDER[] = {6, 5, 4, 1, 3, 0};
    (void)state;
    chooses(1, false, ORDER, 1);
    chooses(2, false, ORDER, 2);
    chooses(4, false, ORDER, 4);
    chooses(0, true, ORDER, 0);
}

static void one_with_a_job_goes_by_force_alone(void **state)
{
    static const size_t ORDER[] = {6, 5, 4, 1, 3, 0};
    (void)state;
    chooses(100, false, ORDER, 5);
    chooses(100, true, ORDER, 6);
}

static void a_fourth_goes_at_a_time(void **state)
{
    (void)state;
    assert_int_equal(shrink_plan_share(0), 0);
    assert_int_equal(shrink_plan_share(1), 1);
    assert_int_equal(shrink_plan_share(8), 2);
    assert_int_equal(shrink_plan_share(9), 3);
    assert_int_equal(shrink_plan_times(8, 0), 0);
    assert_int_equal(shrink_plan_times(8, 2), 1);
    assert_int_equal(shrink_plan_times(8, 3), 2);
    assert_int_equal(shrink_plan_times(4, 4), 4); /* 4, 3, 2, 1 are left */
    assert_int_equal(shrink_plan_times(2, 5), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(those_go_first_that_are_missed_least),
        cmocka_unit_test(one_with_a_job_goes_by_force_alone),
        cmocka_unit_test(a_fourth_goes_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
