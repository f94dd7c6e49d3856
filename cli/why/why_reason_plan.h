/* cli/why/why_reason_plan.h - why a job waits, as one word and one line.
 *
 * why_plan.c finds out whether slots match.  This file adds the rest: the job's own state, the
 * daemons needed for a match, and what the matching slots are doing.  The answer is the first
 * reason in the order of enum why_reason that applies; the reasons after it do not matter then.
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_REASON_PLAN_H
#define CLI_WHY_WHY_REASON_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/why/why_places_plan.h"
#include "cli/why/why_plan.h"

#define WHY_SILENT_S 600 /* a negotiator not heard from for this long counts as silent */

enum why_reason {
    WHY_COMPLETED,
    WHY_REMOVED,
    WHY_HELD,
    WHY_RUNNING,   /* the job runs, transfers files, or is suspended */
    WHY_MATCHED,   /* the job has a slot and will start soon */
    WHY_NO_SHADOW, /* the job has a slot, but the shadow of its owner does not start */
    WHY_NO_SLOTS,  /* the collector has no machine ads */
    WHY_IS_ERROR,  /* the job's Requirements is error for every slot */
    WHY_NO_MATCH,  /* the job's Requirements, or those of the slots, rule out all slots */
    WHY_NO_NEGOTIATOR,
    WHY_SILENT,     /* the negotiator was not heard from for WHY_SILENT_S seconds */
    WHY_NOT_SEEN,   /* the collector has no request from the schedd for this job */
    WHY_CEILING,    /* the job's submitter has reached its ceiling (weight of slots in use) */
    WHY_QUOTA,      /* the job's accounting group has used its quota and takes no surplus */
    WHY_LIMIT,      /* a concurrency limit of the job is used up */
    WHY_SOON,       /* a matching slot is free; wait for the next negotiation cycle */
    WHY_WAKING,     /* a machine is being woken for the job, or is waking anyway */
    WHY_ASLEEP,     /* a matching machine sleeps, and its wake has not begun */
    WHY_BUSY,       /* all matching slots are in use */
    WHY_UNWAKEABLE, /* all matching machines are asleep, and none can be woken */
    WHY_LOCKED,     /* all matching machines are locked, or kept off */
    WHY_REASONS
};

const char *why_reason_name(enum why_reason reason); /* the reason as a word, such as "NoMatch" */

struct why_verdict {
    enum why_reason reason;
    struct why_places places;
    char *text; /* the reason in one line, to be printed after "12.3: " */
};

/* Makes the ad of a whole partitionable slot as if no dynamic slots were split off: Memory is
 * TotalSlotMemory, and so on.  NULL: not a partitionable slot.  Owned by the caller. */
struct ad *why_reason_whole(const struct ad *slot);

void why_reason_find(const struct why_pool *pool, struct why_verdict *ret);
void why_verdict_fini(struct why_verdict *verdict);

/* Finds the request ad that stands for the job; NULL: none. */
const struct ad *why_reason_request(const struct ad *job, const struct ad *const *requests,
                                    size_t count);

#endif
