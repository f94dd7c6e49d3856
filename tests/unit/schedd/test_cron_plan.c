/* tests/unit/schedd/test_cron_plan.c - the next time of a job with cron_minute and its kin.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "classad/ad.h"
#include "classad/ad_time.h"
#include "schedd/policy/cron_plan.h"

#define HOUR_S 3600

static int64_t at(int64_t year, int month, int day, int hour, int minute, int second)
{
    const struct ad_calendar calendar = {year, month, day, hour, minute, second, 0, 0};
    return ad_calendar_seconds(&calendar);
}

static int32_t utc(void *arg, int64_t utc_s)
{
    (void)arg;
    (void)utc_s;
    return 0;
}

/* As in Berlin in 2026: one hour ahead, two from 29 March 01:00 UTC to 25 October 01:00 UTC. */
static int32_t berlin(void *arg, int64_t utc_s)
{
    (void)arg;
    bool summer = utc_s >= at(2026, 3, 29, 1, 0, 0) && utc_s < at(2026, 10, 25, 1, 0, 0);
    return summer ? 2 * HOUR_S : HOUR_S;
}

static int read_times(const char *text, struct cron_times *ret, struct err *err)
{
    struct ad *job = NULL;
    assert_int_equal(ad_parse(text, strlen(text), &job, NULL), 0);
    assert_true(cron_plan_matters(job));
    int rc = cron_plan_read(job, ret, err);
    ad_destroy(job);
    return rc;
}

