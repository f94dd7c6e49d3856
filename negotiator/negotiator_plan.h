/* negotiator/negotiator_plan.h - plans a negotiation cycle: who gets which slot, and which sleeping
 * machines are held for whom.
 *
 * Pure and incremental.  The caller tells the plan of slots and requests when they change.  A cycle
 * returns matches, holds, and holds to take back; it changes nothing itself, so a second call
 * returns the same.  Its cost depends on how much changed and how much is matched, and is never
 * slots times requests: equal slots are one kind, equal requests are one kind (kinds_plan.h), and
 * pairs of kinds are judged (verdict_plan.h).  The result does not depend on the order in which
 * slots and requests were set.
 *
 * Order.  Submitters by fair share (share_plan.h); a submitter's requests by JobPrio, then age,
 * then name.  A request gets the best of the free running slots that match: by
 * NEGOTIATOR_PRE_JOB_RANK, its own Rank, NEGOTIATOR_POST_JOB_RANK, then machine, then slot name.
 * If none is left, it may take a slot from another user (Preemption).  For the jobs that are still
 * without a slot, offline slots are held (OfflineMatches), exactly as many as are wanted.  They are
 * ordered by the same ranks; of those that the request's Rank finds equal, machines that wake
 * anyway come first, then those on their way down that can be taken back.  Last of all, whatever
 * the ranks say, come those whose UNHIBERNATE is not true now (unwilling); holds leave them as soon
 * as another slot is there.  A hold that is not wanted any more is taken back, and its slot can be
 * held again in the same cycle.  Held slots are not charged to anyone, because they do nothing yet,
 * but a user and his group hold no more than their ceilings allow them to have when the machines
 * are awake.
 *
 * With offline_last false (NEGOTIATOR_OFFLINE_LAST) running and offline slots are ordered together,
 * so that a rank may prefer to wake an efficient machine.  A job with a hold is then not matched
 * elsewhere as long as the hold lasts.
 *
 * A partitionable slot, running or offline, gives as many pieces as fit (piece_plan.h), one per
 * job; a running one at most one per claim id.  An offline sample ad that stands for several
 * machines (multiplicity) can be held that many times.
 *
 * Preemption: a slot in use is taken from its user because its machine ranks the new job above the
 * running one (by Rank); or because its user has the worse priority, PREEMPTION_REQUIREMENTS is
 * true, and the machine does not rank the new job lower (by priority).  Slots that can be taken by
 * Rank come first; among equals the three ranks named under Order decide, then PREEMPTION_RANK.
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

/* Whether a slot can be given out.  An offline slot is always PLAN_USE_FREE. */
enum plan_use {
    PLAN_USE_BUSY,  /* in use, or not available */
    PLAN_USE_TAKEN, /* in use, with a claim id by which another user can take the slot over */
    /* neither free nor in use: all its claim ids were given out, or the slot is Matched or
     * Preempting; its weight counts in the total weight of the pool */
    PLAN_USE_GIVEN,
    PLAN_USE_FREE, /* offline; or live, Unclaimed, and a claim id is not given out yet */
};

/* What the caller tells the plan about a slot. */
struct plan_slot {
    const char *name, *machine;
    const struct ad *ad;
    uint64_t serial; /* never 0; the caller raises it when the ad has changed */
    uint32_t number; /* small number by which the plan's output names the slot */
    bool offline;
    enum plan_use use;
    /* The slot is offline and its machine is being woken (PowerState).  If one slot of a machine is
     * waking, the holds on all slots of the machine stay. */
    bool waking;
    /* The slot counts as offline because its machine is about to be powered down, but the machine
     * can still be kept up.  Such slots are preferred to those of sleeping machines that would have
     * to be woken, but not to those of machines that wake anyway. */
    bool reclaimable;
    /* UNHIBERNATE of the offline slot is not true now, so that a hold would wake the machine only
     * later: the slot is held only for jobs that no other slot can serve, whatever the ranks say */
    bool unwilling;
    /* PowerState is WakeFailed or Unknown, or somebody locked the machine: no new holds, old holds
     * are taken back */
    bool barred;
    /* of an offline slot: its holds, without expired ones; NULL: none */
    const struct offline_holds *holds;
    int64_t pieces; /* of a live partitionable slot: number of claim ids not given out */
    /* of a live partitionable slot: ads of the jobs that got a piece which the slot's ad does not
     * show yet */
    const struct ad *const *under_way;
    size_t under_way_count;
    int64_t multiplicity; /* of a sample ad: number of machines that it stands for; 0 means 1 */
    const char *user;     /* of a live slot: the user who has it (RemoteUser); NULL: nobody */
    double current_rank;  /* of a slot in use: the machine's Rank of the running job */
};

