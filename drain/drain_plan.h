/* drain/drain_plan.h - decides what draining does next with each slot, and computes what it costs.
 *
 * Pure: the startd passes a snapshot of its slots in, carries the steps out, and asks again
 * whenever a slot has changed, and at next_s.  Only the phase is remembered between two calls: the
 * same snapshot gives the same steps.  So a startd that was killed while draining continues from
 * what it finds.
 *
 * The rules are those of the document "Whole Machine Draining":
 *   - it is assumed that no job is suspended, that eviction takes no time, and that a job uses all
 *     of its promised retirement time and is then evicted; badput is run time, not multiplied by
 * CPUs;
 *   - each job has its own retirement time, not the longest of the machine (HTCondor's way).
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
    DRAIN_OFFERED,  /* the requester has the estimates; slots do not change until it answers */
    DRAIN_ACTIVE,   /* START is false; slots become Drained/Retiring one by one */
    DRAIN_COMPLETE, /* all requested slots are Drained/Idle */
};

const char *drain_phase_name(enum drain_phase phase);
/* Returns whether draining may go from one phase to the other; false for the same phase. */
bool drain_plan_may_move(enum drain_phase from, enum drain_phase to);

enum drain_place { /* state of a slot, as far as it matters for draining */
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

/* A slot in the snapshot. */
struct drain_slot {
    enum drain_place place;
    bool requested;       /* the request includes it: drain_request_names() */
    bool accepted;        /* its claim was accepted while draining, by StartExpr */
    int64_t run_s;        /* unsuspended run time of its job, in this run */
    int64_t retirement_s; /* retirement time that its job has left, unsuspended */
    int64_t vacate_s;     /* time that its job may take from the soft signal to KILL */
    int64_t saved_s;      /* part of run_s that its last checkpoint saved; 0: none */
    bool keeps_output;    /* if asked to end, its job's output is kept for its next run */
};

/* ---- what draining would cost */

/* The cost of one schedule. */
struct drain_cost {
    int64_t completion_s; /* time at which draining would be complete, seconds since 1970 */
    int64_t badput_s;     /* run time that would be lost, in seconds of jobs */
    int64_t unsaved_s;    /* part of badput_s that neither a checkpoint nor the eviction saves */
};

struct drain_estimates {
    struct drain_cost graceful, quick, fast;
};

/* Estimates draining that begins at now_s, for the requested slots of slots[0..count).
 * evict_suspended: DRAINING_EVICTS_SUSPENDED.  deadline_s: of the request, 0: none.  Negative times
 * count as 0. */
void drain_plan_estimate(const struct drain_slot *slots, size_t count, bool evict_suspended,
                         int64_t deadline_s, int64_t now_s, struct drain_estimates *ret);

/* ---- what to do next */

/* What to do with a slot. */
enum drain_step {
    DRAIN_STEP_NONE,
    DRAIN_STEP_DRAINED_RETIRING, /* make an Owner or Unclaimed slot Drained/Retiring */
    DRAIN_STEP_DRAINED_IDLE, /* make a Drained/Retiring slot Drained/Idle: all others are as far */
    DRAIN_STEP_RELEASE,      /* end its match, or its claim without a job */
    DRAIN_STEP_RETIRE,       /* its job gets no successor; it is evicted later */
    DRAIN_STEP_VACATE,       /* ask its job to end now; KILL after its vacate time */
    DRAIN_STEP_KILL,
};

/* What the request says, as far as it matters here. */
struct drain_orders {
    enum drain_schedule schedule;
    bool has_start;       /* there is a StartExpr */
    bool evict_suspended; /* evict suspended jobs, so that the estimate holds */
    int64_t deadline_s;   /* 0: none */
};

/* What else follows from a snapshot. */
struct drain_look {
    bool last;      /* START is false now; StartExpr, if any, no longer counts */
    bool complete;  /* every requested slot is Drained/Idle: do what is to follow */
    int64_t next_s; /* call again then even if no slot changes; INT64_MAX: not needed */
};

/* Decides the steps: steps[i] is for slots[i].  All steps of one call belong together.
 * DRAIN_STEP_RETIRE, _RELEASE, _VACATE and _KILL may be repeated in each call; then nothing new is
 * to be done. */
void drain_plan_look(const struct drain_orders *orders, const struct drain_slot *slots,
                     size_t count, int64_t now_s, enum drain_step *steps, struct drain_look *ret);

/* Evaluates CheckExpr (may be NULL) in each of these ads.  Returns 0; DRAIN_CHECK_FALSE, with the
 * Name of the first slot in err where it is not true (also undefined and error); or
 * DRAIN_BAD_REQUEST when it cannot be parsed. */
enum drain_code drain_plan_check(const char *check, const struct ad *const *ads, size_t count,
                                 const struct ad_context *context, struct err *err);

/* For a startd that has just started: returns whether the request in its store still holds.  The
 * startd may have been restarted because of that request. */
bool drain_plan_still_holds(enum drain_phase phase, enum drain_then then, bool same_boot);

/* ---- what draining has cost: TotalDrainingUnclaimedTime, TotalDrainingBadputTime */

/* unclaimed_s is a sum over slots.  It grows by `counting` for each second after counted_s, so the
 * stored value needs no update while nothing changes, and includes the time in which the startd did
 * not run. */
struct drain_totals {
    int64_t unclaimed_s, badput_s;
    int64_t counted_s; /* time up to which unclaimed_s is counted, seconds since 1970 */
    int64_t counting;  /* number of slots whose time counts from then on */
};

/* Returns how many slots' time counts: those that are Unclaimed while draining, or Drained; not
 * Owner, not Claimed/Idle. */
int64_t drain_plan_counting(const struct drain_slot *slots, size_t count, enum drain_phase phase);
/* Counts up to now_s with the old number of slots, then sets the new number.  A clock that was set
 * back does not reduce the sum. */
void drain_totals_count(struct drain_totals *totals, int64_t counting, int64_t now_s);
/* Returns unclaimed_s as of now_s, without changing totals. */
int64_t drain_totals_unclaimed_s(const struct drain_totals *totals, int64_t now_s);
/* Adds a job that was evicted by draining after that much unsuspended run time. */
void drain_totals_evicted(struct drain_totals *totals, int64_t run_s);

/* Set the attributes of estimates and totals in a slot's ad (docs/protocol/drain.md). */
void drain_plan_put_estimates(const struct drain_estimates *estimates, struct ad *ad);
void drain_plan_put_totals(const struct drain_totals *totals, int64_t now_s, struct ad *ad);

#endif
