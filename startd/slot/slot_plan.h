/* startd/slot/slot_plan.h - what a slot may do: its states, its legal moves, and decisions about
 * jobs and sleep.
 *
 * Pure: ads, times and configuration texts come in.  States and activities are HTCondor's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOT_PLAN_H
#define STARTD_SLOT_SLOT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_context;
struct ad_expr;
struct err;

enum slot_state {
    SLOT_OWNER,
    SLOT_UNCLAIMED,
    SLOT_MATCHED,
    SLOT_CLAIMED,
    SLOT_PREEMPTING,
    SLOT_DRAINED,
};

enum slot_activity {
    SLOT_IDLE,
    SLOT_BUSY,
    SLOT_SUSPENDED,
    SLOT_RETIRING,
    SLOT_VACATING,
    SLOT_KILLING,
};

const char *slot_state_name(enum slot_state state);          /* "Unclaimed" */
const char *slot_activity_name(enum slot_activity activity); /* "Idle" */

/* Returns whether the move is in the transition table.  False if nothing would change. */
bool slot_plan_may_move(enum slot_state from, enum slot_activity from_activity, enum slot_state to,
                        enum slot_activity to_activity);

bool slot_plan_is_free(enum slot_state state); /* Owner or Unclaimed */

/* Decides whether this slot takes this job now: START (Requirements of the slot's ad) and the job's
 * Requirements must both be true.  0, or -ENOTSUP with err saying which side refuses, and by which
 * expression. */
int slot_plan_accepts(const struct ad *slot, const struct ad *job, const struct ad_context *context,
                      struct err *err);

/* Returns the state of a slot without a claim, Owner or Unclaimed: Owner if START is false for any
 * job. */
enum slot_state slot_plan_rest(const struct ad *slot, const struct ad_context *context);

/* Returns one slot's vote on going to sleep: the value of HIBERNATE, 0 for NONE ... 5 for S5.
 * Numbers are levels, names are HTCondor's ("NONE" "S1" "STANDBY" "SLEEP" "S2" "S3" "RAM" "MEM"
 * "SUSPEND" "S4" "DISK" "HIBERNATE" "S5" "SHUTDOWN" "OFF").  Anything else, undefined and error
 * included, is 0: in doubt a machine stays up. */
int slot_plan_sleep_vote(const struct ad_expr *hibernate, const struct ad *slot,
                         const struct ad_context *context);
/* Returns the machine's level: 0 if any vote is 0 or there is none, else the deepest. */
int slot_plan_sleep_level(const int *votes, size_t count);
int slot_plan_level_of(const char *name);    /* level of such a name; 0: NONE, or unknown */
const char *slot_plan_level_name(int level); /* "NONE" "S1" ... "S5" */

#define SLOT_SECONDS_MAX ((int64_t)365 * 24 * 3600)

/* Returns how long a job that has run for run_s seconds may still retire: MaxJobRetirementTime of
 * the slot, or the job's own if that is less, less run_s; never negative.  A value that is not a
 * number is 0 for the slot, and ignored for the job. */
int64_t slot_plan_retirement_s(const struct ad *slot, const struct ad *job, int64_t run_s,
                               const struct ad_context *context);
/* Returns the seconds between the soft signal and KILL: MachineMaxVacateTime of the slot, or
 * JobMaxVacateTime if that is less. */
int64_t slot_plan_vacate_s(const struct ad *slot, const struct ad *job,
                           const struct ad_context *context);
/* Returns whether a new job may preempt the running one: if the machine's Rank of the new job is
 * higher; or, by_priority, if it is equal and the negotiator says that the user's priority is
 * better. */
bool slot_plan_may_preempt(double rank, double current_rank, bool by_priority);

/* A claim's lease ends at a fixed time after the renewal that was answered had been sent. */
bool slot_plan_lease_is_over(uint64_t now_ms, uint64_t lease_end_ms);

/* Returns whether text is "12.3": digits, a dot, digits, at most 19 each.  It becomes part of a
 * path. */
bool slot_plan_is_job_id(const char *text);

#endif