/* What the caller tells the plan about a request. */
struct plan_request {
    const char *name, *schedd, *user;
    int64_t auto_cluster;
    const struct ad *ad;
    uint64_t serial;   /* never 0; the caller raises it when the ad has changed */
    uint32_t number;   /* small number by which the plan's output names the request */
    int64_t count;     /* number of idle jobs */
    int64_t in_flight; /* matches sent and not answered yet */
    /* number of jobs that wait until another job has left a slot that was matched to them; such a
     * job may have a free slot instead, but gets neither another slot in use nor a hold */
    int64_t waiting;
    /* the schedd has just declined a match, or is not heard of: no new match or hold, holds stay */
    bool resting;
    int64_t prio, qdate_s;
    const char *limits; /* value of ConcurrencyLimits; NULL or "": none */
    bool explain;       /* if some of its jobs get no slot, report why */
};

/* Settings of the configuration.  Expressions may be NULL: not set.  In them MY is the slot, TARGET
 * the job. */
struct plan_policy {
    const struct ad_expr *pre_job, *post_job;
    const struct ad_expr *preemption_requirements; /* NULL: no slot is taken over by priority */
    const struct ad_expr *preemption_rank;
    bool consider_preemption;
    bool offline_last;
};

/* Input of one cycle.  The member `shares` lists the users; a submitter that has requests but is
 * not listed there has priority 0.5 and the group that the submitter's name says. */
struct plan_input {
    /* Its users (their member `wanted` is ignored), groups, round_robin and machines (named by
     * ScheddName) are read.  NULL: all submitters are equal.  If it has no groups, all users are in
     * the root. */
    const struct share_input *shares;
    /* the concurrency limits and their use, to which the cycle adds the jobs that it matches
     * (limit_plan_take()).  NULL: no limits */
    struct limit_plan *limits;
    bool full; /* evaluate again all that depends on the clock */
    const struct ad_context *context;
};

/* How a match gets its slot.  PLAN_FREE: the slot is free; PLAN_BY_RANK and PLAN_BY_PRIORITY: the
 * slot is taken from another user, by the machine's Rank or by the users' priorities. */
enum plan_preemption { PLAN_FREE, PLAN_BY_RANK, PLAN_BY_PRIORITY };

struct plan_match { /* a match: the numbers of a slot and a request */
    uint32_t slot, request;
    enum plan_preemption preemption;
    double weight; /* weight that is charged to the user of the request */
};

struct plan_hold { /* a hold for one job: the numbers of a slot and a request */
    uint32_t slot, request;
};

/* Why jobs of a request got no slot.  Of several reasons the first in this list is reported.  Jobs
 * with a hold on a sleeping machine are not reported, nor are requests that are resting. */
enum plan_reason {
    PLAN_CONCURRENCY_LIMIT, /* one of the request's concurrency limits is reached */
    PLAN_SUBMITTER_CEILING, /* a free slot matches, but the job's user or group is at its ceiling */
    PLAN_GROUP_QUOTA,       /* a free slot matches, but the job's group is at its quota */
    /* a free slot matches, but the job's user already has his whole share */
    PLAN_SUBMITTER_LIMIT,
    PLAN_PREEMPTION_POLICY, /* slots in use match, but PREEMPTION_REQUIREMENTS is not true */
    PLAN_PRIORITY,          /* slots in use match, but their users have no worse priority */
    PLAN_NO_MATCH,
    PLAN_REASON_COUNT
};

