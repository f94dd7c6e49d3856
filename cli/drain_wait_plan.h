/* cli/drain_wait_plan.h - what became of a machine that `roost drain` waits for, or has not asked
 * yet, by the ads of its slots.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_DRAIN_WAIT_PLAN_H
#define CLI_DRAIN_WAIT_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;

enum drain_progress {
    DRAIN_GOES_ON,      /* it is waited for; or its turn may come */
    DRAIN_IS_DRAINED,   /* all slots of our request are drained and stay so */
    DRAIN_IS_OVER,      /* no ad shows our request any more */
    DRAIN_WAS_CANCELLED /* somebody cancelled our request, or before the machine was asked */
};

struct drain_watched {
    const char *id;   /* id of our request; NULL: the machine was not asked yet */
    bool stays;       /* our request is OnCompletion "stay" */
    bool was_seen;    /* an ad has shown our request before */
    bool is_late;     /* an ad would have shown our request by now */
    int64_t cancel_s; /* drain_wait_cancel_s() when the machine was looked at first */
};

/* machine: the ad of drain_show_machines(); NULL: no slot drains.  slot: an ad of one of its slots
 * that has LastDrainCancelTime; NULL: none has. */
enum drain_progress drain_wait_judge(const struct drain_watched *watched, const struct ad *machine,
                                     const struct ad *slot);
/* Returns when somebody cancelled the machine's draining, by its clock; 0: nobody did.  slot: as
 * above. */
int64_t drain_wait_cancel_s(const struct ad *slot);

#endif
