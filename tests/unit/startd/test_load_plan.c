/* Whose load it is: averages, and the sharing out of what is the owner's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "startd/owner/load_plan.h"

static bool near(double a, double b)
{
    return a - b < 0.01 && b - a < 0.01;
}

static void an_average_moves_as_the_kernels_does(void **state)
{
    (void)state;
    assert_true(near(load_plan_decay(0.0, 1.0, 60.0), 0.632));
    assert_true(near(load_plan_decay(1.0, 0.0, 60.0), 0.368));
    assert_true(near(load_plan_decay(2.0, 2.0, 5.0), 2.0));
    assert_true(near(load_plan_decay(0.7, 5.0, 0.0), 0.7));
    double small = 0.0; /* in steps as in one */
    for (int i = 0; i < 12; i++) {
        small = load_plan_decay(small, 1.0, 5.0);
    }
    assert_true(near(small, 0.632));
}

/* Two CPUs, a job that spins in four processes: all of the load is its own. */
static void a_job_that_wants_more_cpus_than_there_are_is_no_owners_load(void **state)
{
    (void)state;
    const struct load_job job = {.running = 4};
    double ours = 0.0, kernels = 0.0;
    for (int i = 0; i < 60; i++) {
        ours = load_plan_decay(ours, load_plan_job(&job), 5.0);
        kernels = load_plan_decay(kernels, 4.0, 5.0);
    }
    struct load_share slots[2] = {{.cpus = 1}, {.cpus = 1, .is_free = true}};
    load_plan_share(kernels - ours, slots, 2);
    assert_true(near(ours, 3.97));
    assert_true(near(slots[0].owner + slots[1].owner, 0.0));
    load_plan_share(kernels + 2.0 - ours, slots, 2); /* a type 3 user comes back */
    assert_true(near(slots[0].owner + slots[1].owner, 2.0));
}

static void two_spinners_come_to_a_load_of_two(void **state)
{
    (void)state;
    const struct load_job job = {.running = 2};
    double load = 0.0;
    for (int i = 0; i < 12; i++) {
        load = load_plan_decay(load, load_plan_job(&job), 5.0);
    }
    assert_true(near(load, 1.264)); /* after a minute, as uptime(1) would show it */
    for (int i = 0; i < 60; i++) {
        load = load_plan_decay(load, load_plan_job(&job), 5.0);
    }
    assert_true(near(load, 1.995));
}

static void what_is_frozen_or_throttled_is_no_load(void **state)
{
    (void)state;
    const struct load_job frozen = {.running = 3, .suspended = true};
    const struct load_job throttled = {.running = 3, .cpus = 1.0};
    const struct load_job within = {.running = 3, .cpus = 4.0};
    assert_true(near(load_plan_job(&frozen), 0.0));
    assert_true(near(load_plan_job(&throttled), 1.0));
    assert_true(near(load_plan_job(&within), 3.0));
}

static void an_owner_who_needs_one_cpu_is_given_a_free_one(void **state)
{
    (void)state;
    struct load_share slots[3] = {{.cpus = 1}, {.cpus = 1, .is_free = true}, {.cpus = 1}};
    load_plan_share(1.0, slots, 3);
    assert_true(near(slots[0].owner, 0.0));
    assert_true(near(slots[1].owner, 1.0));
    assert_true(near(slots[2].owner, 0.0));
    load_plan_share(1.5, slots, 3); /* half a CPU more than is free */
    assert_true(near(slots[0].owner, 0.5));
    assert_true(near(slots[1].owner, 1.0));
}

static void what_is_the_owners_already_stays_his(void **state)
{
    (void)state;
    struct load_share slots[3] = {{.cpus = 1},
                                  {.cpus = 1, .is_free = true},
                                  {.cpus = 2, .of_owner = true}};
    load_plan_share(1.8, slots, 3);
    assert_true(near(slots[2].owner, 1.8));
    assert_true(near(slots[1].owner, 0.0));
}

static void more_than_there_are_cpus_is_spread_evenly(void **state)
{
    (void)state;
    struct load_share slots[2] = {{.cpus = 1}, {.cpus = 3}};
    load_plan_share(6.0, slots, 2);
    assert_true(near(slots[0].owner, 2.0));
    assert_true(near(slots[1].owner, 4.0));
    load_plan_share(-0.3, slots, 2); /* our jobs used more than the average shows yet */
    assert_true(near(slots[0].owner, 0.0));
    assert_true(near(slots[1].owner, 0.0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_average_moves_as_the_kernels_does),
        cmocka_unit_test(a_job_that_wants_more_cpus_than_there_are_is_no_owners_load),
        cmocka_unit_test(two_spinners_come_to_a_load_of_two),
        cmocka_unit_test(what_is_frozen_or_throttled_is_no_load),
        cmocka_unit_test(an_owner_who_needs_one_cpu_is_given_a_free_one),
        cmocka_unit_test(what_is_the_owners_already_stays_his),
        cmocka_unit_test(more_than_there_are_cpus_is_spread_evenly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
