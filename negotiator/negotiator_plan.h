/* negotiator/negotiator_plan.h - plans a negotiation cycle: who gets which slot, and which sleeping
 * machines are held for whom.
 *
 * Pure and incremental.  Slots and requests are set when they change.  A cycle returns matches,
 * holds, and holds to take back; it changes nothing itself, so a second call returns the same.  Its
 * cost is what changed and what is matched, never slots times requests: slots alike are one kind,
 * requests alike are one kind (kinds_plan.h), and kinds are judged (verdict_plan.h).  The result
 * does not depend on the order in which things were set.
 *
 * Order.  Submitters by fair share (share_plan.h); a submitter's requests by JobPrio, then age,
 * then name.  A request gets the best of the free running slots that match: by
 * NEGOTIATOR_PRE_JOB_RANK, its own Rank, NEGOTIATOR_POST_JOB_RANK, then machine, then slot name.
 * If none is left, it may take a slot from another user (below).  For the jobs that are still
 * without a slot, offline slots are held (OfflineMatches), exactly as many as are wanted.  They are
 * ordered by the same ranks; of those that the request's Rank finds equal, machines that wake
 * anyway come first, then those on their way down that can be taken back.  A hold that is not
 * wanted any more is taken back, and its slot can be held again in the same cycle.  Held slots are
 * not charged to anyone, because they do nothing yet.
 *
 * With offline_last false (NEGOTIATOR_OFFLINE_LAST) running and offline slots are ordered together,
 * so that a rank may prefer to wake an efficient machine.  A job with a hold is then not matched
 * elsewhere as long as the hold lasts.
 *
 * A partitionable slot, running or offline, gives as many pieces as fit (piece_plan.h), one per
 * job; a running one at most one per claim id.  An offline sample ad that stands for several
 * machines (multiplicity) can be held as often.
 *
 * Preemption: a slot in use is taken from its user because its machine ranks the new job above the
 * running one (by Rank); or because its user has the worse priority, PREEMPTION_REQUIREMENTS is
 * true, and the machine does not rank the new job lower (by priority).  By Rank comes first, then
 * the ranks above, then PREEMPTION_RANK.
 *
 * Concurrency limits (limit_plan.h) bound how many of a request's jobs are matched or held.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef NEGOTIATOR_NEGOTIATOR_PLAN_H
#define NEGOTIATOR_NEGOTIATOR_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "negotiator/share_plan.h"

struct ad;
struct ad_context;
struct ad_expr;
struct arena;
struct limit_plan;
struct negotiator_plan;
struct offline_holds;

#define NEGOTIATOR_SLOTS_MAX    1000000
#define NEGOTIATOR_REQUESTS_MAX 1000000

/* Whether a slot can be given out.  All but PLAN_USE_FREE are of live slots only. */
enum plan_use {
    PLAN_USE_BUSY,  /* in use, or not available */
    PLAN_USE_TAKEN, /* in use, with a claim id for another user who takes it over */
    /* Between free and Claimed: all its claim ids were given out, or it is Matched or Preempting.
     * Whoever gets it or had it is charged, so it counts in the total weight. */
    PLAN_USE_GIVEN,
    PLAN_USE_FREE, /* live: Unclaimed, with a claim id not yet given out; offline: always */
};

/* A slot as the plan is told of it. */
struct plan_slot {
    const char *name, *machine;
    const struct ad *ad;
    uint64_t serial; /* changes with the ad; rises, never 0 */
    uint32_t number; /* small number by which the plan's output names the slot */
    bool offline;
    enum plan_use use;
    /* Offline: its machine is being woken (PowerState).  If one slot of a machine is waking, the
     * holds on all its slots stay. */
    bool waking;
    /* Offline: its machine is on its way down and can be taken back.  That is preferred to waking
     * another machine; machines that wake anyway come before. */
    bool reclaimable;
    bool barred; /* offline: WakeFailed, Unknown: no new holds; old ones are taken back */
    const struct offline_holds
        *holds;     /* offline: its present holds, without expired ones; NULL: none */
    int64_t pieces; /* live and partitionable: claim ids not yet given out */
    /* Live and partitionable: jobs that got a piece which the slot's ad does not show yet. */
    const struct ad *const *under_way;
    size_t under_way_count;
    int64_t multiplicity; /* offline sample: how many machines it stands for; 0 means 1 */
    const char *user;     /* live: who uses it (RemoteUser); NULL: nobody */
    double current_rank;  /* in use: the machine's Rank of the running job */
};

/* A request as the plan is told of it. */
struct plan_request {
    const char *name, *schedd, *user;
    int64_t auto_cluster;
    const struct ad *ad;
    uint64_t serial;   /* changes with the ad, like plan_slot.serial */
    uint32_t number;   /* small number by which the plan's output names the request */
    int64_t count;     /* idle jobs */
    int64_t in_flight; /* matches sent and not answered yet */
    bool resting; /* its schedd has just declined a match: nothing new, but it keeps its holds */
    int64_t prio, qdate_s;
    const char *limits; /* ConcurrencyLimits; NULL or "": none */
    bool explain;       /* report why, when some of its jobs get nothing */
};

