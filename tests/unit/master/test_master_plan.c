/* tests/unit/master/test_master_plan.c - when a daemon that ended is started again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "master/master_plan.h"

static const struct master_backoff BACKOFF = {.constant_ms = 100,
                                              .factor = 2.0,
                                              .ceiling_ms = 1000,
                                              .recover_ms = 10000};

static void the_wait_doubles_up_to_the_ceiling(void **state)
{
    (void)state;
    static const uint64_t EXPECTED[] = {100, 200, 400, 800, 1000, 1000};
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(master_plan_delay_ms(&BACKOFF, i + 1), EXPECTED[i]);
    }
    assert_int_equal(master_plan_delay_ms(&BACKOFF, 4000000000U), 1000);
}

static void a_daemon_that_ran_long_enough_begins_anew(void **state)
{
    (void)state;
    assert_int_equal(master_plan_failures(&BACKOFF, 5, 9999), 6);
    assert_int_equal(master_plan_failures(&BACKOFF, 5, 10000), 1);
    assert_int_equal(master_plan_failures(&BACKOFF, 0, 0), 1);
}

static void the_collector_is_stopped_last(void **state)
{
    (void)state;
    assert_true(master_plan_stops_last("collector"));
    assert_false(master_plan_stops_last("schedd"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_wait_doubles_up_to_the_ceiling),
        cmocka_unit_test(a_daemon_that_ran_long_enough_begins_anew),
        cmocka_unit_test(the_collector_is_stopped_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
