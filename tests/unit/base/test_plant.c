/* A planted bug is there only in the build that asks for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/plant.h"

#ifndef ROOST_PLANT_wake_without_demand
#define ROOST_PLANT_wake_without_demand 1 /* what -DROOST_PLANT_wake_without_demand defines */
#endif

static void a_bug_that_the_build_names_is_planted(void **state)
{
    (void)state;
    assert_true(PLANTED(wake_without_demand));
}

static void a_bug_that_the_build_does_not_name_is_a_constant_false(void **state)
{
    (void)state;
#undef ROOST_PLANT_slot_matched_twice
    _Static_assert(!PLANTED(slot_matched_twice), "not a constant");
    assert_false(PLANTED(slot_matched_twice));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bug_that_the_build_names_is_planted),
        cmocka_unit_test(a_bug_that_the_build_does_not_name_is_a_constant_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
