/* Until when a machine is kept up.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "base/err.h"
#include "classad/ad.h"
#include "cli/keep_plan.h"

#define NOW INT64_C(1795166147) /* 2026-11-20 09:15:47 UTC */

static int32_t an_hour_east(void *arg, int64_t at_s)
{
    (void)arg;
    (void)at_s;
    return 3600;
}

static int64_t until(const char *text, const struct ad_context *zone)
{
    int64_t ret = -7;
    int rc = keep_plan_until(text, NOW, zone, &ret, NULL);
    assert_true(rc == 0 || (rc == -EINVAL && ret == -7));
    return rc == 0 ? ret : rc;
}

static void a_span_counts_from_now(void **state)
{
    const struct ad_context utc = {.now_s = NOW};
    (void)state;
    assert_int_equal(until("90m", &utc), NOW + 5400);
    assert_int_equal(until("1 day", &utc), NOW + 86400);
    assert_int_equal(until("now", &utc), 0);
    assert_int_equal(until("0", &utc), -EINVAL);
}

static void a_time_of_day_is_the_next_one_here(void **state)
{
    const struct ad_context utc = {.now_s = NOW}, east = {.zone_offset_s = an_hour_east};
    (void)state;
    assert_int_equal(until("09:16", &utc), NOW + 13);
    assert_int_equal(until("9:15", &utc), NOW - 47 + 86400);
    assert_int_equal(until("10:16", &east), NOW + 13);
    assert_int_equal(until("0:30", &east), NOW + 13 + 14 * 3600 + 14 * 60);
    assert_int_equal(until("24:00", &utc), -EINVAL);
    assert_int_equal(until("9:60", &utc), -EINVAL);
    assert_int_equal(until("9:5", &utc), -EINVAL);
}

static void a_date_is_of_utc_and_to_come(void **state)
{
    const struct ad_context utc = {.now_s = NOW};
    struct err err;
    int64_t ret;
    (void)state;
    assert_int_equal(until("2026-11-20T10:15:47Z", &utc), NOW + 3600);
    assert_int_equal(keep_plan_until("2026-11-20T09:15:47Z", NOW, &utc, &ret, &err), -EINVAL);
    assert_non_null(strstr(err.text, "in the past"));
    assert_int_equal(keep_plan_until("tomorrow", NOW, &utc, &ret, &err), -EINVAL);
    assert_non_null(strstr(err.text, "'tomorrow' is not a time"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_span_counts_from_now),
                                       cmocka_unit_test(a_time_of_day_is_the_next_one_here),
                                       cmocka_unit_test(a_date_is_of_utc_and_to_come)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
