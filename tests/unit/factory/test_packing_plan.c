/* tests/unit/factory/test_packing_plan.c - how many machines waiting jobs need.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/packing_plan.h"
#include "tests/support/unit.h"

static const struct packing_size MACHINE = {.cpus = 8, .memory_mib = 16384, .disk_kib = 1000000};

static int64_t machines(int64_t cpus, int64_t memory_mib, int64_t count)
{
    const struct packing_need need = {{cpus, memory_mib, 0}, count};
    return packing_plan_machines(&MACHINE, &need, 1, false);
}

static void eight_jobs_of_a_core_share_a_machine(void **state)
{
    (void)state;
    assert_int_equal(machines(1, 100, 0), 0);
    assert_int_equal(machines(1, 100, 1), 1);
    assert_int_equal(machines(1, 100, 8), 1);
    assert_int_equal(machines(1, 100, 9), 2);
    assert_int_equal(machines(3, 100, 5), 3);   /* two at a time */
    assert_int_equal(machines(1, 16384, 3), 3); /* memory for one */
    assert_int_equal(machines(1, 99999, 2), 2); /* the negotiator says that one fits */
    assert_int_equal(machines(0, 0, 16), 2);    /* says nothing: a core */
    assert_int_equal(machines(8, 0, INT64_MAX), 1000000000);
}

static void jobs_of_several_kinds_share_machines(void **state)
{
    (void)state;
    const struct packing_need needs[] = {{{4, 0, 0}, 1}, {{1, 0, 0}, 4}, {{8, 0, 0}, 2}};
    assert_int_equal(packing_plan_machines(&MACHINE, needs, 2, false), 1);
    assert_int_equal(packing_plan_machines(&MACHINE, needs, 3, false), 3);
    assert_int_equal(packing_plan_machines(&MACHINE, NULL, 0, false), 0);
}

static void a_static_slot_takes_one_job(void **state)
{
    (void)state;
    const struct packing_need need = {{1, 0, 0}, 5};
    assert_int_equal(packing_plan_machines(&MACHINE, &need, 1, true), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_jobs_of_a_core_share_a_machine),
        cmocka_unit_test(jobs_of_several_kinds_share_machines),
        cmocka_unit_test(a_static_slot_takes_one_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
