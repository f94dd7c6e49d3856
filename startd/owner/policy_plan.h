/* startd/owner/policy_plan.h - what the owner's expressions do to a claimed slot.
 *
 * Pure.  SUSPEND, CONTINUE, PREEMPT, WANT_SUSPEND, WANT_VACATE and KILL are HTCondor's and mean
 * what they mean there ("condor_startd policy configuration"):
 *
 *   Claimed/Busy, Retiring  WANT_SUSPEND and SUSPEND      -> Suspended
 *   Claimed/Busy            else PREEMPT                  -> Retiring, then Preempting
 *   Claimed/Suspended       PREEMPT                       -> Retiring, then Preempting
 *   Claimed/Suspended       else CONTINUE                 -> Busy
 *   Claimed/Idle            PREEMPT                       -> the claim ends
 *   Preempting/Vacating     KILL                          -> Killing
 *
 * An expression that is neither true nor false counts as false, except WANT_VACATE: in doubt a job
 * gets the time to save its work.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_OWNER_POLICY_PLAN_H
#define STARTD_OWNER_POLICY_PLAN_H

#include <stdbool.h>

#include "startd/slot/slot_plan.h"

struct ad;
struct ad_context;
struct ad_expr;

enum policy_expr {
    POLICY_SUSPEND,
    POLICY_CONTINUE,
    POLICY_PREEMPT,
    POLICY_WANT_SUSPEND,
    POLICY_WANT_VACATE,
    POLICY_KILL,
    POLICY_EXPRS
};

const char *policy_plan_knob(enum policy_expr expr); /* "SUSPEND" */

/* The policy expressions of one slot, owned; an expression that is NULL counts as false. */
struct policy {
    struct ad_expr *expr[POLICY_EXPRS];
};

enum policy_step {
    POLICY_STAYS, /* nothing to do: the slot keeps its state and activity */
    POLICY_SUSPENDS,
    POLICY_CONTINUES,
    /* end the claim; its job may retire first, as long as MAXJOBRETIREMENTTIME allows */
    POLICY_PREEMPTS,
    POLICY_KILLS, /* kill the job at once */
};

/* Returns the step to take for a slot in this state and activity. job: NULL when the claim has no
 * running job. evicted: PREEMPT was true earlier, and the job is retiring because of that; such a
 * job is not suspended any more. */
enum policy_step policy_plan_step(const struct policy *policy, enum slot_state state,
                                  enum slot_activity activity, bool evicted, const struct ad *slot,
                                  const struct ad *job, const struct ad_context *context);

/* Evaluates WANT_VACATE for a job that must leave: returns true if the job is to be asked to end,
 * false if it is to be killed at once. */
bool policy_plan_vacates(const struct policy *policy, const struct ad *slot, const struct ad *job,
                         const struct ad_context *context);

#endif
