/* schedd/submission/job_dollar.h - jobs with $$() in them get what it is on their slot
 * (dollar_plan.h).
 *
 * Expanded when a claim gets the job, in the same transaction, into MATCH_EXP_ attributes of the
 * job: shadow and startd see the expanded ad, after a restart, too; the queue shows both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_JOB_DOLLAR_H
#define SCHEDD_SUBMISSION_JOB_DOLLAR_H

struct ad;
struct err;
struct job;
struct schedd;

/* Attributes of its cluster or of the job changed, or are new. */
void dollar_look_at(struct schedd *schedd, struct job *job);
/* Sets what is expanded in the job's own ad; slot is NULL when its ad is not known.  0; -EINVAL:
 * the job's fault; -ENODATA: the slot's ad is needed. */
int dollar_expand(struct schedd *schedd, struct job *job, const struct ad *slot, struct err *err);
/* The job's whole ad as it is to run, flat; owned by the caller. */
struct ad *job_run_ad(const struct schedd *schedd, const struct job *job);

#endif
