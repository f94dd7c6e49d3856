/* What a machine draws, and what that comes to.
 *
 * LINK: rooster
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <math.h>

#include "classad/ad.h"
#include "rooster/energy_plan.h"

static const struct energy_watts WATTS = {.asleep_w = 4, .idle_w = 40, .busy_w = 100};

static void near(double found, double expected)
{
    if (!(fabs(found - expected) < 1e-6)) {
        fail_msg("%f, not %f", found, expected);
    }
}

static void the_draw_goes_from_idle_to_busy_with_the_cores_at_work(void **state)
{
    (void)state;
    near(energy_plan_draw_w(&WATTS, ENERGY_ON, 0), 40);
    near(energy_plan_draw_w(&WATTS, ENERGY_ON, 0.5), 70);
    near(energy_plan_draw_w(&WATTS, ENERGY_ON, 1), 100);
    near(energy_plan_draw_w(&WATTS, ENERGY_ON, 7), 100);
    near(energy_plan_draw_w(&WATTS, ENERGY_ON, -1), 40);
    near(energy_plan_draw_w(&WATTS, ENERGY_ON, NAN), 40);
    near(energy_plan_draw_w(&WATTS, ENERGY_ASLEEP, 1), 4);
    near(energy_plan_draw_w(&WATTS, ENERGY_UNKNOWN, 1), 0);
}

static void jobs_have_their_cores_share_and_the_rest_is_the_machines(void **state)
{
    (void)state;
    struct energy_sum sum = {0};
    energy_plan_add(&sum, &WATTS, ENERGY_ON, 2, 8, 100);
    near(sum.jobs_j, 0.25 * 100 * 100);
    near(sum.used_j - sum.jobs_j, 0.75 * 40 * 100);
    near(sum.busy_core_s, 200);
    near(sum.on_s, 100);
    near(sum.saved_j, 0);
}

static void what_sleeps_saves_what_it_would_have_drawn_on_and_idle(void **state)
{
    (void)state;
    struct energy_sum sum = {0}, always = {0};
    const struct energy_watts odd = {.asleep_w = 50, .idle_w = 40, .busy_w = 100};
    energy_plan_add(&sum, &WATTS, ENERGY_ASLEEP, 0, 8, 3600);
    energy_plan_add(&always, &WATTS, ENERGY_ON, 0, 8, 3600);
    near(sum.used_j + sum.saved_j, always.used_j);
    near(sum.asleep_s, 3600);
    near(sum.on_s, 0);
    energy_plan_add(&always, &odd, ENERGY_ASLEEP, 0, 8, 3600);
    near(always.saved_j, 0); /* never less than nothing */
}

static void what_is_unknown_and_time_that_did_not_pass_count_nothing(void **state)
{
    (void)state;
    struct energy_sum sum = {0};
    energy_plan_add(&sum, &WATTS, ENERGY_UNKNOWN, 1, 8, 100);
    energy_plan_add(&sum, &WATTS, ENERGY_ON, 1, 8, -100);
    energy_plan_add(&sum, &WATTS, ENERGY_ON, 1, 8, NAN);
    near(sum.used_j + sum.on_s + sum.asleep_s, 0);
    energy_plan_add(&sum, &WATTS, ENERGY_ON, 1, 0, 10); /* no cores are said */
    near(sum.used_j, 400);
}

static void sums_go_through_an_ad_in_kilowatt_hours(void **state)
{
    (void)state;
    struct energy_sum sum = {.on_s = 1,
                             .asleep_s = 2,
                             .busy_core_s = 3,
                             .used_j = 7200000,
                             .jobs_j = 3600000,
                             .saved_j = 1800000};
    struct energy_sum again = {0};
    struct ad *ad = ad_create();
    energy_plan_write(&sum, ad);
    near(ad_real_or(ad, "EnergyUsed", 0), 2);
    near(ad_real_or(ad, "EnergySaved", 0), 0.5);
    energy_plan_read(ad, &again);
    near(again.on_s, 1);
    near(again.busy_core_s, 3);
    near(again.used_j, 7200000);
    energy_plan_join(&again, &sum, 1);
    near(again.jobs_j, 7200000);
    near(again.saved_j, 3600000);
    near(again.asleep_s, 4);
    ad_set_real(ad, "EnergyUsed", -5);
    energy_plan_read(ad, &again);
    near(again.used_j, 0);
    ad_set_real(ad, "EnergySaved", INFINITY); /* one row must not spoil the sums of all */
    ad_set_real(ad, "EnergyOfJobs", 1e308);   /* in joules it is infinite */
    energy_plan_read(ad, &again);
    near(again.saved_j, 0);
    near(again.jobs_j, 0);
    ad_destroy(ad);
}

static void a_claim_that_is_idle_or_suspended_works_on_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *state, *activity;
        double cores;
    } CASES[] = {{"Claimed", "Busy", 3},       {"Claimed", "Retiring", 3}, {"Claimed", "Idle", 0},
                 {"Claimed", "Suspended", 0},  {"Unclaimed", "Busy", 0},   {"Owner", "Idle", 0},
                 {"Preempting", "Vacating", 3}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct ad *ad = ad_create();
        ad_set_string(ad, "State", CASES[i].state);
        ad_set_string(ad, "Activity", CASES[i].activity);
        ad_set_int(ad, "Cpus", 3);
        near(energy_plan_busy_cores(ad), CASES[i].cores);
        ad_set_real(ad, "Cpus", INFINITY);
        near(energy_plan_busy_cores(ad), 0);
        ad_destroy(ad);
    }
}

