/* negotiator/negotiator_plan.h - negotiation cycles: who gets which slot, and which sleeping
 * machines are held for whom.
 *
 * Pure, and incremental: slots and requests are set when they change; a cycle yields matches, holds
 * and what is to be taken back, and changes nothing itself: asked again, it answers the same.  It
 * costs what changed since and what is matched, never slots times requests: slots alike are a kind,
 * requests alike are one (kinds_plan.h), and kinds are judged (verdict_plan.h).
 * What a plan says does not depend on the order in which things were set: a plan that was made
 * from the same facts at once says the same.
 *
 * Order of things.  Submitters by fair share (share_plan.h), a submitter's requests by JobPrio,
 * then age, then name.  A request gets, of the running slots that are free and match, the best by
 * NEGOTIATOR_PRE_JOB_RANK, its own Rank, NEGOTIATOR_POST_JOB_RANK; of equal ones the first by
 * machine, then by name.  If none is left, a slot that somebody else uses (below).  What it still
 * wants after that is held on offline slots (OfflineMatches): as many as are wanted, no more; best
 * by the same ranks, but of those that its Rank finds alike first the machines that wake anyway,
 * then those that are on their way down and could be taken back.  A hold that is no longer wanted
 * is taken back, and what it frees can be had in the same cycle. Held slots are not charged to
 * anyone: they do nothing yet.
 *
 * Where running slots need not come first (offline_last false: NEGOTIATOR_OFFLINE_LAST) both are
 * ordered together, so that a rank may prefer to wake an efficient machine; what is held then is
 * not matched elsewhere, so long as the hold lasts.
 *
 * Partitionable slots, running or offline, give as many pieces as fit (piece_plan.h), one for each
 * job: a running one at most one for each claim id.  An offline sample that stands for several
 * machines (multiplicity) is held for as many.
 *
 * Preemption: a slot in use is taken from its user because its machine ranks the job above the one
 * that runs (by Rank), or because its user has the worse priority and PREEMPTION_REQUIREMENTS
 * holds, and the machine does not rank the job lower (by priority).  By Rank comes first; then the
 * ranks as above; then PREEMPTION_RANK.
 *
 * Concurrency limits (limit_plan.h) bound what a request wants, matched or held.
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

/* May a slot be had?  The first three are of live ones. */
enum plan_use {
    PLAN_USE_BUSY,  /* in use, or not to be had */
    PLAN_USE_TAKEN, /* in use, with a claim id for whoever takes it over */
    /* between free and Claimed (all its claim ids were given away, it is Matched, or Preempting):
     * who gets or had it is charged, so that it counts among all slots */
    PLAN_USE_GIVEN,
    PLAN_USE_FREE, /* Unclaimed, with a claim id that was not given away; always of offline ones */
};

struct plan_slot {
    const char *name, *machine;
    const struct ad *ad;
    uint64_t serial; /* changes with the ad; rises, never 0 */
    uint32_t number; /* its own as long as it is there, small: what it is called in a plan */
    bool offline;
    enum plan_use use;
    bool waking; /* offline: its machine is being woken (PowerState); holds of all slots of a
                    machine of which one is waking stay */
    /* offline: its machine is up yet, on its way down, and would be taken back: that comes before
     * another is woken, behind those that wake anyway */
    bool reclaimable;
    bool barred; /* offline: WakeFailed, Unknown: no new holds, old ones are taken back */
    const struct offline_holds *holds; /* offline: as they are now, pruned; NULL: none */
    int64_t pieces; /* live and partitionable: claim ids that were not given away */
    /* live and partitionable: jobs that were given a piece which its ad does not show yet */
    const struct ad *const *under_way;
    size_t under_way_count;
    int64_t multiplicity; /* offline sample: machines that it stands for; 0 is 1 */
    const char *user;     /* live: who uses it (RemoteUser); NULL: nobody */
    double current_rank;  /* in use: what its machine gives the job that runs */
};

struct plan_request {
    const char *name, *schedd, *user;
    int64_t auto_cluster;
    const struct ad *ad;
    uint64_t serial;   /* changes with the ad, as of a slot */
    uint32_t number;   /* as of a slot */
    int64_t count;     /* idle jobs */
    int64_t in_flight; /* matches sent and not answered yet */
    bool resting;      /* its schedd declined a moment ago: gets nothing new, keeps its holds */
    int64_t prio, qdate_s;
    const char *limits; /* ConcurrencyLimits; NULL or "": none */
    bool explain;       /* say why, when some of its jobs get nothing */
};

