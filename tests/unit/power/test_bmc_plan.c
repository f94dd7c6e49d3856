/* What is asked and ordered of a management controller.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/unit.h"

#include <errno.h>

#include "power/bmc_plan.h"

#define PATIENCE_MS 60000

static struct bmc_plan plan;

static void want_act(struct bmc_step step, enum bmc_act act)
{
    assert_int_equal(step.act, act);
}

static void want_end(struct bmc_step step, int status, const char *words)
{
    assert_int_equal(step.act, BMC_END);
    assert_int_equal(step.status, status);
    assert_non_null(strstr(step.text, words));
}

static void begin(enum bmc_aim aim, enum bmc_way way)
{
    bmc_plan_init(&plan, aim, way, PATIENCE_MS);
}

static struct bmc_step told(enum power_state state, uint64_t now_ms)
{
    return bmc_plan_told(&plan, state, now_ms);
}

static void a_question_ends_with_what_was_said(void **state)
{
    (void)state;
    static const enum power_state STATES[] = {POWER_UNKNOWN, POWER_ON, POWER_OFF};
    for (int i = 0; i < 3; i++) {
        begin(BMC_AIM_STATUS, BMC_GRACEFUL);
        struct bmc_step step = told(STATES[i], 1000000);
        assert_int_equal(step.act, BMC_END);
        assert_int_equal(step.state, STATES[i]);
    }
}

static void a_machine_that_is_off_is_switched_on_and_seen_to_be(void **state)
{
    (void)state;
    begin(BMC_AIM_WAKE, BMC_GRACEFUL);
    want_act(told(POWER_OFF, 1000000), BMC_ORDER_ON);
    want_act(bmc_plan_ordered(&plan, 1000100), BMC_ASK_LATER);
    want_act(told(POWER_OFF, 1000600), BMC_ASK_LATER);
    want_act(told(POWER_UNKNOWN, 1001100), BMC_ASK_LATER);
    want_end(told(POWER_ON, 1001600), 0, "switched on");
}

static void nothing_is_ordered_for_a_machine_that_is_as_it_should_be(void **state)
{
    (void)state;
    begin(BMC_AIM_WAKE, BMC_GRACEFUL);
    want_end(told(POWER_ON, 5), 0, "says that the machine is on");
    begin(BMC_AIM_SLEEP, BMC_HARD);
    want_end(told(POWER_OFF, 5), 0, "says that the machine is off");
}

static void nothing_is_ordered_while_it_is_not_known_what_the_machine_is(void **state)
{
    (void)state;
    for (int way = BMC_GRACEFUL; way <= BMC_HARD; way++) {
        begin(BMC_AIM_WAKE, (enum bmc_way)way);
        want_end(told(POWER_UNKNOWN, 5), -EIO, "no order was sent");
        begin(BMC_AIM_SLEEP, (enum bmc_way)way);
        want_end(told(POWER_UNKNOWN, 5), -EIO, "no order was sent");
    }
}

static void one_order_is_given_to_a_controller_that_takes_it_and_does_nothing(void **state)
{
    (void)state;
    begin(BMC_AIM_WAKE, BMC_GRACEFUL);
    want_act(told(POWER_OFF, 0), BMC_ORDER_ON);
    want_act(bmc_plan_ordered(&plan, 100), BMC_ASK_LATER);
    want_act(told(POWER_OFF, 99 + BMC_SETTLE_MS), BMC_ASK_LATER);
    want_end(told(POWER_OFF, 100 + BMC_SETTLE_MS), -EIO, "still says that the machine is off");

    begin(BMC_AIM_WAKE, BMC_GRACEFUL);
    want_act(told(POWER_OFF, 0), BMC_ORDER_ON);
    want_act(bmc_plan_ordered(&plan, 100), BMC_ASK_LATER);
    want_end(told(POWER_UNKNOWN, 100 + BMC_SETTLE_MS), -EIO, "does not report the result");

    begin(BMC_AIM_SLEEP, BMC_HARD);
    want_act(told(POWER_ON, 0), BMC_ORDER_OFF);
    want_act(bmc_plan_ordered(&plan, 100), BMC_ASK_LATER);
    want_act(told(POWER_ON, 99 + BMC_SETTLE_MS), BMC_ASK_LATER);
    want_end(told(POWER_ON, 100 + BMC_SETTLE_MS), -EIO, "still says that the machine is on");
}

static void a_machine_that_shuts_down_is_not_switched_off(void **state)
{
    (void)state;
    begin(BMC_AIM_SLEEP, BMC_GRACEFUL);
    want_act(told(POWER_ON, 0), BMC_ORDER_SOFT);
    want_act(bmc_plan_ordered(&plan, 100), BMC_ASK_LATER);
    want_act(told(POWER_ON, 99 + PATIENCE_MS), BMC_ASK_LATER);
    want_end(told(POWER_OFF, 100 + PATIENCE_MS), 0, "the machine has shut down");
}

static void a_machine_that_does_not_shut_down_is_switched_off_after_the_patience(void **state)
{
    (void)state;
    begin(BMC_AIM_SLEEP, BMC_GRACEFUL);
    want_act(told(POWER_ON, 0), BMC_ORDER_SOFT);
    want_act(bmc_plan_ordered(&plan, 100), BMC_ASK_LATER);
    want_act(told(POWER_ON, 100 + PATIENCE_MS), BMC_ORDER_OFF);
    want_act(bmc_plan_ordered(&plan, 200 + PATIENCE_MS), BMC_ASK_LATER);
    want_act(told(POWER_ON, 300 + PATIENCE_MS), BMC_ASK_LATER);
    want_end(told(POWER_OFF, 400 + PATIENCE_MS), 0, "in time and was switched off");
}

static void a_machine_of_which_nothing_is_known_is_not_switched_off_after_the_patience(void **state)
{
    (void)state;
    begin(BMC_AIM_SLEEP, BMC_GRACEFUL);
    want_act(told(POWER_ON, 0), BMC_ORDER_SOFT);
    want_act(bmc_plan_ordered(&plan, 100), BMC_ASK_LATER);
    want_act(told(POWER_UNKNOWN, 5000), BMC_ASK_LATER);
    want_end(told(POWER_UNKNOWN, 100 + PATIENCE_MS), -EIO, "does not report the result");
}

static void questions_become_rarer_and_the_last_is_in_time(void **state)
{
    (void)state;
    static const uint64_t DELAYS_MS[] = {100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000};
    uint64_t now_ms = 1000, ends_ms = 1000 + PATIENCE_MS;
    unsigned count = 1;
    begin(BMC_AIM_SLEEP, BMC_GRACEFUL);
    want_act(told(POWER_ON, 0), BMC_ORDER_SOFT);
    struct bmc_step step = bmc_plan_ordered(&plan, now_ms);
    assert_int_equal(step.delay_ms, DELAYS_MS[0]);
    for (;;) {
        now_ms += step.delay_ms;
        assert_true(now_ms <= ends_ms);
        step = told(POWER_ON, now_ms);
        if (step.act != BMC_ASK_LATER) {
            break;
        }
        assert_int_equal(step.delay_ms, count < 9                             ? DELAYS_MS[count]
                                        : ends_ms - now_ms < BMC_AGAIN_MAX_MS ? ends_ms - now_ms
                                                                              : BMC_AGAIN_MAX_MS);
        count++;
    }
    want_act(step, BMC_ORDER_OFF);
    assert_int_equal(now_ms, ends_ms);
    assert_int_equal(bmc_plan_ordered(&plan, now_ms).delay_ms, DELAYS_MS[0]);
}

static void soft_means_never_off(void **state)
{
    (void)state;
    begin(BMC_AIM_SLEEP, BMC_SOFT);
    want_act(told(POWER_ON, 0), BMC_ORDER_SOFT);
    want_act(bmc_plan_ordered(&plan, 100), BMC_ASK_LATER);
    want_end(told(POWER_ON, 100 + PATIENCE_MS), -ETIMEDOUT, "did not shut down");
}

static void off_is_off_at_once(void **state)
{
    (void)state;
    begin(BMC_AIM_SLEEP, BMC_HARD);
    want_act(told(POWER_ON, 0), BMC_ORDER_OFF);
    want_act(bmc_plan_ordered(&plan, 100), BMC_ASK_LATER);
    want_end(told(POWER_OFF, 200), 0, "switched off");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_question_ends_with_what_was_said),
        cmocka_unit_test(a_machine_that_is_off_is_switched_on_and_seen_to_be),
        cmocka_unit_test(nothing_is_ordered_for_a_machine_that_is_as_it_should_be),
        cmocka_unit_test(nothing_is_ordered_while_it_is_not_known_what_the_machine_is),
        cmocka_unit_test(one_order_is_given_to_a_controller_that_takes_it_and_does_nothing),
        cmocka_unit_test(a_machine_that_shuts_down_is_not_switched_off),
        cmocka_unit_test(a_machine_that_does_not_shut_down_is_switched_off_after_the_patience),
        cmocka_unit_test(
            a_machine_of_which_nothing_is_known_is_not_switched_off_after_the_patience),
        cmocka_unit_test(questions_become_rarer_and_the_last_is_in_time),
        cmocka_unit_test(soft_means_never_off),
        cmocka_unit_test(off_is_off_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