static void a_time_is_split_at_midnight(void **state)
{
    (void)state;
    const int64_t day = 20000 * ENERGY_DAY_S;
    struct energy_part parts[ENERGY_PARTS_MAX];
    assert_int_equal(energy_plan_days((double)day + 10, (double)day + 20, 0, parts), 1);
    assert_int_equal(parts[0].day_s, day);
    near(parts[0].share, 1);
    assert_int_equal(energy_plan_days((double)day - 30, (double)(day + ENERGY_DAY_S) + 90, 0,
                                      parts),
                     3);
    assert_int_equal(parts[0].day_s, day - ENERGY_DAY_S);
    assert_int_equal(parts[2].day_s, day + ENERGY_DAY_S);
    near(parts[0].share * 86520, 30);
    near(parts[1].share * 86520, 86400);
    near(parts[2].share * 86520, 90);
    /* what is before the first day is of the first day */
    assert_int_equal(energy_plan_days((double)day - 30, (double)day + 90, day, parts), 1);
    assert_int_equal(parts[0].day_s, day);
    near(parts[0].share, 1);
    /* a clock that went back, and one that never stood there */
    assert_int_equal(energy_plan_days((double)day + 20, (double)day + 10, 0, parts), 1);
    near(parts[0].share, 1);
    assert_int_equal(energy_plan_days((double)day, (double)day + 10, day + ENERGY_DAY_S, parts), 1);
    assert_int_equal(parts[0].day_s, day + ENERGY_DAY_S);
    size_t count = energy_plan_days(0, (double)day + 10, 0, parts);
    double all = 0;
    for (size_t i = 0; i < count; i++) {
        all += parts[i].share;
    }
    assert_int_equal(count, ENERGY_PARTS_MAX);
    assert_int_equal(parts[count - 1].day_s, day);
    near(all, 1);
}

static void counters_are_never_counted_twice_nor_backwards(void **state)
{
    (void)state;
    struct energy_counter seen = {0}, now = {.since_s = 1000, .joules = 50, .seconds = 5}, more;
    more = energy_plan_growth(&seen, &now, 900); /* it began while we counted */
    near(more.joules, 50);
    near(more.seconds, 5);
    more = energy_plan_growth(&seen, &now, 900);
    near(more.joules + more.seconds, 0);
    now.joules = 70;
    now.seconds = 7;
    more = energy_plan_growth(&seen, &now, 900);
    near(more.joules, 20);
    near(more.seconds, 2);
    now.joules = 60; /* what it had not written down was lost */
    now.seconds = 6;
    more = energy_plan_growth(&seen, &now, 900);
    near(more.joules + more.seconds, 0);
    now.joules = 75;
    now.seconds = 8;
    more = energy_plan_growth(&seen, &now, 900);
    near(more.joules, 5);
    near(more.seconds, 1);
    now = (struct energy_counter){.since_s = 2000, .joules = 3, .seconds = 1}; /* anew */
    more = energy_plan_growth(&seen, &now, 900);
    near(more.joules, 3);
    now = (struct energy_counter){.since_s = 800, .joules = 1e9, .seconds = 1e7};
    more = energy_plan_growth(&seen, &now, 900); /* months of which we know nothing */
    near(more.joules + more.seconds, 0);
    now.joules += 4;
    more = energy_plan_growth(&seen, &now, 900);
    near(more.joules, 4);
    now.joules = NAN;
    more = energy_plan_growth(&seen, &now, 900);
    near(more.joules, 0);
}

/* A day by hand: 6 h asleep, 2 h idle, 1 h with half of the cores at work, 15 h all. */
static void a_day_by_hand_adds_up_against_always_on(void **state)
{
    (void)state;
    struct energy_sum sum = {0};
    struct ad *ad = ad_create();
    energy_plan_add(&sum, &WATTS, ENERGY_ASLEEP, 0, 8, 6 * 3600);
    energy_plan_add(&sum, &WATTS, ENERGY_ON, 0, 8, 2 * 3600);
    energy_plan_add(&sum, &WATTS, ENERGY_ON, 4, 8, 1 * 3600);
    energy_plan_add(&sum, &WATTS, ENERGY_ON, 8, 8, 15 * 3600);
    energy_plan_write(&sum, ad);
    near(ad_real_or(ad, "EnergyUsed", 0), (6 * 4 + 2 * 40 + 1 * 70 + 15 * 100) / 1000.0);
    near(ad_real_or(ad, "EnergyOfJobs", 0), (50 + 15 * 100) / 1000.0);
    near(ad_real_or(ad, "EnergySaved", 0), 6 * 36 / 1000.0);
    near(ad_real_or(ad, "EnergyUsed", 0) + ad_real_or(ad, "EnergySaved", 0),
         ((6 + 2) * 40 + 70 + 15 * 100) / 1000.0);
    near(ad_real_or(ad, "BusyCoreSeconds", 0), (4 + 15 * 8) * 3600);
    ad_destroy(ad);
}

UNIT_TESTS(UNIT(the_draw_goes_from_idle_to_busy_with_the_cores_at_work),
           UNIT(jobs_have_their_cores_share_and_the_rest_is_the_machines),
           UNIT(what_sleeps_saves_what_it_would_have_drawn_on_and_idle),
           UNIT(what_is_unknown_and_time_that_did_not_pass_count_nothing),
           UNIT(sums_go_through_an_ad_in_kilowatt_hours),
           UNIT(a_claim_that_is_idle_or_suspended_works_on_nothing),
           UNIT(a_time_is_split_at_midnight), UNIT(counters_are_never_counted_twice_nor_backwards),
           UNIT(a_day_by_hand_adds_up_against_always_on))
