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
    energy_plan_join(&again, &sum);
    near(again.jobs_j, 7200000);
    near(again.saved_j, 3600000);
    near(again.asleep_s, 4);
    ad_set_real(ad, "EnergyUsed", -5);
    energy_plan_read(ad, &again);
    near(again.used_j, 0);
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
        ad_destroy(ad);
    }
}

UNIT_TESTS(UNIT(the_draw_goes_from_idle_to_busy_with_the_cores_at_work),
           UNIT(jobs_have_their_cores_share_and_the_rest_is_the_machines),
           UNIT(what_sleeps_saves_what_it_would_have_drawn_on_and_idle),
           UNIT(what_is_unknown_and_time_that_did_not_pass_count_nothing),
           UNIT(sums_go_through_an_ad_in_kilowatt_hours),
           UNIT(a_claim_that_is_idle_or_suspended_works_on_nothing))
