/* schedd/policy/job_policy.h - holds, releases, removes, vacates or reruns jobs as their own policy
 * or the site's policy says.
 *
 * In each PERIODIC_EXPR_INTERVAL, the policies of all jobs that have one (of all jobs, if the site
 * has rules) are evaluated once.  This is done in slices of counted work (base/slices.h,
 * AD_SLICE_STEPS), so that neither a long queue nor a costly expression blocks the event loop.  A
 * job with an expression that exceeds its limit of steps is held.  The jobs of one owner together
 * may use MAX_PERIODIC_EXPR_STEPS in a round.  After that, a job of this owner is held, too, if one
 * of its expressions takes more than POLICY_CHEAP_STEPS; the owner's other jobs, and the jobs of
 * other owners, are evaluated as before.
 *
 * The policy about a job's exit is evaluated when its result arrives.  The verdict is kept in the
 * job's row, and is carried out when the output is in its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_POLICY_JOB_POLICY_H
#define SCHEDD_POLICY_JOB_POLICY_H

struct ad;
struct config;
struct change;
struct err;
struct job;
struct schedd;

/* Steps of evaluation that one expression may take when its owner's jobs have used up
 * MAX_PERIODIC_EXPR_STEPS.  An ordinary expression takes some tens of steps. */
#define POLICY_CHEAP_STEPS 2000

/* Prepares the evaluation of policies.  Call before the queue is loaded, and after the settings
 * were read. */
void policies_init(struct schedd *schedd);
void policies_start(struct schedd *schedd); /* plans the first round of evaluating policies */
void policies_fini(struct schedd *schedd);
/* Reads the site's rules from the present configuration.  Returns 0; or -EINVAL with err, and the
 * old rules stay. */
int policies_reload(struct schedd *schedd, struct err *err);
/* Returns 0 if policies_reload() would accept the rules of this configuration; else its error. */
int policies_check(const struct config *config, struct err *err);

/* To be called when a job is new, or attributes of it or of its cluster changed: notes whether the
 * job has a policy. */
void policy_look_at(struct schedd *schedd, struct job *job);
/* To be called when a run has ended, before its result is committed: decides what becomes of the
 * job, and keeps the verdict in its ad. */
void policy_judge_exit(struct schedd *schedd, struct job *job);
/* Replaces the verdict of policy_judge_exit() by a hold, because the run's result reports an
 * error. */
void policy_hold_on_exit(struct job *job, int code, int subcode, const char *reason);
/* To be called when the job's output is in its place: carries out the verdict.  The job completes
 * (then it may be freed), is held, or runs again. */
void policy_act_on_exit(struct change *change, struct job *job);

#endif