/* Settings of the configuration; expressions may be NULL.  MY is the slot, TARGET the job. */
struct plan_policy {
    const struct ad_expr *pre_job, *post_job;
    const struct ad_expr *preemption_requirements; /* NULL: never by priority */
    const struct ad_expr *preemption_rank;
    bool consider_preemption;
    bool offline_last;
};

/* Input of one cycle.  A submitter that has requests but is not among the users has priority 0.5
 * and the group that its name says. */
struct plan_input {
    /* Users (member `wanted` is ignored), groups, round_robin, and machines (by ScheddName).  NULL:
     * all submitters are equal.  Without groups: only the root. */
    const struct share_input *shares;
    /* NULL: nothing is limited; the cycle takes what it gives out from it */
    struct limit_plan *limits;
    bool full; /* judge again everything that depends on the clock */
    const struct ad_context *context;
};

/* How a match gets its slot: free, or taken from another user by Rank or by priority. */
enum plan_preemption { PLAN_FREE, PLAN_BY_RANK, PLAN_BY_PRIORITY };

struct plan_match { /* a match; slot and request by number */
    uint32_t slot, request;
    enum plan_preemption preemption;
    double weight; /* charged to the request's user */
};

struct plan_hold { /* a hold for one job, by number */
    uint32_t slot, request;
};

/* Why jobs of a request got no slot: the first reason that holds.  Jobs with a hold on a sleeping
 * machine are not rejected; of resting requests nothing is reported. */
enum plan_reason {
    PLAN_CONCURRENCY_LIMIT, /* one of the request's concurrency limits is reached */
    PLAN_SUBMITTER_CEILING, /* a free slot matches, but its user or group is at its ceiling */
    PLAN_GROUP_QUOTA,       /* a free slot matches, but its group is at its quota */
    PLAN_SUBMITTER_LIMIT,   /* a free slot matches, but its user is at his share */
    PLAN_PREEMPTION_POLICY, /* slots in use match, but PREEMPTION_REQUIREMENTS is not true */
    PLAN_PRIORITY,          /* slots in use match, but their users' priority is as good or better */
    PLAN_NO_MATCH,
    PLAN_REASON_COUNT
};

struct plan_rejection { /* a request without a slot, and why; by number */
    uint32_t request;
    enum plan_reason reason;
};

struct plan_output { /* what a cycle decided; arrays are in the arena */
    struct plan_match *matches;
    size_t match_count;
    struct plan_hold *held; /* offline slots to hold from now on, one entry per job */
    size_t held_count;
    /* Holds to take back: their requests are gone or want fewer. */
    struct plan_release {
        uint32_t slot;
        const char *schedd;
        int64_t auto_cluster;
    } * released;
    size_t released_count;
    struct plan_rejection *rejected; /* requests with `explain` that got no slot */
    size_t rejected_count;
    size_t evaluated; /* number of expressions evaluated */
    size_t slot_kinds, request_kinds;
};

struct negotiator_plan *negotiator_plan_create(void);
void negotiator_plan_destroy(struct negotiator_plan *plan); /* NULL is allowed */

/* Sets the policy.  Its expressions are borrowed until the next call. */
void negotiator_plan_set_policy(struct negotiator_plan *plan, const struct plan_policy *policy);

/* Adds a slot, or updates one that changed in any way.  What slot points to is read in cycles only:
 * at a cycle it must still exist, or the slot must have been set again or dropped.  The ad is read
 * again if serial changed.  Returns 0, or -E2BIG above NEGOTIATOR_SLOTS_MAX or
 * NEGOTIATOR_REQUESTS_MAX. */
int negotiator_plan_set_slot(struct negotiator_plan *plan, const struct plan_slot *slot);
/* unknown is allowed */
void negotiator_plan_drop_slot(struct negotiator_plan *plan, uint32_t number);
int negotiator_plan_set_request(struct negotiator_plan *plan, const struct plan_request *request);
void negotiator_plan_drop_request(struct negotiator_plan *plan, uint32_t number);

/* Judges in slices what a cycle will need, each about `steps` steps of evaluation (ad_eval.h).
 * Returns true when all is judged; the cycle then evaluates almost nothing.  full: as in
 * plan_input; only the first slice looks at it. */
bool negotiator_plan_prepare(struct negotiator_plan *plan, const struct ad_context *context,
                             bool full, uint64_t steps);

/* A slot or request whose expressions are so costly that it matches nothing until its significant
 * attributes change (verdict_plan.h).  Of several equal ones only one is reported. */
struct plan_costly {
    bool is_slot;
    uint32_t number;
};
/* Takes the next such report, each once.  False: there is none. */
bool negotiator_plan_take_costly(struct negotiator_plan *plan, struct plan_costly *ret);

/* Plans a cycle.  Returns 0; -ENOMEM when the arena is full or -E2BIG with too many users, with
 * *ret untouched. */
int negotiator_plan_cycle(struct negotiator_plan *plan, const struct plan_input *input,
                          struct arena *arena, struct plan_output *ret);

#endif
