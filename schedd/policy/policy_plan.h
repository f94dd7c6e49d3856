/* schedd/policy/policy_plan.h - evaluates a job's own policy and the policy of the site.
 *
 * Pure.  Order and meaning are HTCondor's (manual, "Automatically managing a job"):
 *
 *   while it runs   AllowedJobDuration, AllowedExecuteDuration (hold), PeriodicVacate
 *   then            TimerRemove; PeriodicHold (not of held jobs); PeriodicRelease (of held jobs,
 *                   unless a user holds them); PeriodicRemove
 *   at its exit     PeriodicHold, then OnExitHold, then OnExitRemove: false or the number 0 puts
 * the job back into the queue; any other value, also undefined, ends the job
 *
 * Each PeriodicX of the job is evaluated before SYSTEM_PERIODIC_X of the site.  An expression that
 * is undefined or an error does nothing.  But an expression that exceeds its limit of steps
 * (struct ad_work, which the context of the call points to) holds the job, with a reason that names
 * the expression.  Otherwise the expression would cost as much again in each round, and the site's
 * rules would never be reached.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_POLICY_POLICY_PLAN_H
#define SCHEDD_POLICY_POLICY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct ad;
struct ad_context;
struct ad_expr;
struct err;

enum policy_kind { POLICY_OF_HOLD, POLICY_OF_RELEASE, POLICY_OF_REMOVE, POLICY_OF_VACATE };
#define POLICY_KINDS 4

struct policy_rule {
    char *name;           /* name of the rule: "SYSTEM_PERIODIC_HOLD_memory" */
    struct ad_expr *expr; /* the rule acts on a job for which this is true */
    /* the value of this expression, a string, is the reason of the action; NULL: use a default
     * sentence */
    struct ad_expr *reason;
    /* the value of this expression, a number, is the subcode of the action; NULL: subcode 0 */
    struct ad_expr *subcode;
};

/* The site's rules, in the order of their evaluation.  A zero-initialized struct has no
 * rules. */
struct policy_system {
    struct vec rules[POLICY_KINDS]; /* one list of struct policy_rule for each kind */
};
/* Parses a rule and adds it.  reason and subcode may be NULL or "".  A rule whose expr is a literal
 * other than true would never act, and is not added.  Returns 0; or -EINVAL, with err naming the
 * rule, when expr, reason or subcode is not a valid expression. */
int policy_system_add(struct policy_system *system, enum policy_kind kind, const char *name,
                      const char *expr, const char *reason, const char *subcode, struct err *err);
bool policy_system_is_empty(const struct policy_system *system); /* true: there are no rules */
void policy_system_fini(struct policy_system *system);           /* frees the rules */

enum policy_action {
    POLICY_NONE, /* no policy applies; at the job's exit: the job completes */
    POLICY_HOLD,
    POLICY_RELEASE,
    POLICY_REMOVE,
    POLICY_VACATE,
    POLICY_REQUEUE /* only at the job's exit: the job runs again */
};
struct policy_verdict {
    enum policy_action action;
    int code, subcode; /* HoldReasonCode and HoldReasonSubCode, for a hold */
    /* An expression took too many steps.  While the job is held or completed, the caller must
     * not evaluate the job's policies again. */
    bool costly;
    char reason[1024]; /* a longer reason is cut */
};

/* Returns true when this ad (a cluster's, or a job's own; may be NULL) has an attribute that must
 * be evaluated from time to time. */
bool policy_plan_matters(const struct ad *ad);

/* Evaluates the periodic policies.  job: the job's whole ad, with JobStatus.  The verdict is never
 * POLICY_REQUEUE. */
void policy_plan_periodic(const struct ad *job, const struct policy_system *system,
                          const struct ad_context *context, struct policy_verdict *ret);
/* Evaluates the policies at the exit of a run.  job: the whole ad, with JobStatus of a running job
 * and with the attributes about the exit.  The verdict is POLICY_NONE, POLICY_HOLD or
 * POLICY_REQUEUE. */
void policy_plan_exit(const struct ad *job, const struct policy_system *system,
                      const struct ad_context *context, struct policy_verdict *ret);
/* Returns true for a job that is not to be run (IsNoopJob).  Then *signal and *code say how it is
 * to end: by the signal, or, when *signal is 0, with the exit code. */
bool policy_plan_is_noop(const struct ad *job, const struct ad_context *context, int64_t *code,
                         int64_t *signal);
/* Fills *ret for a job with an expression that exceeded its limit of steps: POLICY_HOLD, or
 * POLICY_NONE when the job is held or completed.  what: names the expression in the reason, as in
 * "The job attribute PeriodicHold". */
void policy_plan_too_costly(const struct ad *job, const char *what,
                            const struct ad_context *context, struct policy_verdict *ret);
/* Returns whether LeaveJobInQueue keeps this completed job in the queue. */
bool policy_plan_stays(const struct ad *job, const struct ad_context *context);

#endif
