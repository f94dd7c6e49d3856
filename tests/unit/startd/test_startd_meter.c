/* What the startd says that its machine draws, and counts of it: RAPL in a tree that the test
 * makes, a UPS that is a script, restarts, runs.
 *
 * LINK: startd collector
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/unit/startd/startd_rig.h"

#include <math.h>

#include "wire/energy_line.h"

static void put(struct rig *rig, const char *directory, const char *name, const char *text)
{
    char path[900];
    (void)snprintf(path, sizeof path, "%s/root%s", rig->bed->dir, directory);
    MUST(os_mkdirs(rig->bed->os, path, 0755, err));
    (void)snprintf(path, sizeof path, "%s/root%s/%s", rig->bed->dir, directory, name);
    MUST(os_write_file(rig->bed->os, path, text, strlen(text), 0755, false, err));
}

#define CAP "/sys/class/powercap/"

static void zone(struct rig *rig, const char *directory, const char *name, const char *energy_uj)
{
    char path[200];
    (void)snprintf(path, sizeof path, CAP "%s", directory);
    put(rig, path, "name", name);
    put(rig, path, "max_energy_range_uj", "1000000000\n");
    put(rig, path, "energy_uj", energy_uj);
}

static void configure(struct rig *rig, const char *more)
{
    char text[1500];
    (void)snprintf(text, sizeof text,
                   "POWER_ROOT = \"%s/root\"\nNUM_SLOTS = 2\nNUM_CPUS = 2\n"
                   "POLLING_INTERVAL = 1\n%s",
                   rig->bed->dir, more);
    load(rig, text);
}

static void begin(struct rig *rig, const char *more)
{
    stop(rig);
    configure(rig, more);
    start(rig);
    until(rig, is_connected);
}

static void begin_again(struct rig *rig)
{
    stop(rig);
    start(rig);
    until(rig, is_connected);
}

static double figure(const struct rig *rig, const char *name)
{
    return ad_real_or(rig->startd->slots[0]->ad, name, -1);
}

static const char *source(const struct rig *rig)
{
    return ad_string_or(rig->startd->slots[0]->ad, "PowerSource", "");
}

static bool is_by_rapl(struct rig *rig)
{
    return strcmp(source(rig), "RAPL") == 0;
}
static bool is_by_nut(struct rig *rig)
{
    return strcmp(source(rig), "NUT") == 0;
}
static bool is_by_model(struct rig *rig)
{
    return strcmp(source(rig), "Model") == 0;
}
static bool has_counted(struct rig *rig)
{
    return figure(rig, "EnergySeconds") > 0;
}

static double wanted_j;
static bool has_joules(struct rig *rig)
{
    return fabs(figure(rig, "EnergyJoules") - wanted_j) < 1e-6;
}

/* Two packages with what is in them, and what shows the first once more. */
static void make_zones(struct rig *rig)
{
    zone(rig, "intel-rapl:0", "package-0\n", "999000000\n");
    zone(rig, "intel-rapl:0:0", "core\n", "5\n");
    zone(rig, "intel-rapl:0:1", "dram\n", "100\n");
    zone(rig, "intel-rapl:1", "package-1\n", "7000000\n");
    zone(rig, "intel-rapl:2", "psys\n", "5\n");
    zone(rig, "intel-rapl-mmio:0", "package-0\n", "999000000\n");
}

static void counters_of_the_processors_are_added_up_over_their_wrap_around(void **state)
{
    struct rig *rig = *state;
    make_zones(rig);
    begin(rig, "MACHINE_IDLE_WATTS = 10\nPOWER_SOURCE = RAPL\n");
    until(rig, is_by_rapl);
    assert_true(figure(rig, "EnergyJoules") == 0);
    zone(rig, "intel-rapl:0", "package-0\n", "1000000\n"); /* 2 J: over the end of its range */
    zone(rig, "intel-rapl:0:0", "core\n", "900000000\n");
    zone(rig, "intel-rapl:0:1", "dram\n", "500100\n");      /* half a joule */
    zone(rig, "intel-rapl:1", "package-1\n", "10000000\n"); /* 3 J */
    zone(rig, "intel-rapl:2", "psys\n", "900000000\n");
    zone(rig, "intel-rapl-mmio:0", "package-0\n", "1000000\n");
    wanted_j = 5.5;
    until(rig, has_joules);
    assert_true(figure(rig, "PowerIdleWatts") == 10);
    zone(rig, "intel-rapl:1", "package-1\n", "0\n"); /* it was reset: 990 J are none */
    double seconds = figure(rig, "EnergySeconds");
    begin_again(rig);
    until(rig, is_by_rapl);
    assert_true(figure(rig, "EnergyJoules") >= 5.5);
    assert_true(figure(rig, "EnergyJoules") < 5.5 + 5.5 * 15); /* the last draw, at most */
    assert_true(figure(rig, "EnergySeconds") >= seconds);
}

static void counters_that_cannot_be_read_leave_the_model(void **state)
{
    struct rig *rig = *state;
    zone(rig, "intel-rapl:0", "package-0\n", "not a number\n");
    begin(rig, "MACHINE_IDLE_WATTS = 30\nMACHINE_BUSY_WATTS = 90\nMACHINE_ASLEEP_WATTS = 2\n");
    until(rig, is_by_model);
    until(rig, has_counted);
    assert_true(figure(rig, "PowerDrawWatts") == 30);
    assert_true(figure(rig, "PowerAsleepWatts") == 2);
    assert_true(figure(rig, "PowerBusyWatts") == 90);
    assert_true(fabs(figure(rig, "EnergyJoules") / figure(rig, "EnergySeconds") - 30) < 1e-6);
    assert_true(ad_has(rig->startd->slots[1]->ad, "EnergyJoules"));
}

