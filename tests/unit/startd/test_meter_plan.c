/* What this machine draws, and which part of that is whose.
 *
 * LINK: startd
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>
#include <math.h>

#include "base/err.h"
#include "startd/machine/meter_plan.h"

static void near(double found, double expected)
{
    if (!(fabs(found - expected) < 1e-9)) {
        fail_msg("%.12f, not %.12f", found, expected);
    }
}

static void packages_and_memory_count_and_nothing_that_is_in_them(void **state)
{
    (void)state;
    assert_true(meter_plan_is_counted("intel-rapl:0", "package-0"));
    assert_true(meter_plan_is_counted("intel-rapl:1", "package-1"));
    assert_true(meter_plan_is_counted("intel-rapl:0:2", "dram"));
    assert_true(meter_plan_is_counted("intel-rapl:3", "package-0-die-1"));
    assert_false(meter_plan_is_counted("intel-rapl:0:0", "core"));
    assert_false(meter_plan_is_counted("intel-rapl:0:1", "uncore"));
    assert_false(meter_plan_is_counted("intel-rapl:2", "psys"));
    assert_false(meter_plan_is_counted("intel-rapl-mmio:0", "package-0"));
    assert_false(meter_plan_is_counted("intel-rapl", "package-0"));
    assert_false(meter_plan_is_counted("dtpm", "package-0"));
}

static void a_counter_that_wraps_goes_on_and_one_that_was_reset_says_nothing(void **state)
{
    (void)state;
    near(meter_plan_zone_j(1000000, 3500000, 262143328850, 5), 2.5);
    near(meter_plan_zone_j(262143328850, 1000000, 262143328850, 5), 1);
    near(meter_plan_zone_j(262142328850, 500000, 262143328850, 5), 1.5);
    near(meter_plan_zone_j(7, 7, 0, 5), 0);
    near(meter_plan_zone_j(8, 7, 0, 5), -1); /* no range is said */
    near(meter_plan_zone_j(300, 7, 200, 5), -1);
    near(meter_plan_zone_j(1000000, 0, 262143328850, 5), -1); /* 262 kJ in 5 s */
    near(meter_plan_zone_j(0, 10000000000, 262143328850, 5), 10000);
    near(meter_plan_zone_j(0, 10000000001, 262143328850, 5), -1);
    near(meter_plan_zone_j(0, 1, 262143328850, 0), -1);
}

static void a_file_of_the_kernel_is_a_number_and_nothing_else(void **state)
{
    (void)state;
    uint64_t value = 5;
    assert_true(meter_plan_number("12\n", &value));
    assert_int_equal(value, 12);
    assert_true(meter_plan_number("18446744073709551615", &value));
    value = 5;
    assert_false(meter_plan_number("", &value));
    assert_false(meter_plan_number("-1\n", &value));
    assert_false(meter_plan_number("12 W\n", &value));
    assert_false(meter_plan_number("99999999999999999999\n", &value));
    assert_int_equal(value, 5);
}

static double ups(const char *text)
{
    struct err err = {.text = ""};
    double watts = -7;
    int rc = meter_plan_ups_w(text, &watts, &err);
    assert_true(rc == 0 || (rc == -ENODATA && watts == -7 && err.text[0] != '\0'));
    return rc == 0 ? watts : -1;
}

static void a_ups_tells_watts_or_a_load_of_so_many_watts(void **state)
{
    (void)state;
    near(ups("battery.charge: 100\nups.realpower: 87.5\nups.load: 3\n"), 87.5);
    near(ups("ups.load: 25\nups.realpower.nominal: 400\nups.status: OL\n"), 100);
    near(ups("ups.realpower.nominal: 400\nups.load: 0"), 0);
    near(ups("ups.realpower.nominal: 400\n"), -1);
    near(ups("ups.load: 25\n"), -1);
    near(ups("ups.realpower: unknown\nups.load: 25\n"), -1);
    near(ups("ups.realpower: -3\n"), -1);
    near(ups("ups.realpower: 1e300\n"), -1);
    near(ups("ups.load: 9000000\nups.realpower.nominal: 9000000\n"), -1);
    near(ups("ups.load: 100\nups.realpower.nominal: 10000000\n"), 1e7);
    near(ups("ups.realpower:\n5\n"), -1);
    near(ups("x.ups.realpower: 5\n"), -1);
    near(ups(""), -1);
}

static void the_kernels_ticks_tell_the_share_of_the_cpus_that_is_used(void **state)
{
    (void)state;
    struct meter_cpu before, now;
    assert_true(meter_plan_cpu("cpu  100 10 40 800 50 3 7 90 0 0\ncpu0 1 1 1 1\ncpu1 1 1 1 1\n"
                               "intr 5 cpu9\n",
                               &before));
    assert_int_equal(before.busy, 160);
    assert_int_equal(before.total, 1100);
    assert_int_equal(before.count, 2);
    assert_true(meter_plan_cpu("cpu  175 10 40 825 50 3 7 90 99 99\n", &now));
    near(meter_plan_use(&before, &now), 0.75);
    near(meter_plan_use(&now, &before), -1);
    near(meter_plan_use(&now, &now), -1);
    assert_true(meter_plan_cpu("cpu 1 2 3 4\n", &now));
    assert_false(meter_plan_cpu("cpu 1 2 3\n", &now));
    assert_false(meter_plan_cpu("cpu0 1 2 3 4\n", &now));
    assert_false(meter_plan_cpu("", &now));
}

