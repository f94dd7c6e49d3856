/* drain/drain_plan.h - what draining does next with each slot, what it costs, and what it cost.
 *
 * Pure: the startd gives a snapshot of its slots, carries the steps out, and asks again whenever a
 * slot has moved, and at next_s.  Nothing is remembered between two looks but the phase, so that a
 * startd that was killed in mid-drain goes on from what it finds: the same snapshot means the same
 * steps.
 *
 * Source: the seed document "Whole Machine Draining".  As it says:
 *   - no suspension is foreseen, eviction takes no time, a job runs for all of its promised
 *     retirement and is then evicted; badput is run time, not multiplied by CPUs;
 *   - each job has its own retirement time, not the longest of the machine (HTCondor's way).
 * Where it is silent: QUICK has HTCondor's meaning and HTCondor's estimate (which foresees the
 * time to vacate); a job that began under StartExpr was promised nothing, and goes when the last
 * one of before has gone.
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

enum drain_phase {
    DRAIN_NONE,
    DRAIN_OFFERED,  /* the requester has the estimates; the slots stand still until it has said */
    DRAIN_ACTIVE,   /* START is false, slots become Drained/Retiring one by one */
    DRAIN_COMPLETE, /* all requested slots are Drained/Idle */
};

const char *drain_phase_name(enum drain_phase phase);
/* Is it in the table of moves?  Staying is none. */
bool drain_plan_may_move(enum drain_phase from, enum drain_phase to);

enum drain_place { /* where a slot is, as far as draining cares */
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

struct drain_slot {
    enum drain_place place;
    bool requested;       /* of this request: drain_request_names() */
    bool accepted;        /* its claim came while draining, under StartExpr */
    int64_t run_s;        /* of its job, unsuspended, this run */
    int64_t retirement_s; /* that its job still has, unsuspended */
    int64_t vacate_s;     /* that it may take between the soft signal and KILL */
    int64_t saved_s;      /* of run_s: kept by its last checkpoint; 0: none */
    bool keeps_output;    /* asked to end, what it has made is kept for its next run */
};

/* ---- what it would cost */

struct drain_cost {
    int64_t completion_s; /* seconds since 1970 */
    int64_t badput_s;
    int64_t unsaved_s; /* of badput_s: what neither a checkpoint keeps nor the eviction itself */
};

struct drain_estimates {
    struct drain_cost graceful, quick, fast;
};

/* For draining that begins at now_s, over the requested of slots[0..count).  evict_suspended: the
 * policy (DRAINING_EVICTS_SUSPENDED); deadline_s: of the request, 0 none.  Negative times count as
 * 0. */
void drain_plan_estimate(const struct drain_slot *slots, size_t count, bool evict_suspended,
                         int64_t deadline_s, int64_t now_s, struct drain_estimates *ret);

/* ---- what is next */

enum drain_step {
    DRAIN_STEP_NONE,
    DRAIN_STEP_DRAINED_RETIRING, /* Owner, Unclaimed */
    DRAIN_STEP_DRAINED_IDLE,     /* Drained/Retiring, and all others are that far */
    DRAIN_STEP_RELEASE,          /* a match or a claim without a job: over */
    DRAIN_STEP_RETIRE,           /* its job takes no successor; it is evicted later */
    DRAIN_STEP_VACATE,           /* asked to end now, KILL after its vacate time */
    DRAIN_STEP_KILL,
};

struct drain_orders {
    enum drain_schedule schedule;
    bool has_start;       /* StartExpr is there */
    bool evict_suspended; /* suspended jobs are evicted, so that the estimate holds */
    int64_t deadline_s;   /* 0: none */
};

struct drain_look {
    bool last;      /* START is false: StartExpr, if any, counts no more */
    bool complete;  /* every requested slot is Drained/Idle: it is time for what comes then */
    int64_t next_s; /* look again then even if nothing moves; INT64_MAX: no need */
};

/* steps[i] is for slots[i].  The steps of one look are taken together; DRAIN_STEP_RETIRE,
 * _RELEASE, _VACATE and _KILL may be given again at each look and mean nothing new then. */
void drain_plan_look(const struct drain_orders *orders, const struct drain_slot *slots,
                     size_t count, int64_t now_s, enum drain_step *steps, struct drain_look *ret);

/* CheckExpr, which may be NULL, in each of those ads: 0, or DRAIN_CHECK_FALSE with err naming the
 * first slot (its Name) where it is not true, undefined and error among that; DRAIN_BAD_REQUEST
 * where it does not parse. */
enum drain_code drain_plan_check(const char *check, const struct ad *const *ads, size_t count,
                                 const struct ad_context *context, struct err *err);

/* After a startd's start: does the request that it finds in its store still hold?  What was to be
 * done at the end may have been the cause of this very start. */
bool drain_plan_still_holds(enum drain_phase phase, enum drain_then then, bool same_boot);

/* ---- what it has cost: TotalDrainingUnclaimedTime, TotalDrainingBadputTime */

/* unclaimed_s is a sum over slots.  It grows by `counting` for each second from counted_s on, so
 * that what is on disk needs no renewal while nothing changes: a startd that was away counts on. */
struct drain_totals {
    int64_t unclaimed_s, badput_s;
    int64_t counted_s; /* up to when unclaimed_s is; seconds since 1970 */
    int64_t counting;  /* slots whose time counts since */
};

/* How many slots' time counts: Unclaimed while draining, and Drained.  Not Owner, not
 * Claimed/Idle. */
int64_t drain_plan_counting(const struct drain_slot *slots, size_t count, enum drain_phase phase);
/* Counts up to now_s, with the number of slots until now, then goes on with counting.  A clock that
 * was set back takes nothing away. */
void drain_totals_count(struct drain_totals *totals, int64_t counting, int64_t now_s);
/* As of now_s, without changing them. */
int64_t drain_totals_unclaimed_s(const struct drain_totals *totals, int64_t now_s);
/* A job was evicted because of draining, after so much unsuspended run time. */
void drain_totals_evicted(struct drain_totals *totals, int64_t run_s);

/* Sets the seed's attributes, and ours, in a slot's ad (docs/protocol/drain.md). */
void drain_plan_put_estimates(const struct drain_estimates *estimates, struct ad *ad);
void drain_plan_put_totals(const struct drain_totals *totals, int64_t now_s, struct ad *ad);

#endif
