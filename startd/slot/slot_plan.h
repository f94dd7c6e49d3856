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

/* returns the state's name, such as "Unclaimed" */
const char *slot_state_name(enum slot_state state);
/* returns the activity's name, such as "Idle" */
const char *slot_activity_name(enum slot_activity activity);

/* Returns whether a slot may move from one state and activity to another.  Returns false if both
 * are equal. */
bool slot_plan_may_move(enum slot_state from, enum slot_activity from_activity, enum slot_state to,
                        enum slot_activity to_activity);

bool slot_plan_is_free(enum slot_state state); /* whether the state is Owner or Unclaimed */

/* Decides whether this slot takes this job now: START (Requirements of the slot's ad) and the job's
 * Requirements must both be true.  Returns 0; or -ENOTSUP with err saying whether the slot or the
 * job refuses, and by which expression. */
int slot_plan_accepts(const struct ad *slot, const struct ad *job, const struct ad_context *context,
                      struct err *err);

/* Returns the state that a slot without a claim must have: Owner if START is false whatever the
 * job, else Unclaimed. */
enum slot_state slot_plan_rest(const struct ad *slot, const struct ad_context *context);

/* Returns one slot's vote on going to sleep, the value of HIBERNATE: 0 (stay up), or 1 to 5 for the
 * levels S1 to S5.  HIBERNATE may be that number or one of HTCondor's names ("NONE" "S1" "STANDBY"
 * "SLEEP" "S2" "S3" "RAM" "MEM" "SUSPEND" "S4" "DISK" "HIBERNATE" "S5" "SHUTDOWN" "OFF").  Any
 * other value, error included, gives 0: in doubt a machine stays up; and undefined gives
 * SLOT_PLAN_UNDECIDED, because what the expression needs may still become known. */
#define SLOT_PLAN_UNDECIDED (-1)
int slot_plan_sleep_vote(const struct ad_expr *hibernate, const struct ad *slot,
                         const struct ad_context *context);
/* Returns the level of sleep for the machine from its slots' votes: 0 if any vote is 0 or count is
 * 0, else the greatest vote. */
int slot_plan_sleep_level(const int *votes, size_t count);
/* returns 1 to 5 for a name of a level of sleep; 0: "NONE" or unknown */
int slot_plan_level_of(const char *name);
const char *slot_plan_level_name(int level); /* returns "NONE" for 0, "S1" to "S5" for 1 to 5 */

#define SLOT_SECONDS_MAX ((int64_t)365 * 24 * 3600)

/* Returns for how many more seconds a job that has run for run_s seconds may retire:
 * MaxJobRetirementTime of the slot, or the job's own if that is less, minus run_s, and at least 0.
 * A MaxJobRetirementTime that is not a number counts as 0 in the slot's ad and is ignored in the
 * job's. */
int64_t slot_plan_retirement_s(const struct ad *slot, const struct ad *job, int64_t run_s,
                               const struct ad_context *context);
/* Returns the seconds between the soft signal and KILL: MachineMaxVacateTime of the slot, or the
 * job's JobMaxVacateTime if that is less. */
int64_t slot_plan_vacate_s(const struct ad *slot, const struct ad *job,
                           const struct ad_context *context);
/* Returns whether a new job may preempt the running one: if `rank`, the machine's Rank of the new
 * job, is higher than current_rank, that of the running job; or if both are equal and by_priority
 * is true (the negotiator says that the new job's user has a better priority). */
bool slot_plan_may_preempt(double rank, double current_rank, bool by_priority);

/* Returns whether a claim's lease is over at now_ms. */
bool slot_plan_lease_is_over(uint64_t now_ms, uint64_t lease_end_ms);

/* Returns whether text is a job id like "12.3": 1 to 19 digits, a dot, 1 to 19 digits.  Must be
 * checked because the id becomes part of a path. */
bool slot_plan_is_job_id(const char *text);

#endif
