/* schedd/policy/job_policy.h - jobs are held, released, removed, vacated or run again because a
 * policy says so.
 *
 * Each PERIODIC_EXPR_INTERVAL all jobs that have a policy (all jobs, if the site has rules) are
 * asked, in slices of counted work (base/slices.h, AD_SLICE_STEPS), so that a queue of any length
 * and expressions of any cost never hold up the loop.  A job of which an expression crosses its
 * limit is held.  An owner's jobs together may take MAX_PERIODIC_EXPR_STEPS in a round; then those
 * whose expressions take more than POLICY_CHEAP_STEPS each are held, too: the others', and the
 * owner's ordinary jobs, are asked as ever.
 * At a job's exit the verdict is found with the result and kept in its row until the output is in
 * its place; then it is acted on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_POLICY_JOB_POLICY_H
#define SCHEDD_POLICY_JOB_POLICY_H

struct ad;
struct change;
struct err;
struct job;
struct schedd;

#define POLICY_CHEAP_STEPS 2000 /* of an expression: an ordinary one takes some tens */

void policies_init(struct schedd *schedd); /* before the queue is loaded; the settings are read */
void policies_start(struct schedd *schedd);
void policies_fini(struct schedd *schedd);
/* The site's rules as the configuration has them now: 0, or -EINVAL with err and the old ones kept.
 */
int policies_reload(struct schedd *schedd, struct err *err);

/* Attributes of its cluster or of the job changed, or are new. */
void policy_look_at(struct schedd *schedd, struct job *job);
/* The run ended and its result is about to be committed: finds the verdict, keeps it in the ad. */
void policy_judge_exit(struct schedd *schedd, struct job *job);
/* Instead of that verdict: the run's own fault, told with its result. */
void policy_hold_on_exit(struct job *job, int code, int subcode, const char *reason);
/* Its output is in its place: the job is over, stays as completed, is held, or runs again. */
void policy_act_on_exit(struct change *change, struct job *job);

#endif