static int64_t next_in(const char *text, int64_t now_s, cron_zone_f zone)
{
    struct cron_times times;
    struct err err = {{0}};
    if (read_times(text, &times, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return cron_plan_next(&times, now_s, zone, NULL);
}

static void a_job_without_any_of_them_has_no_times(void **state)
{
    (void)state;
    struct ad *job = NULL;
    assert_int_equal(ad_parse("[DeferralTime = 5]", 18, &job, NULL), 0);
    assert_false(cron_plan_matters(job));
    ad_destroy(job);
}

static void the_next_time_is_a_whole_minute_after_now(void **state)
{
    (void)state;
    int64_t now_s = at(2026, 11, 20, 18, 40, 7);
    assert_int_equal(next_in("[CronMinute = \"*\"]", now_s, utc), at(2026, 11, 20, 18, 41, 0));
    assert_int_equal(next_in("[CronMinute = \"40\"]", now_s, utc), at(2026, 11, 20, 19, 40, 0));
    assert_int_equal(next_in("[CronMinute = 40]", at(2026, 11, 20, 18, 40, 0), utc),
                     at(2026, 11, 20, 19, 40, 0));
}

static void fields_that_are_absent_are_every_value(void **state)
{
    (void)state;
    assert_int_equal(next_in("[CronHour = \"20\"]", at(2026, 11, 20, 18, 40, 7), utc),
                     at(2026, 11, 20, 20, 0, 0));
    assert_int_equal(next_in("[CronHour = \"18\"]", at(2026, 11, 20, 18, 40, 7), utc),
                     at(2026, 11, 20, 18, 41, 0));
}

static void lists_ranges_and_steps_are_understood(void **state)
{
    (void)state;
    int64_t now_s = at(2026, 11, 20, 18, 40, 7);
    assert_int_equal(next_in("[CronMinute = \"*/25\"]", now_s, utc), at(2026, 11, 20, 18, 50, 0));
    assert_int_equal(next_in("[CronMinute = \"41-59/7\"]", at(2026, 11, 20, 18, 41, 0), utc),
                     at(2026, 11, 20, 18, 48, 0));
    assert_int_equal(next_in("[CronMinute = \" 5 , 55 \"]", now_s, utc),
                     at(2026, 11, 20, 18, 55, 0));
    assert_int_equal(next_in("[CronMinute = \"0\"; CronHour = \"2\"; CronMonth = \"3-4\"]", now_s,
                             utc),
                     at(2027, 3, 1, 2, 0, 0));
}

static void sunday_is_0_and_7(void **state)
{
    (void)state; /* 20 November 2026 is a Friday */
    int64_t now_s = at(2026, 11, 20, 18, 40, 7);
    static const char *const SUNDAYS[] = {
        "[CronMinute = 0; CronHour = 0; CronDayOfWeek = \"0\"]",
        "[CronMinute = 0; CronHour = 0; CronDayOfWeek = \"7\"]",
    };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(next_in(SUNDAYS[i], now_s, utc), at(2026, 11, 22, 0, 0, 0));
    }
    assert_int_equal(next_in("[CronMinute = 0; CronHour = 0; CronDayOfWeek = \"1-5\"]", now_s, utc),
                     at(2026, 11, 23, 0, 0, 0));
}

static void days_of_the_month_and_of_the_week_are_for_both(void **state)
{
    (void)state;
    int64_t now_s = at(2026, 11, 20, 18, 40, 7);
    static const char BOTH[] =
        "[CronMinute = 0; CronHour = 0; CronDayOfMonth = \"24\"; CronDayOfWeek = \"1\"]";
    assert_int_equal(next_in(BOTH, now_s, utc), at(2026, 11, 23, 0, 0, 0));
    assert_int_equal(next_in(BOTH, at(2026, 11, 23, 0, 0, 0), utc), at(2026, 11, 24, 0, 0, 0));
    assert_int_equal(next_in("[CronMinute = 0; CronHour = 0; CronDayOfMonth = \"24\"]", now_s, utc),
                     at(2026, 11, 24, 0, 0, 0));
}

static void the_29th_of_february_comes_in_leap_years(void **state)
{
    (void)state;
    static const char LEAP[] =
        "[CronMinute = 0; CronHour = 0; CronDayOfMonth = \"29\"; CronMonth = \"2\"]";
    assert_int_equal(next_in(LEAP, at(2026, 11, 20, 0, 0, 0), utc), at(2028, 2, 29, 0, 0, 0));
}

static void times_are_those_of_the_zone(void **state)
{
    (void)state;
    assert_int_equal(next_in("[CronMinute = 30; CronHour = 4]", at(2026, 1, 1, 12, 0, 0), berlin),
                     at(2026, 1, 2, 3, 30, 0));
    assert_int_equal(next_in("[CronMinute = 30; CronHour = 4]", at(2026, 7, 1, 12, 0, 0), berlin),
                     at(2026, 7, 2, 2, 30, 0));
    /* before midnight there, after it in UTC's count of days */
    assert_int_equal(next_in("[CronMinute = 30; CronHour = 0]", at(2026, 7, 1, 22, 0, 0), berlin),
                     at(2026, 7, 1, 22, 30, 0));
}

static void a_time_that_the_clock_skips_is_left_out(void **state)
{
    (void)state;
    assert_int_equal(next_in("[CronMinute = 30; CronHour = 2]", at(2026, 3, 28, 12, 0, 0), berlin),
                     at(2026, 3, 30, 0, 30, 0));
}

static void a_time_that_comes_twice_counts_once(void **state)
{
    (void)state;
    int64_t first_s = at(2026, 10, 25, 0, 30, 0);
    assert_int_equal(next_in("[CronMinute = 30; CronHour = 2]", at(2026, 10, 24, 12, 0, 0), berlin),
                     first_s);
    assert_int_equal(next_in("[CronMinute = 30; CronHour = 2]", first_s, berlin),
                     at(2026, 10, 26, 1, 30, 0));
}

static void what_is_no_time_is_refused_by_name(void **state)
{
    (void)state;
    static const char *const BAD[][2] = {
        {"[CronMinute = \"60\"]", "CronMinute"},
        {"[CronMinute = \"\"]", "CronMinute"},
        {"[CronMinute = \"1,,2\"]", "CronMinute"},
        {"[CronMinute = \"1 2\"]", "CronMinute"},
        {"[CronMinute = {5}]", "CronMinute"},
        {"[CronHour = \"24\"]", "CronHour"},
        {"[CronHour = \"5-3\"]", "CronHour"},
        {"[CronHour = \"*/0\"]", "CronHour"},
        {"[CronHour = -1]", "CronHour"},
        {"[CronDayOfMonth = \"0\"]", "CronDayOfMonth"},
        {"[CronDayOfMonth = \"31\"; CronMonth = \"2,4\"]", "CronDayOfMonth"},
        {"[CronMonth = \"13\"]", "CronMonth"},
        {"[CronMonth = \"Jan\"]", "CronMonth"},
        {"[CronDayOfWeek = \"8\"]", "CronDayOfWeek"},
    };
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        struct cron_times times = {.minutes = 77};
        struct err err = {{0}};
        assert_int_equal(read_times(BAD[i][0], &times, &err), -EINVAL);
        assert_non_null(strstr(err.text, BAD[i][1]));
        assert_int_equal(times.minutes, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_job_without_any_of_them_has_no_times),
        cmocka_unit_test(the_next_time_is_a_whole_minute_after_now),
        cmocka_unit_test(fields_that_are_absent_are_every_value),
        cmocka_unit_test(lists_ranges_and_steps_are_understood),
        cmocka_unit_test(sunday_is_0_and_7),
        cmocka_unit_test(days_of_the_month_and_of_the_week_are_for_both),
        cmocka_unit_test(the_29th_of_february_comes_in_leap_years),
        cmocka_unit_test(times_are_those_of_the_zone),
        cmocka_unit_test(a_time_that_the_clock_skips_is_left_out),
        cmocka_unit_test(a_time_that_comes_twice_counts_once),
        cmocka_unit_test(what_is_no_time_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
