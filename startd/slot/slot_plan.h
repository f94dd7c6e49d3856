/* startd/slot/slot_plan.h - what a slot may do: its states, the legal moves, and the judgements
 * about jobs and sleep.
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

/* Is the move in the transition table?  Staying where one is is not a move: false. */
bool slot_plan_may_move(enum slot_state from, enum slot_activity from_activity, enum slot_state to,
                        enum slot_activity to_activity);

bool slot_plan_is_free(enum slot_state state); /* Owner or Unclaimed */

/* Will this slot take this job now?  START (as Requirements of the slot's ad) and the job's
 * Requirements both. 0, or -ENOTSUP with err saying which side refuses and by which expression. */
int slot_plan_accepts(const struct ad *slot, const struct ad *job, const struct ad_context *context,
                      struct err *err);

/* Owner or Unclaimed, for a slot without a claim: Owner when START is false whatever the job (it
 * does not depend on one). */
enum slot_state slot_plan_rest(const struct ad *slot, const struct ad_context *context);

/* One slot's vote on going to sleep: the value of HIBERNATE, 0 for NONE ... 5 for S5.  Numbers
 * count as levels, names as HTCondor's ("NONE" "S1" "STANDBY" "SLEEP" "S2" "S3" "RAM" "MEM"
 * "SUSPEND" "S4" "DISK" "HIBERNATE" "S5" "SHUTDOWN" "OFF"); anything else, undefined and error
 * among it, is 0: in doubt a machine stays up. */
int slot_plan_sleep_vote(const struct ad_expr *hibernate, const struct ad *slot,
                         const struct ad_context *context);
/* The machine's level: 0 if any vote is 0 (a veto) or there are none, else the deepest. */
int slot_plan_sleep_level(const int *votes, size_t count);
int slot_plan_level_of(const char *name);    /* as above; 0: NONE, or it is none */
const char *slot_plan_level_name(int level); /* "NONE" "S1" ... "S5" */

#define SLOT_SECONDS_MAX ((int64_t)365 * 24 * 3600)

/* How long a job that has run for run_s seconds may still retire: MaxJobRetirementTime of the slot,
 * or the job's own where that is less, less run_s; never negative.  What is no number is 0 of the
 * slot's, no wish of the job's. */
int64_t slot_plan_retirement_s(const struct ad *slot, const struct ad *job, int64_t run_s,
                               const struct ad_context *context);
/* How long it has between the soft signal and being killed: MachineMaxVacateTime of the slot, or
 * JobMaxVacateTime where that is less. */
int64_t slot_plan_vacate_s(const struct ad *slot, const struct ad *job,
                           const struct ad_context *context);
/* A machine's Rank of the new job above that of the running one preempts; an equal one only by the
 * negotiator's word about the users' priorities. */
bool slot_plan_may_preempt(double rank, double current_rank, bool by_priority);

/* A claim's lease ends this long after the renewal that was answered was sent. */
bool slot_plan_lease_is_over(uint64_t now_ms, uint64_t lease_end_ms);

/* "12.3": digits, a dot, digits, at most 19 each.  It becomes part of a path. */
bool slot_plan_is_job_id(const char *text);

#endif
