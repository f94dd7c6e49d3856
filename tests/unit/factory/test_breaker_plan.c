/* tests/unit/factory/test_breaker_plan.c - when a site that did not serve is asked again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/breaker_plan.h"
#include "tests/support/unit.h"

static const struct breaker_times TIMES = {.first_ms = 10, .most_ms = 100};

static void waits_double_with_each_failure_in_a_row(void **state)
{
    (void)state;
    static const uint64_t WAITS[] = {10, 20, 40, 80, 100, 100};
    struct breaker breaker = {0};
    uint64_t now = 1000;
    for (size_t i = 0; i < sizeof(WAITS) / sizeof(WAITS[0]); i++) {
        breaker_plan_failure(&breaker, &TIMES, now);
        assert_int_equal(breaker_plan_left_ms(&breaker, now), WAITS[i]);
        now += WAITS[i];
        assert_int_equal(breaker_plan_left_ms(&breaker, now), 0);
        assert_true(breaker.needs_canary);
    }
    breaker_plan_taken(&breaker); /* a submission proves nothing */
    assert_true(breaker.needs_canary);
    breaker_plan_success(&breaker);
    assert_false(breaker.needs_canary);
    breaker_plan_failure(&breaker, &TIMES, now);
    assert_int_equal(breaker_plan_left_ms(&breaker, now), 10);
}

static void failures_of_one_submission_count_once(void **state)
{
    (void)state;
    struct breaker breaker = {0};
    for (int i = 0; i < 50; i++) {
        breaker_plan_failure(&breaker, &TIMES, 1000);
    }
    assert_int_equal(breaker_plan_left_ms(&breaker, 1000), 10);
    breaker_plan_success(&breaker); /* one of them came after all */
    assert_int_equal(breaker_plan_left_ms(&breaker, 1000), 0);
}

static void a_refusal_needs_no_canary(void **state)
{
    (void)state;
    struct breaker breaker = {0};
    breaker_plan_refusal(&breaker, &TIMES, 1000);
    breaker_plan_refusal(&breaker, &TIMES, 1010);
    assert_false(breaker.needs_canary);
    assert_int_equal(breaker_plan_left_ms(&breaker, 1010), 20);
    breaker_plan_success(&breaker); /* a glidein of before: the quota is still used up */
    assert_int_equal(breaker_plan_left_ms(&breaker, 1010), 20);
    breaker_plan_taken(&breaker);
    breaker_plan_refusal(&breaker, &TIMES, 2000);
    assert_int_equal(breaker_plan_left_ms(&breaker, 2000), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_double_with_each_failure_in_a_row),
        cmocka_unit_test(failures_of_one_submission_count_once),
        cmocka_unit_test(a_refusal_needs_no_canary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
