/* cli/why/why_reason_plan.h - what a job waits for, in one word and one line.
 *
 * Whether slots match is why_plan.h's part; here is all the rest: the job's own state, the parts of
 * the pool that must be there for a match, and what the matching slots are busy with.  The first
 * reason that holds, in the order of the list, is the answer: what stands before it makes what
 * comes after it of no account.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_REASON_PLAN_H
#define CLI_WHY_WHY_REASON_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/why/why_plan.h"

#define WHY_SILENT_S 600 /* a negotiator that was not heard of for so long does nothing */

enum why_reason {
    WHY_COMPLETED,
    WHY_REMOVED,
    WHY_HELD,
    WHY_RUNNING,  /* transferring and suspended, too */
    WHY_MATCHED,  /* has a slot, starts soon */
    WHY_NO_SLOTS, /* the collector knows of no machine */
    WHY_IS_ERROR, /* its Requirements is error with every slot */
    WHY_NO_MATCH, /* its Requirements, or the slots', rule out all */
    WHY_NO_NEGOTIATOR,
    WHY_SILENT,     /* the negotiator was not heard of for WHY_SILENT_S */
    WHY_NOT_SEEN,   /* the collector has no request of this schedd for it */
    WHY_CEILING,    /* its submitter may have no more */
    WHY_QUOTA,      /* nor may its accounting group, which takes no surplus */
    WHY_LIMIT,      /* a concurrency limit that it names is used up */
    WHY_SOON,       /* a matching slot is free: the next cycle */
    WHY_WAKING,     /* a machine is being woken for it, or wakes anyway */
    WHY_ASLEEP,     /* a sleeping machine is held for it, or may be */
    WHY_BUSY,       /* all matching slots have something to do */
    WHY_UNWAKEABLE, /* all matching machines sleep, and none can be woken */
    WHY_REASONS
};

const char *why_reason_name(enum why_reason reason); /* "NoMatch" ... */

/* What the matching slots do. */
struct why_places {
    int64_t free, mine, others, owner, draining, leaving; /* live; leaving: going to sleep */
    int64_t full;                   /* live and partitionable: what is left does not fit */
    int64_t waking, asleep, failed; /* offline; failed: WakeFailed, Unknown */
    int64_t held;                   /* offline, and held for this request (OfflineMatches) */
    const struct ad *sample_waking; /* one of the held or waking, one of the failed; NULL: none */
    const struct ad *sample_failed;
};

struct why_pool {
    const struct ad *job;
    const struct why_answer *answer; /* NULL: the job is not idle, or held */
    const struct why_other *slots;   /* as they were judged */
    size_t slot_count;
    const struct ad *negotiator;      /* NULL: the collector knows of none */
    const struct ad *request;         /* the job's, in the collector; NULL: it has none */
    const struct ad *const *requests; /* all Request ads */
    size_t request_count;
    const struct ad *const *accounts; /* all Accounting ads */
    size_t account_count;
    const struct ad *const *machines; /* all Machine ads, pieces of partitionable slots as well */
    size_t machine_count;
    const struct ad_context *context;
};

struct why_verdict {
    enum why_reason reason;
    struct why_places places;
    char *text; /* one line, as it goes on after "12.3: " */
};

/* All of a partitionable slot, as if nothing was given out: TotalSlotMemory as Memory, and so on.
 * NULL: it is no such slot.  Owned by the caller. */
struct ad *why_reason_whole(const struct ad *slot);

void why_reason_find(const struct why_pool *pool, struct why_verdict *ret);
void why_verdict_fini(struct why_verdict *verdict);

/* The request that stands for the job among all; NULL: there is none. */
const struct ad *why_reason_request(const struct ad *job, const struct ad *const *requests,
                                    size_t count);

#endif
