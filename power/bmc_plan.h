/* power/bmc_plan.h - decides, step by step, what to ask and order of a machine's management
 * controller.
 *
 * The same rule for all controllers: ask for the machine's state; give an order only if the state
 * is known and the order changes it; ask again until the state has changed.  A controller that
 * contradicts itself or gives no usable answer ends the operation with an error; an order is never
 * given just in case.  Power cycle, reset and power button are never used: if the controller's
 * answer was wrong, each of these could switch off a machine that must stay on.
 *
 * A graceful sleep is a shutdown by the operating system.  If it has not ended after patience_ms,
 * the machine is switched off, but only while the controller says that it is on.
 *
 * Pure: the caller passes the times in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_BMC_PLAN_H
#define POWER_BMC_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "power/power.h"

/* time after an order in which the controller may still report the old state */
#define BMC_SETTLE_MS 10000
/* time from an order to the next question for the state; each further time is twice as long */
#define BMC_AGAIN_MS     100
#define BMC_AGAIN_MAX_MS 5000 /* longest time between two questions for the state */

/* Aim of an operation: the machine is on; the machine is off; its state is known. */
enum bmc_aim { BMC_AIM_WAKE, BMC_AIM_SLEEP, BMC_AIM_STATUS };
/* how to power down: shutdown, then off; shutdown only; off at once */
enum bmc_way { BMC_GRACEFUL, BMC_SOFT, BMC_HARD };

/* What the caller must do next. */
enum bmc_act {
    BMC_ASK,        /* ask for the machine's state, then call bmc_plan_told() */
    BMC_ASK_LATER,  /* wait for delay_ms, ask for the state, then call bmc_plan_told() */
    BMC_ORDER_ON,   /* order: switch the machine on; then call bmc_plan_ordered() */
    BMC_ORDER_SOFT, /* order: shut down the operating system; then bmc_plan_ordered() */
    BMC_ORDER_OFF,
    BMC_END, /* the operation ends */
};

struct bmc_plan { /* an operation; its members are private to bmc_plan.c */
    enum bmc_aim aim;
    enum bmc_way way;
    uint64_t patience_ms; /* how long a shutdown by the operating system may take */
    uint64_t ordered_ms;  /* time of the last order, monotonic */
    uint64_t again_ms;    /* time to wait before the next question for the state */
    /* soft: a shutdown by the operating system was ordered; hard: the last order was to switch the
     * machine on or off */
    bool soft, hard;
};

/* The next step of an operation. */
struct bmc_step {
    enum bmc_act act;
    uint64_t delay_ms; /* for BMC_ASK_LATER: time to wait */
    /* status, state and text: the operation's result, valid for BMC_END */
    int status;             /* of BMC_AIM_WAKE and BMC_AIM_SLEEP: 0 or a negative errno */
    enum power_state state; /* of BMC_AIM_STATUS: the machine's state */
    const char *text;
};

/* Prepares an operation, whose first step is always BMC_ASK. patience_ms: how long a shutdown by
 * the operating system may take. */
void bmc_plan_init(struct bmc_plan *plan, enum bmc_aim aim, enum bmc_way way, uint64_t patience_ms);
/* Takes the state that the controller reported and returns the next step.  state POWER_UNKNOWN: the
 * answer was neither on nor off, or there was no answer. now_ms: the current time, monotonic. */
struct bmc_step bmc_plan_told(struct bmc_plan *plan, enum power_state state, uint64_t now_ms);
/* To be called when the controller has accepted an order; returns the next step. now_ms: the
 * current time, monotonic.  (If the controller refused the order, the caller ends the
 * operation.) */
struct bmc_step bmc_plan_ordered(struct bmc_plan *plan, uint64_t now_ms);
const char *bmc_act_name(enum bmc_act act); /* name of an order for messages: "power on" */

#endif
