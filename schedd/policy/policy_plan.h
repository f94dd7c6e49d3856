/* schedd/policy/policy_plan.h - what a job's own policy and that of the site say about it.
 *
 * Pure.  The order and the meaning are HTCondor's (manual, "Automatically managing a job"):
 *
 *   while it runs   AllowedJobDuration, AllowedExecuteDuration (hold), PeriodicVacate
 *   then            TimerRemove; PeriodicHold (not of held jobs); PeriodicRelease (of held jobs,
 *                   unless a user holds them); PeriodicRemove
 *   at its exit     PeriodicHold, then OnExitHold, then OnExitRemove: a number 0 or false puts the
 *                   job back, anything else, undefined too, lets it be over
 *
 * Each PeriodicX of the job comes before SYSTEM_PERIODIC_X of the site.  An expression that is
 * undefined or an error does nothing; but one that takes more steps than an evaluation may (as told
 * by context->work) holds the job, as an undefined one does in HTCondor, with a reason that names
 * it: or it would cost as much again in each round, and hide from the site's rules behind its cost.
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
    char *name;              /* "SYSTEM_PERIODIC_HOLD_memory" */
    struct ad_expr *expr;    /* true: act */
    struct ad_expr *reason;  /* a string; NULL: the default sentence */
    struct ad_expr *subcode; /* a number; NULL: 0 */
};

/* The site's rules, in the order in which they are asked; zero-initialized: none. */
struct policy_system {
    struct vec rules[POLICY_KINDS]; /* struct policy_rule */
};
/* reason and subcode may be NULL or "".  0, or -EINVAL and err naming the rule. */
int policy_system_add(struct policy_system *system, enum policy_kind kind, const char *name,
                      const char *expr, const char *reason, const char *subcode, struct err *err);
bool policy_system_is_empty(const struct policy_system *system);
void policy_system_fini(struct policy_system *system);

enum policy_action {
    POLICY_NONE, /* at its exit: the job is over */
    POLICY_HOLD,
    POLICY_RELEASE,
    POLICY_REMOVE,
    POLICY_VACATE,
    POLICY_REQUEUE /* at its exit: it runs again */
};
struct policy_verdict {
    enum policy_action action;
    int code, subcode; /* of a hold */
    bool costly;       /* an expression crossed its limit: a held job is not to be asked again */
    char reason[1024]; /* a longer one is cut */
};

/* Does this ad, a cluster's or what a job has of its own, have anything that is to be asked from
 * time to time? */
bool policy_plan_matters(const struct ad *ad);

/* job: its ad with JobStatus.  Never POLICY_REQUEUE. */
void policy_plan_periodic(const struct ad *job, const struct policy_system *system,
                          const struct ad_context *context, struct policy_verdict *ret);
/* job: still with the JobStatus of a running job, and with how it ended.  POLICY_NONE, POLICY_HOLD
 * or POLICY_REQUEUE. */
void policy_plan_exit(const struct ad *job, const struct policy_system *system,
                      const struct ad_context *context, struct policy_verdict *ret);
/* Is it a job of which nothing is to be run (IsNoopJob)?  Then how it is to have ended: by *signal
 * unless that is 0, else with *code. */
bool policy_plan_is_noop(const struct ad *job, const struct ad_context *context, int64_t *code,
                         int64_t *signal);
/* The verdict over a job of which such an expression crossed its limit: held, or nothing where it
 * is held or completed.  what: "The job attribute PeriodicHold". */
void policy_plan_too_costly(const struct ad *job, const char *what,
                            const struct ad_context *context, struct policy_verdict *ret);
/* Does LeaveJobInQueue say that this completed job stays? */
bool policy_plan_stays(const struct ad *job, const struct ad_context *context);

#endif
