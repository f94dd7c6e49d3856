/* power/bmc_plan.c - see bmc_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "power/bmc_plan.h"

#include <errno.h>
#include <stddef.h>

void bmc_plan_init(struct bmc_plan *plan, enum bmc_aim aim, enum bmc_way way, uint64_t patience_ms)
{
    *plan = (struct bmc_plan){.aim = aim, .way = way, .patience_ms = patience_ms};
}

static struct bmc_step step_act(enum bmc_act what)
{
    return (struct bmc_step){.act = what};
}

/* Asks again after a growing wait, and exactly once when the time for the order's effect is
 * over. */
static struct bmc_step ask_again(struct bmc_plan *plan, uint64_t left_ms)
{
    uint64_t delay_ms = plan->again_ms < left_ms ? plan->again_ms : left_ms;
    plan->again_ms = plan->again_ms * 2 < BMC_AGAIN_MAX_MS ? plan->again_ms * 2 : BMC_AGAIN_MAX_MS;
    return (struct bmc_step){.act = BMC_ASK_LATER, .delay_ms = delay_ms};
}

static struct bmc_step step_end(int status, const char *text)
{
    return (struct bmc_step){.act = BMC_END, .status = status, .text = text};
}

static struct bmc_step step_order(struct bmc_plan *plan, enum bmc_act what)
{
    plan->soft = plan->soft || what == BMC_ORDER_SOFT;
    plan->hard = what != BMC_ORDER_SOFT;
    return step_act(what);
}

/* The next step of a wake.  left_ms: time that is left for the last order to take effect. */
static struct bmc_step wake_step(struct bmc_plan *plan, enum power_state state, uint64_t left_ms)
{
    if (state == POWER_ON) {
        return step_end(0,
                        plan->hard ? "switched on" : "the controller says that the machine is on");
    }
    if (!plan->hard) {
        return state == POWER_OFF
                   ? step_order(plan, BMC_ORDER_ON)
                   : step_end(-EIO, "not known whether the machine is on; no order was sent");
    }
    if (left_ms > 0) {
        return ask_again(plan, left_ms);
    }
    return step_end(-EIO,
                    state == POWER_OFF
                        ? "the controller accepted the order but still says that the machine is off"
                        : "the controller accepted the order but does not report the result");
}

static struct bmc_step go_down(struct bmc_plan *plan, enum power_state state, uint64_t left_ms)
{
    if (state == POWER_OFF) {
        return step_end(0, plan->hard
                               ? plan->soft
                                     ? "the machine did not shut down in time and was switched off"
                                     : "switched off"
                           : plan->soft ? "the machine has shut down"
                                        : "the controller says that the machine is off");
    }
    if (left_ms > 0) {
        return ask_again(plan, left_ms);
    }
    if (state == POWER_UNKNOWN) {
        return step_end(-EIO,
                        plan->soft || plan->hard
                            ? "the controller accepted the order but does not report the result"
                            : "not known whether the machine is on; no order was sent");
    }
    if (plan->hard) {
        return step_end(-EIO,
                        "the controller accepted the order but still says that the machine is on");
    }
    if (!plan->soft) {
        return step_order(plan, plan->way == BMC_HARD ? BMC_ORDER_OFF : BMC_ORDER_SOFT);
    }
    return plan->way == BMC_GRACEFUL
               ? step_order(plan, BMC_ORDER_OFF)
               : step_end(-ETIMEDOUT, "the machine did not shut down in time");
}

struct bmc_step bmc_plan_told(struct bmc_plan *plan, enum power_state state, uint64_t now_ms)
{
    uint64_t time_ms = plan->hard ? BMC_SETTLE_MS : plan->soft ? plan->patience_ms : 0;
    uint64_t past_ms = now_ms - plan->ordered_ms;
    uint64_t left_ms = past_ms < time_ms ? time_ms - past_ms : 0;
    switch (plan->aim) {
    case BMC_AIM_WAKE:
        return wake_step(plan, state, left_ms);
    case BMC_AIM_SLEEP:
        return go_down(plan, state, left_ms);
    case BMC_AIM_STATUS:
        break;
    }
    struct bmc_step step =
        step_end(0, state == POWER_UNKNOWN
                        ? "the controller does not say whether the machine is on or off"
                        : "as the machine's controller reports");
    step.state = state;
    return step;
}

struct bmc_step bmc_plan_ordered(struct bmc_plan *plan, uint64_t now_ms)
{
    plan->ordered_ms = now_ms;
    plan->again_ms = BMC_AGAIN_MS;
    return ask_again(plan, BMC_AGAIN_MS);
}

const char *bmc_act_name(enum bmc_act what)
{
    switch (what) {
    case BMC_ORDER_ON:
        return "power on";
    case BMC_ORDER_SOFT:
        return "shutdown";
    case BMC_ORDER_OFF:
        return "power off";
    case BMC_ASK:
    case BMC_ASK_LATER:
    case BMC_END:
        break;
    }
    return "power status";
}