/* What the configuration says; expressions may be NULL. MY is the slot, TARGET the job. */
struct plan_policy {
    const struct ad_expr *pre_job, *post_job;
    const struct ad_expr *preemption_requirements; /* NULL: never by priority */
    const struct ad_expr *preemption_rank;
    bool consider_preemption;
    bool offline_last;
};

/* Of one cycle.  Submitters of requests that are not among the users have priority 0.5, and are of
 * the group that their name says. */
struct plan_input {
    /* Who shares, how: users (wanted is not looked at), groups, round_robin, machines (by
     * ScheddName).  NULL: every submitter alike.  Without groups: the root alone. */
    const struct share_input *shares;
    struct limit_plan *limits; /* NULL: nothing is limited; what the cycle gives is taken from it */
    bool full;                 /* judge anew what looked at the clock */
    const struct ad_context *context;
};

enum plan_preemption { PLAN_FREE, PLAN_BY_RANK, PLAN_BY_PRIORITY };

struct plan_match { /* by number */
    uint32_t slot, request;
    enum plan_preemption preemption;
    double weight; /* that is charged for it */
};

struct plan_hold { /* of one job */
    uint32_t slot, request;
};

/* Why jobs of a request got no slot: the first that holds.  What is held on sleeping machines is
 * not rejected, and nothing is said of requests that rest. */
enum plan_reason {
    PLAN_CONCURRENCY_LIMIT, /* one of its limits is used up */
    PLAN_SUBMITTER_CEILING, /* a free slot matches, but: the ceiling of its user or group */
    PLAN_GROUP_QUOTA,       /* ... all that its group may have */
    PLAN_SUBMITTER_LIMIT,   /* ... its user's share */
    PLAN_PREEMPTION_POLICY, /* slots in use match: PREEMPTION_REQUIREMENTS is not true */
    PLAN_PRIORITY,          /* ... by users whose priority is as good */
    PLAN_NO_MATCH,
    PLAN_REASON_COUNT
};

struct plan_rejection { /* by number */
    uint32_t request;
    enum plan_reason reason;
};

struct plan_output { /* arrays live in the arena */
    struct plan_match *matches;
    size_t match_count;
    struct plan_hold *held; /* offline slots to hold from now on */
    size_t held_count;
    /* Holds to take back: of requests that are gone or want fewer. */
    struct plan_release {
        uint32_t slot;
        const char *schedd;
        int64_t auto_cluster;
    } * released;
    size_t released_count;
    struct plan_rejection *rejected; /* requests that asked for it (explain) */
    size_t rejected_count;
    size_t evaluated; /* expressions */
    size_t slot_kinds, request_kinds;
};

struct negotiator_plan *negotiator_plan_create(void);
void negotiator_plan_destroy(struct negotiator_plan *plan); /* NULL is allowed */

/* Expressions are borrowed until the next call. */
void negotiator_plan_set_policy(struct negotiator_plan *plan, const struct plan_policy *policy);

/* New, or changed in any way.  What it points to is looked at in cycles only: it must be there
 * then, or the slot set again or dropped before.  The ad is read again if its serial is another.
 * -E2BIG beyond the limits. */
int negotiator_plan_set_slot(struct negotiator_plan *plan, const struct plan_slot *slot);
void negotiator_plan_drop_slot(struct negotiator_plan *plan, uint32_t number); /* absent is fine */
int negotiator_plan_set_request(struct negotiator_plan *plan, const struct plan_request *request);
void negotiator_plan_drop_request(struct negotiator_plan *plan, uint32_t number);

/* Judges what a cycle will look at, in slices: about so many steps of evaluation (ad_eval.h). True:
 * all was judged, so a cycle evaluates next to nothing.  full as in plan_input, in the first slice
 * only. */
bool negotiator_plan_prepare(struct negotiator_plan *plan, const struct ad_context *context,
                             bool full, uint64_t steps);

/* A slot or request whose expressions take so much that it matches nothing any more, until its ad
 * changes in what matters (verdict_plan.h); of several alike it is one.  Each is told once; false:
 * there is none. */
struct plan_costly {
    bool is_slot;
    uint32_t number;
};
bool negotiator_plan_take_costly(struct negotiator_plan *plan, struct plan_costly *ret);

/* 0, or -ENOMEM when the arena is full, -E2BIG with too many users; *ret untouched then. */
int negotiator_plan_cycle(struct negotiator_plan *plan, const struct plan_input *input,
                          struct arena *arena, struct plan_output *ret);

#endif
