/* tests/unit/starter/test_watch_plan.c - how often a job is measured.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "starter/job/watch_plan.h"

static const struct watch_work WORK = {
    .cpu_s = 3.5, .processes = 3, .memory_kib = 1024, .disk_kib = 16, .traffic_bytes = 1000};

static void a_job_that_does_nothing_is_measured_ever_less_often_up_to_a_limit(void **state)
{
    (void)state;
    uint64_t pause_ms = WATCH_LOOK_MS;
    for (int i = 0; i < 3; i++) {
        uint64_t longer_ms = watch_plan_pause(pause_ms, &WORK, &WORK);
        assert_true(longer_ms > pause_ms);
        pause_ms = longer_ms;
    }
    assert_int_equal(pause_ms, WATCH_LOOK_MAX_MS);
    assert_int_equal(watch_plan_pause(pause_ms, &WORK, &WORK), WATCH_LOOK_MAX_MS);
    assert_int_equal(watch_plan_pause(0, &WORK, &WORK), WATCH_LOOK_MS);
}

static void a_job_that_does_anything_is_measured_each_second(void **state)
{
    (void)state;
    struct watch_work now[] = {WORK, WORK, WORK, WORK, WORK, WORK};
    now[0].cpu_s += 0.051;
    now[1].processes--;
    now[2].memory_kib--;
    now[3].disk_kib++;
    now[4].traffic_bytes++;
    now[5].cpu_s += 0.02; /* less than 1 % of 5 s */
    for (int i = 0; i < 5; i++) {
        assert_int_equal(watch_plan_pause(WATCH_LOOK_MAX_MS, &WORK, &now[i]), WATCH_LOOK_MS);
    }
    assert_int_equal(watch_plan_pause(WATCH_LOOK_MAX_MS, &WORK, &now[5]), WATCH_LOOK_MAX_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_that_does_nothing_is_measured_ever_less_often_up_to_a_limit),
        cmocka_unit_test(a_job_that_does_anything_is_measured_each_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
