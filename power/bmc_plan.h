/* power/bmc_plan.h - decides, step by step, what to ask and order of a machine's management
 * controller.
 *
 * The same rule for all controllers: ask; give an order only if the answer is known and the order
 * changes it; ask again until the state has changed.  A controller that contradicts itself or gives
 * no usable answer ends the operation with an error; an order is never given just in case.  Power
 * cycle, reset and power button are never used: if the controller's answer was wrong, each of these
 * could switch off a machine that must stay on.
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

/* after an order the controller may report the old state for so long */
#define BMC_SETTLE_MS    10000
#define BMC_AGAIN_MS     100  /* time from an order to the first question; doubled each time */
#define BMC_AGAIN_MAX_MS 5000 /* up to this */

/* Aim of an operation. */
enum bmc_aim { BMC_AIM_WAKE, BMC_AIM_SLEEP, BMC_AIM_STATUS };
/* how to sleep: shutdown, then off; shutdown only; off at once */
enum bmc_way { BMC_GRACEFUL, BMC_SOFT, BMC_HARD };

/* What to do next. */
enum bmc_act {
    BMC_ASK,        /* ask for the machine's state, then call bmc_plan_told() */
    BMC_ASK_LATER,  /* ask after delay_ms, then as BMC_ASK */
    BMC_ORDER_ON,   /* give the order, then call bmc_plan_ordered() */
    BMC_ORDER_SOFT, /* ask the operating system to shut down */
    BMC_ORDER_OFF,
    BMC_END, /* the operation ends */
};

struct bmc_plan { /* private to bmc_plan.c */
    enum bmc_aim aim;
    enum bmc_way way;
    uint64_t patience_ms; /* how long a shutdown may take */
    uint64_t ordered_ms;  /* time of the last order, monotonic */
    uint64_t again_ms;    /* the wait before the next question */
    bool soft, hard;      /* orders that were given; a wake's order counts as hard */
};

/* The next step. */
struct bmc_step {
    enum bmc_act act;
    uint64_t delay_ms; /* wait before BMC_ASK_LATER */
    /* For BMC_END: */
    int status;             /* result of a wake or a sleep: 0 or a negative errno */
    enum power_state state; /* result of a status */
    const char *text;
};

/* Prepares an operation, whose first step is always BMC_ASK. */
void bmc_plan_init(struct bmc_plan *plan, enum bmc_aim aim, enum bmc_way way, uint64_t patience_ms);
/* Takes the controller's answer; POWER_UNKNOWN: neither on nor off, or no answer.  Returns the next
 * step. */
struct bmc_step bmc_plan_told(struct bmc_plan *plan, enum power_state state, uint64_t now_ms);
/* The controller accepted the order.  (A refused order ends the operation.) Returns the next
 * step. */
struct bmc_step bmc_plan_ordered(struct bmc_plan *plan, uint64_t now_ms);
const char *bmc_act_name(enum bmc_act act); /* name for messages: "power on" */

#endif
