/* power/bmc_plan.h - what to ask and order of a machine's management controller, step by step.
 *
 * One rule for all controllers, whatever they speak: ask, order only what changes an answer that
 * is known, ask again until it has changed.  A controller that contradicts itself, or says nothing
 * of use, ends the operation with an error; nothing is ever ordered in the hope that it helps.
 * There is no cycle, no reset and no press of a button among the orders: each of those could
 * switch a machine off that was to be on, if what its controller said before was not so.
 *
 * A graceful sleep is the system's own shutdown; one that is not over after the patience is
 * switched off, but only while the controller says that the machine is on.
 *
 * Pure: the times are the caller's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_BMC_PLAN_H
#define POWER_BMC_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "power/power.h"

#define BMC_SETTLE_MS    10000 /* so long after an order to switch it may still say what was */
#define BMC_AGAIN_MS     100   /* from an order to the first question; then twice as long ... */
#define BMC_AGAIN_MAX_MS 5000  /* ... each time, up to this */

enum bmc_aim { BMC_AIM_WAKE, BMC_AIM_SLEEP, BMC_AIM_STATUS };
enum bmc_way { BMC_GRACEFUL, BMC_SOFT, BMC_HARD }; /* of going to sleep: both, soft only, off */

enum bmc_act {
    BMC_ASK,        /* what is the machine's state? then bmc_plan_told() */
    BMC_ASK_LATER,  /* the same, after delay_ms */
    BMC_ORDER_ON,   /* then bmc_plan_ordered() */
    BMC_ORDER_SOFT, /* the operating system is asked to shut down */
    BMC_ORDER_OFF,
    BMC_END,
};

struct bmc_plan { /* to be read by bmc_plan.c alone */
    enum bmc_aim aim;
    enum bmc_way way;
    uint64_t patience_ms; /* with a shutdown */
    uint64_t ordered_ms;
    uint64_t again_ms; /* the wait before the next question */
    bool soft, hard;   /* what was ordered; a wake's order is hard */
};

struct bmc_step {
    enum bmc_act act;
    uint64_t delay_ms; /* BMC_ASK_LATER */
    /* BMC_END: */
    int status;             /* of a wake or a sleep: 0 or -errno */
    enum power_state state; /* of a question */
    const char *text;
};

/* The first act is always BMC_ASK. */
void bmc_plan_init(struct bmc_plan *plan, enum bmc_aim aim, enum bmc_way way, uint64_t patience_ms);
/* The controller's answer; POWER_UNKNOWN: one that says neither on nor off, or none. */
struct bmc_step bmc_plan_told(struct bmc_plan *plan, enum power_state state, uint64_t now_ms);
/* The order was taken.  (One that was refused ends the operation.) */
struct bmc_step bmc_plan_ordered(struct bmc_plan *plan, uint64_t now_ms);
const char *bmc_act_name(enum bmc_act act); /* for messages: "power on" */

#endif