struct plan_rejection { /* the number of a request of which jobs got no slot, and why */
    uint32_t request;
    enum plan_reason reason;
};

struct plan_output { /* what a cycle decided; its arrays are in the cycle's arena */
    struct plan_match *matches;
    size_t match_count;
    struct plan_hold *held; /* offline slots to hold from now on, one entry per job */
    size_t held_count;
    /* holds to take back, because their requests are gone or want fewer slots */
    struct plan_release {
        uint32_t slot;
        const char *schedd;
        int64_t auto_cluster;
    } * released;
    size_t released_count;
    struct plan_rejection *rejected; /* requests with `explain` of which some jobs got no slot */
    size_t rejected_count;
    size_t evaluated; /* number of expressions evaluated */
    size_t slot_kinds, request_kinds;
};

struct negotiator_plan *negotiator_plan_create(void);
void negotiator_plan_destroy(struct negotiator_plan *plan); /* NULL is allowed */

/* Sets the policy.  The expressions in *policy must live until this function is called again. */
void negotiator_plan_set_policy(struct negotiator_plan *plan, const struct plan_policy *policy);

/* Adds a slot, or updates a slot that changed in any way.  What the members of slot point to is
 * read in cycles, and must live until the slot is set again or dropped.  The ad is read again if
 * serial changed.  Returns 0; -E2BIG: there are NEGOTIATOR_SLOTS_MAX slots already. */
int negotiator_plan_set_slot(struct negotiator_plan *plan, const struct plan_slot *slot);
/* Removes a slot; does nothing if there is no slot with this number. */
void negotiator_plan_drop_slot(struct negotiator_plan *plan, uint32_t number);
/* Does for a request what negotiator_plan_set_slot() does for a slot.  Returns 0; -E2BIG: there are
 * NEGOTIATOR_REQUESTS_MAX requests already. */
int negotiator_plan_set_request(struct negotiator_plan *plan, const struct plan_request *request);
void negotiator_plan_drop_request(struct negotiator_plan *plan, uint32_t number);

/* Does a slice of the evaluations that the next cycle will need, about `steps` steps (ad_eval.h).
 * Returns true when all are done; the cycle itself then evaluates almost nothing.  full: evaluate
 * again all that depends on the clock; it has an effect in the first slice only. */
bool negotiator_plan_prepare(struct negotiator_plan *plan, const struct ad_context *context,
                             bool full, uint64_t steps);

/* Idle jobs that the plan was told of: their number (-1: not known), and QDate of the first,
 * seconds since 1970 (0: there is none). */
struct plan_queue {
    int64_t jobs, first_s;
};
/* Returns how long the first of these jobs waits, seconds; 0: there is none. */
int64_t plan_queue_wait_s(const struct plan_queue *queue, int64_t now_s);
/* Counts all idle jobs. */
void negotiator_plan_queue(const struct negotiator_plan *plan, struct plan_queue *ret);
/* Counts, for each of `count` machines, the idle jobs that match at least one of its slots, in
 * whatever state the slot is, as the last negotiator_plan_prepare() found.  Not known: machines
 * that were not there then.  A request that came later is not counted.  O(requests x machines);
 * evaluates nothing. */
void negotiator_plan_matching(struct negotiator_plan *plan, const char *const *machines,
                              size_t count, struct plan_queue *ret);

/* The number of a slot or request whose expressions are so costly to evaluate that it matches
 * nothing until its significant attributes change (verdict_plan.h).  Of several with equal
 * significant attributes only one is reported. */
struct plan_costly {
    bool is_slot;
    uint32_t number;
};
/* Writes to *ret the next slot or request that matches nothing any more because its expressions are
 * too costly; each is reported once.  Returns false when there is none. */
bool negotiator_plan_take_costly(struct negotiator_plan *plan, struct plan_costly *ret);

/* Plans a cycle.  Returns 0; -ENOMEM: the arena is full, or -E2BIG: there are too many users, and
 * *ret is then unchanged. */
int negotiator_plan_cycle(struct negotiator_plan *plan, const struct plan_input *input,
                          struct arena *arena, struct plan_output *ret);

#endif
