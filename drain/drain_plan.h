/* drain/drain_plan.h - decides what draining does next with each slot, and computes what it costs.
 *
 * Pure: the startd passes a snapshot of its slots in, carries the steps out, and asks again
 * whenever a slot has changed, and at the time drain_look.next_s.  Only the phase is remembered
 * between two calls: the same snapshot gives the same steps.  So a startd that was killed while
 * draining continues from what it finds.
 *
 * The rules are those of the document "Whole Machine Draining":
 * - Estimates assume that no job is suspended, that eviction takes no time, and that each job uses
 *   all of its promised retirement time and is then evicted.  Badput is run time, not multiplied by
 *   CPUs.
 * - Each job has its own retirement time.  HTCondor gives all jobs the longest of the machine.
 *
 * Where that document is silent: QUICK has HTCondor's meaning and HTCondor's estimate (which
 * includes the time to vacate).  A job that began under StartExpr was promised nothing, and is
 * evicted when the last earlier job has gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DRAIN_DRAIN_PLAN_H
#define DRAIN_DRAIN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "drain/drain.h"

struct ad;
struct ad_context;
struct err;

/* Phase of a machine's draining. */
enum drain_phase {
    DRAIN_NONE,
    /* the estimates were sent to the requester; slots do not change until it commits or cancels */
    DRAIN_OFFERED,
    DRAIN_ACTIVE,   /* START is false or StartExpr; slots become Drained/Retiring one by one */
    DRAIN_COMPLETE, /* all requested slots are Drained/Idle */
};

const char *drain_phase_name(enum drain_phase phase);
/* Returns whether draining may go from one phase to the other; false for the same phase. */
bool drain_plan_may_move(enum drain_phase from, enum drain_phase to);

/* The state of a slot, as far as it matters for draining. */
enum drain_place {
    DRAIN_AT_OWNER,
    DRAIN_AT_UNCLAIMED,
    DRAIN_AT_MATCHED,
    DRAIN_AT_CLAIMED_IDLE,
    DRAIN_AT_RUNNING, /* Claimed/Busy or Claimed/Retiring */
    DRAIN_AT_SUSPENDED,
    DRAIN_AT_VACATING,
    DRAIN_AT_KILLING,
    DRAIN_AT_DRAINED_RETIRING,
    DRAIN_AT_DRAINED_IDLE,
};

/* One slot of the machine, as draining looks at it. */
struct drain_slot {
    enum drain_place place;
    bool requested;       /* true: the drain request includes the slot (drain_request_names()) */
    bool accepted;        /* true: its claim began while draining, because StartExpr allowed that */
    int64_t run_s;        /* seconds that its job has run in this run, suspensions not counted */
    int64_t retirement_s; /* seconds of retirement time that its job has left */
    int64_t vacate_s;     /* seconds that its job may take from the soft signal to KILL */
    /* seconds of run_s that its job's last checkpoint saves; 0: no checkpoint */
    int64_t saved_s;
    /* true: if its job is asked to end, the job's output is kept for its next run */
    bool keeps_output;
};

/* ---- estimates of what draining would cost */

/* The estimated cost of draining by one schedule. */
struct drain_cost {
    int64_t completion_s; /* time at which draining would be complete, seconds since 1970 */
    /* run time of the jobs that would be evicted, summed over these jobs, seconds */
    int64_t badput_s;
    /* the part of badput_s that is saved neither by a checkpoint nor by output kept at eviction */
    int64_t unsaved_s;
};

struct drain_estimates {
    struct drain_cost graceful, quick, fast;
};

/* Estimates the cost of draining that begins at now_s (seconds since 1970), for those of
 * slots[0..count) that are requested. evict_suspended: the knob DRAINING_EVICTS_SUSPENDED.
 * deadline_s: the deadline of the request; 0: none.  Negative times count as 0. */
void drain_plan_estimate(const struct drain_slot *slots, size_t count, bool evict_suspended,
                         int64_t deadline_s, int64_t now_s, struct drain_estimates *ret);

/* ---- the next steps of draining */

/* What the startd must do with a slot. */
enum drain_step {
    DRAIN_STEP_NONE,
    DRAIN_STEP_DRAINED_RETIRING, /* make an Owner or Unclaimed slot Drained/Retiring */
    /* make a Drained/Retiring slot Drained/Idle, because all requested slots are Drained now */
    DRAIN_STEP_DRAINED_IDLE,
    DRAIN_STEP_RELEASE, /* end the slot's match, or its claim that has no job */
    /* let its job retire: the claim takes no further job, and the job is evicted later (peaceful:
     * not at all) */
    DRAIN_STEP_RETIRE,
    DRAIN_STEP_VACATE, /* ask its job to end now, and kill it after its vacate time */
    DRAIN_STEP_KILL,
};

