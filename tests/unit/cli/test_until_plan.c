/* A time to come, as a person writes it.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "classad/ad_eval.h"
#include "cli/until_plan.h"

static int32_t east(void *arg, int64_t at_s)
{
    (void)arg;
    (void)at_s;
    return 3600;
}

/* 2026-11-20 09:15:47 UTC, an hour later where the caller sits. */
static const struct ad_context NOW = {.now_s = 1795166147, .zone_offset_s = east};

static void expect_time(const char *text, int64_t expected)
{
    int64_t at_s = 0;
    struct err err = {""};
    if (until_plan_read(text, &NOW, &at_s, &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(at_s, expected);
}

static void a_time_to_come_is_in_the_callers_zone(void **state)
{
    (void)state;
    expect_time("90m", NOW.now_s + 5400);
    expect_time("1795166148", 1795166148);
    expect_time("2026-11-20T22:30:00Z", 1795213800);
    expect_time("2026-11-20T22:30", 1795210200);
    expect_time("2026-11-20 22:30:05", 1795210205);
    expect_time("22:30", 1795210200);
    expect_time("10:15", 1795166100 + 86400); /* it is 10:15:47 there */
    expect_time("10:16", 1795166160);
    expect_time("00:00", 1795129200 + 86400);
}

static void what_is_no_time_or_past_is_refused(void **state)
{
    (void)state;
    static const char *const WRONG[] = {"soon",  "24:00", "12:60",           "12:", "1:2:3", "",
                                        "x2:30", "-5",    "2026-13-20T22:30"};
    static const char *const OVER[] = {"1795166147", "2026-11-20T09:15:47Z", "2026-11-20T10:00",
                                       "0s"};
    int64_t at_s = 7;
    struct err err;
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        assert_int_equal(until_plan_read(WRONG[i], &NOW, &at_s, &err), -EINVAL);
    }
    for (size_t i = 0; i < sizeof OVER / sizeof OVER[0]; i++) {
        assert_int_equal(until_plan_read(OVER[i], &NOW, &at_s, &err), -EINVAL);
        assert_non_null(strstr(err.text, "in the past"));
    }
    assert_int_equal(at_s, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_to_come_is_in_the_callers_zone),
        cmocka_unit_test(what_is_no_time_or_past_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
