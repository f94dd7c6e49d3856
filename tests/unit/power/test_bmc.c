/* The time that an operation by a management controller has, with a method that never answers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include "base/loop.h"
#include "base/loop_run.h"
#include "power/bmc.h"

static void never_answers(struct bmc *bmc)
{
    assert_true(bmc->has_turn);
}

static const struct bmc_hands HANDS = {.ask = never_answers};

/* The milliseconds that it has. */
static uint64_t time_of(enum power_operation operation, const struct power_node *node)
{
    struct power_call call = {.operation = operation, .node = *node};
    assert_int_equal(loop_create(&call.loop, NULL), 0);
    void *turns = call.state = bmc_turns_create(call.loop, NULL, NULL);
    call.timer = loop_timer_create(call.loop, NULL, NULL);
    bmc_begin(&call, &HANDS, NULL);
    uint64_t now_ms = loop_now_ms(call.loop);
    assert_true(loop_timer_is_set(call.timer) && call.end_ms > now_ms);
    call.own_free(call.own);
    bmc_turns_destroy(turns);
    loop_timer_destroy(call.timer);
    loop_destroy(call.loop);
    return call.end_ms - now_ms;
}

static void a_shutdown_has_its_patience_and_then_20_seconds(void **state)
{
    (void)state;
    struct power_node node = {.name = "n1", .method = "ipmi"};
    assert_in_range(time_of(POWER_DO_SLEEP, &node), 79000, 80000);
    node.shutdown_timeout_s = 300;
    assert_in_range(time_of(POWER_DO_SLEEP, &node), 319000, 320000);
    assert_in_range(time_of(POWER_DO_WAKE, &node), 29000, 30000);
    assert_in_range(time_of(POWER_DO_STATUS, &node), 29000, 30000);
}

static void a_caller_may_give_it_another(void **state)
{
    (void)state;
    const struct power_node node = {.name = "n1", .method = "ipmi", .deadline_ms = 7000};
    assert_in_range(time_of(POWER_DO_SLEEP, &node), 6000, 7000);
    assert_in_range(time_of(POWER_DO_STATUS, &node), 6000, 7000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shutdown_has_its_patience_and_then_20_seconds),
        cmocka_unit_test(a_caller_may_give_it_another),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