static void the_model_goes_from_idle_to_busy_with_the_cpus(void **state)
{
    (void)state;
    const struct meter_watts watts = {.idle_w = 40, .busy_w = 100};
    const struct meter_watts idle_only = {.idle_w = 40};
    near(meter_plan_model_w(&watts, 0), 40);
    near(meter_plan_model_w(&watts, 0.5), 70);
    near(meter_plan_model_w(&watts, 9), 100);
    near(meter_plan_model_w(&watts, -1), 40);
    near(meter_plan_model_w(&idle_only, 1), 40);
}

/* What n jobs have that keep all cores, and use all of what is used. */
static double jobs_w(const struct meter_look *look, const struct meter_rates *rates)
{
    return rates->reserved_w * look->cores + rates->used_w * look->use * look->cpus;
}

static void jobs_that_have_all_cores_have_all_that_the_machine_draws(void **state)
{
    (void)state;
    struct meter_rates rates, none = {0};
    struct meter_look look = {.source = METER_MODEL,
                              .watts = {.idle_w = 40, .busy_w = 100},
                              .use = 0.5,
                              .cpus = 8,
                              .cores = 4};
    meter_plan_rates(&look, &none, &rates);
    near(rates.reserved_w, 10);
    near(rates.used_w, 7.5);
    near(jobs_w(&look, &rates), 70);
    look.source = METER_RAPL;
    look.draw_w = 90;
    look.lowest_w = 30;
    meter_plan_rates(&look, &none, &rates);
    near(rates.reserved_w, 7.5); /* 40 W idle is not of what is measured */
    near(jobs_w(&look, &rates), 90);
    look.lowest_w = 50;
    meter_plan_rates(&look, &none, &rates);
    near(rates.reserved_w, 10);
    near(jobs_w(&look, &rates), 90);
    look.draw_w = 20;
    meter_plan_rates(&look, &none, &rates);
    near(rates.used_w, 0);
}

static void noise_is_not_divided_by_nothing(void **state)
{
    (void)state;
    const struct meter_rates before = {.used_w = 6};
    struct meter_rates rates;
    const struct meter_look look = {
        .source = METER_NUT, .draw_w = 41, .lowest_w = 40, .use = 0.001, .cpus = 4, .cores = 4};
    meter_plan_rates(&look, &before, &rates);
    near(rates.used_w, 6);
    near(rates.reserved_w, 10);
}

static void without_cpu_times_it_goes_by_cores(void **state)
{
    (void)state;
    const struct meter_rates none = {0};
    struct meter_rates rates;
    struct meter_look look = {.source = METER_MODEL,
                              .watts = {.idle_w = 40, .busy_w = 100},
                              .draw_w = 60,
                              .use = -1,
                              .cpus = 4,
                              .cores = 4};
    meter_plan_rates(&look, &none, &rates);
    near(rates.reserved_w, 25);
    near(rates.used_w, 0);
    look.source = METER_NUT;
    meter_plan_rates(&look, &none, &rates);
    near(rates.reserved_w, 15);
    look.source = METER_NONE;
    meter_plan_rates(&look, &none, &rates);
    near(rates.reserved_w, 0);
    look.source = METER_NUT;
    look.cores = 0;
    meter_plan_rates(&look, &none, &rates);
    near(rates.reserved_w, 0);
}

static void sources_have_names(void **state)
{
    (void)state;
    assert_string_equal(meter_source_name(METER_RAPL), "RAPL");
    assert_string_equal(meter_source_name(METER_NUT), "NUT");
    assert_string_equal(meter_source_name(METER_MODEL), "Model");
    assert_string_equal(meter_source_name(METER_NONE), "None");
}

UNIT_TESTS(UNIT(packages_and_memory_count_and_nothing_that_is_in_them),
           UNIT(a_counter_that_wraps_goes_on_and_one_that_was_reset_says_nothing),
           UNIT(a_file_of_the_kernel_is_a_number_and_nothing_else),
           UNIT(a_ups_tells_watts_or_a_load_of_so_many_watts),
           UNIT(the_kernels_ticks_tell_the_share_of_the_cpus_that_is_used),
           UNIT(the_model_goes_from_idle_to_busy_with_the_cpus),
           UNIT(jobs_that_have_all_cores_have_all_that_the_machine_draws),
           UNIT(noise_is_not_divided_by_nothing), UNIT(without_cpu_times_it_goes_by_cores),
           UNIT(sources_have_names))