static void without_any_figures_nothing_is_said(void **state)
{
    struct rig *rig = *state;
    begin(rig, "");
    assert_true(figure(rig, "EnergyJoules") == -1);
    assert_true(figure(rig, "PowerDrawWatts") == -1);
    assert_string_equal(source(rig), "");
}

#define UPS "NUT_UPS = desk\nNUT_INTERVAL = 1\nMACHINE_IDLE_WATTS = 30\nNUT_SHARE = 0.5\n"

static void a_ups_comes_first_and_when_it_is_silent_the_model_again(void **state)
{
    struct rig *rig = *state;
    char text[600];
    make_zones(rig);
    put(rig, "", "upsc",
        "#!/bin/sh\necho ups.status: OL; test $1 = desk && echo ups.realpower: 50");
    (void)snprintf(text, sizeof text, UPS "RAPL_ROOT = /none\nNUT_PROGRAM = \"%s/root/upsc\"\n",
                   rig->bed->dir);
    begin(rig, text);
    until(rig, is_by_nut);
    assert_true(fabs(figure(rig, "PowerDrawWatts") - 25) < 1e-6); /* joules by seconds */
    put(rig, "", "upsc", "#!/bin/sh\nexec sleep 100");
    until(rig, is_by_model);
    assert_true(figure(rig, "PowerDrawWatts") == 30);
    put(rig, "", "upsc", "#!/bin/sh\necho ups.realpower: 50; exit 1");
    begin(rig, text);
    until(rig, has_counted);
    assert_string_equal(source(rig), "Model");
}

/* ---- runs */

static struct energy_line seen_user;
static char seen_name[100];
static size_t users;

static void see_user(void *arg, const struct energy_line *line)
{
    (void)arg;
    users++;
    seen_user = *line;
    (void)snprintf(seen_name, sizeof seen_name, "%s", line->name);
}

static void look_at_users(const struct rig *rig)
{
    users = 0;
    seen_user = (struct energy_line){0};
    slot_refresh(rig->startd->slots[0]);
    energy_line_each(rig->startd->slots[0]->ad, "EnergyOfUsers", see_user, NULL);
}

static struct ad *say_energy(struct rig *rig, double joules, double core_s)
{
    struct answer answer;
    char more[100];
    (void)snprintf(more, sizeof more, "EnergyJoules = %.17g; CoreSeconds = %.17g", joules, core_s);
    assert_int_equal(tell_more(rig, VERB_STARTER_ENERGY, 1, more, &answer), 0);
    struct ad *rates = ad_copy(answer.args);
    answer_fini(&answer);
    return rates;
}

static void what_a_run_has_had_is_its_users_once_whoever_tells_it(void **state)
{
    struct rig *rig = *state;
    put(rig, "/proc", "stat", "cpu 1 1 1 1 1 1 1 1\ncpu0 1\ncpu1 1\ncpu2 1\ncpu3 1\n");
    begin(rig, "MACHINE_IDLE_WATTS = 30\nMACHINE_BUSY_WATTS = 90\n");
    run_it(rig);
    struct ad *rates = NULL;
    assert_int_equal(hello_answer(rig, 1, &rates), 0);
    assert_true(ad_real_or(rates, "ReservedWatts", 0) == 15); /* two cores are offered */
    assert_true(ad_real_or(rates, "UsedWatts", 0) == 15);     /* of four */
    ad_destroy(rates);
    rates = say_energy(rig, 100, 4);
    assert_true(ad_real_or(rates, "UsedWatts", 0) == 15);
    ad_destroy(rates);
    ad_destroy(say_energy(rig, 100, 4));
    ad_destroy(say_energy(rig, 70, 2)); /* late */
    look_at_users(rig);
    assert_int_equal(users, 1);
    assert_string_equal(seen_name, "ann@pool");
    assert_true(seen_user.joules == 100 && seen_user.core_s == 4);
    assert_true(seen_user.since_s > 1700000000);
    assert_false(ad_has(rig->startd->slots[1]->ad, "EnergyOfUsers"));

    begin_again(rig); /* the run goes on meanwhile */
    assert_int_equal(hello(rig, 1), 0);
    ad_destroy(say_energy(rig, 130, 5));
    look_at_users(rig);
    assert_int_equal(users, 1);
    assert_true(seen_user.joules == 130 && seen_user.core_s == 5);
    ad_destroy(say_energy(rig, 150, 6));
    look_at_users(rig);
    assert_true(seen_user.joules == 150 && seen_user.core_s == 6);
    end_script(rig);
}

UNIT_TESTS(RIG(counters_of_the_processors_are_added_up_over_their_wrap_around),
           RIG(counters_that_cannot_be_read_leave_the_model),
           RIG(without_any_figures_nothing_is_said),
           RIG(a_ups_comes_first_and_when_it_is_silent_the_model_again),
           RIG(what_a_run_has_had_is_its_users_once_whoever_tells_it))