/* What the drain request and the configuration say about the steps. */
struct drain_orders {
    enum drain_schedule schedule;
    bool has_start; /* true: the request has a StartExpr */
    /* true: evict suspended jobs, so that draining ends as estimated (DRAINING_EVICTS_SUSPENDED) */
    bool evict_suspended;
    int64_t deadline_s; /* 0: none */
};

/* The results of drain_plan_look() for the machine as a whole. */
struct drain_look {
    /* true: START must be false from now on, and StartExpr no longer counts: the request has none,
     * or all jobs from before the draining have ended, or the deadline of the request has passed */
    bool last;
    /* true: every requested slot is Drained/Idle, so what the request orders for the end must be
     * done */
    bool complete;
    /* when to call drain_plan_look() again even if no slot changes, seconds since 1970; INT64_MAX:
     * not needed */
    int64_t next_s;
};

/* Decides the next step for each slot: steps[i] is for slots[i]. now_s: seconds since 1970.  The
 * caller must carry out all steps of one call.  DRAIN_STEP_RETIRE, _RELEASE, _VACATE and _KILL may
 * come again in later calls for the same job; the caller must ignore a step that it is carrying out
 * already. */
void drain_plan_look(const struct drain_orders *orders, const struct drain_slot *slots,
                     size_t count, int64_t now_s, enum drain_step *steps, struct drain_look *ret);

/* Evaluates a request's CheckExpr, the text check (may be NULL), in each of ads[0..count), the ads
 * of the requested slots. context: for the evaluation, as for ad_eval_bool().  Returns DRAIN_OK (0)
 * if it is true in all; DRAIN_CHECK_FALSE, with the Name of the first slot for which it is false,
 * undefined or error in err; or DRAIN_BAD_REQUEST if it cannot be parsed. */
enum drain_code drain_plan_check(const char *check, const struct ad *const *ads, size_t count,
                                 const struct ad_context *context, struct err *err);

/* Called by a startd that has just started and has a drain request in its store: returns whether
 * the request is still in force.  It is, unless all slots were drained and what the request ordered
 * for the end has happened: for DRAIN_THEN_SLEEP and _OFF, another boot of the machine (same_boot
 * false); for _RESUME, _EXIT and _RESTART, this start. */
bool drain_plan_still_holds(enum drain_phase phase, enum drain_then then, bool same_boot);

/* ---- what draining has cost: TotalDrainingUnclaimedTime, TotalDrainingBadputTime */

/* What draining has cost this machine so far. unclaimed_s: seconds without a job, summed over
 * slots.  After the time counted_s it grows by `counting` each second; so the stored value needs no
 * update while nothing changes, and time in which the startd did not run is included. */
struct drain_totals {
    int64_t unclaimed_s, badput_s;
    int64_t counted_s; /* time up to which unclaimed_s was counted, seconds of the loop's clock */
    int64_t counting;  /* number of slots without a job since counted_s (drain_plan_counting()) */
};

/* Returns the number of slots whose time without a job counts as a cost of draining: slots that are
 * Unclaimed while draining, or Drained; not slots that are Owner or Claimed/Idle. */
int64_t drain_plan_counting(const struct drain_slot *slots, size_t count, enum drain_phase phase);
/* Brings unclaimed_s up to now_s (seconds of the loop's clock) with the old value of
 * totals->counting, then sets totals->counting to `counting`, the result of drain_plan_counting().
 * A clock that was set back does not reduce the sum. */
void drain_totals_count(struct drain_totals *totals, int64_t counting, int64_t now_s);
/* Returns what unclaimed_s is at now_s (seconds of the loop's clock), without changing totals. */
int64_t drain_totals_unclaimed_s(const struct drain_totals *totals, int64_t now_s);
/* Adds to the badput the run time of a job that draining has evicted, run_s seconds without
 * suspensions. */
void drain_totals_evicted(struct drain_totals *totals, int64_t run_s);

/* Pair: drain_plan_put_estimates() writes the attributes of the estimates into a slot's ad,
 * drain_plan_put_totals() those of the totals as they are at now_s (docs/protocol/drain.md). */
void drain_plan_put_estimates(const struct drain_estimates *estimates, struct ad *ad);
void drain_plan_put_totals(const struct drain_totals *totals, int64_t now_s, struct ad *ad);

#endif
