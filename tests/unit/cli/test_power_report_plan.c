/* What `roost power report` prints.
 *
 * LINK: cli
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/cli/ads.h"

#include "cli/power_report_plan.h"

static const struct ad_context CONTEXT = {.now_s = 1795166147};

static void machines_have_hours_energy_and_a_total(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[Kind = \"Node\"; Name = \"wn01\"; OnSeconds = 7200.0; AsleepSeconds = 79200.0;"
                  " BusyCoreSeconds = 14400.0; EnergyUsed = 0.25; EnergyOfJobs = 0.1;"
                  " EnergySaved = 0.8; EnergyAlwaysOn = 1.05; UncountedSeconds = 59.0]");
    ads_add(&ads, "[Kind = \"Node\"; Name = \"wn02\"; OnSeconds = 3600.0; EnergyUsed = 0.05;"
                  " EnergyAlwaysOn = 0.05; UncountedSeconds = 59.0]");
    strbuf_init(&out, 0);
    power_report_show(ads_list(&ads), ads.count, &CONTEXT, &out);
    vec_fini(&ads, ads_destroy_one);
    ads_expect(&out,
               "Name                   OnHours AsleepHours CoreHours        kWh    JobskWh   "
               "AlwaysOn   SavedkWh Saved%\n"
               "\n"
               "wn01                       2.0        22.0       4.0      0.250      0.100      "
               "1.050      0.800   76.2\n"
               "wn02                       1.0                            0.050                 "
               "0.050               0.0\n"
               "Total                      3.0        22.0       4.0      0.300      0.100      "
               "1.100      0.800   72.7\n");
}

static void users_have_what_their_jobs_drew(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[Kind = \"User\"; Name = \"bob@pool\"; BusyCoreSeconds = 14400.0;"
                  " EnergyUsed = 0.1; UncountedSeconds = 5400.0]");
    strbuf_init(&out, 0);
    power_report_show(ads_list(&ads), ads.count, &CONTEXT, &out);
    ads_expect(&out,
               "Name                 CoreHours        kWh\n\nbob@pool                   4.0      "
               "0.100\nTotal                      4.0      0.100\n\nFor 1.5 hours of that time no "
               "rooster was running; for these hours, the report has only what the machines "
               "counted.\n");
    vec_fini(&ads, ads_destroy_one);
}

static void a_spreadsheet_gets_every_figure_and_names_in_quotes(void **state)
{
    (void)state;
    struct vec ads = {0};
    struct strbuf out;
    ads_add(&ads, "[Kind = \"User\"; Name = \"a \\\"b\\\", c\"; BusyCoreSeconds = 1.5;"
                  " EnergyUsed = 0.1]");
    strbuf_init(&out, 0);
    power_report_csv(ads_list(&ads), ads.count, &out);
    ads_expect(&out, "Kind,Name,OnSeconds,AsleepSeconds,BusyCoreSeconds,EnergyUsed,EnergyOfJobs,"
                     "EnergySaved,EnergyAlwaysOn,UncountedSeconds\r\n"
                     "User,\"a \"\"b\"\", c\",0.000000,0.000000,1.500000,0.100000,0.000000,"
                     "0.000000,0.000000,0\r\n");
    vec_fini(&ads, ads_destroy_one);
}

static void nothing_counted_prints_nothing(void **state)
{
    (void)state;
    struct strbuf out;
    strbuf_init(&out, 0);
    power_report_show(NULL, 0, &CONTEXT, &out);
    ads_expect(&out, "");
}

static void a_day_is_read_that_has_begun(void **state)
{
    (void)state;
    int64_t since_s = 5;
    assert_int_equal(power_report_since("2026-11-20", 1795166147, &since_s), 0);
    assert_int_equal(since_s, 1795132800);
    since_s = 5;
    assert_int_not_equal(power_report_since("2026-11-21", 1795166147, &since_s), 0);
    assert_int_not_equal(power_report_since("2026-11-31", 1795166147, &since_s), 0);
    assert_int_not_equal(power_report_since("yesterday", 1795166147, &since_s), 0);
    assert_int_not_equal(power_report_since("2026-11-20T01:00:00Z", 1795166147, &since_s), 0);
    assert_int_equal(since_s, 5);
}

UNIT_TESTS(UNIT(machines_have_hours_energy_and_a_total), UNIT(users_have_what_their_jobs_drew),
           UNIT(a_spreadsheet_gets_every_figure_and_names_in_quotes),
           UNIT(nothing_counted_prints_nothing), UNIT(a_day_is_read_that_has_begun))
