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

/* Counts of the matching slots by what they are doing. */
struct why_places {
    /* live slots: free, with the user's own jobs, with others' jobs, in state Owner, draining, and
     * going to sleep */
    int64_t free, mine, others, owner, draining, leaving;
    int64_t silent;                 /* slots of machines that do not respond */
    int64_t avoided;                /* free slots to which the schedd gives no jobs for a while */
    int64_t full;                   /* live partitionable slots whose free rest is too small */
    int64_t waking, asleep, failed; /* offline slots; failed: PowerState is WakeFailed or Unknown */
    /* offline slots that are held for this request (OfflineMatches) */
    int64_t held;
    int64_t locked; /* slots of machines that are locked, or that stay off until switched on */
    /* sample_waking: one of the slots that are held for this request or waking; sample_failed: one
     * of the slots that are counted in `failed`; NULL: none */
    const struct ad *sample_waking;
    const struct ad *sample_failed;
    const struct ad *sample_silent;  /* one of the slots that are counted in `silent`; NULL: none */
    const struct ad *sample_avoided; /* one of the slots in `avoided`; NULL: none */
    const struct ad *sample_locked;  /* the first slot that is counted in `locked` */
};

struct why_pool {
    const struct ad *job;
    /* which slots match the job; NULL: the job neither waits for a slot nor is held */
    const struct why_answer *answer;
    const struct why_other *slots; /* the slots that were compared with the job */
    size_t slot_count;
    const struct ad *negotiator;      /* the negotiator's ad; NULL: the collector has none */
    const struct ad *request;         /* the collector's request ad for the job; NULL: none */
    const struct ad *const *requests; /* all Request ads */
    size_t request_count;
    const struct ad *const *accounts; /* all Accounting ads */
    size_t account_count;
    const struct ad *const *machines; /* all Machine ads, dynamic slots too */
    size_t machine_count;
    const struct ad_context *context;
};

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
