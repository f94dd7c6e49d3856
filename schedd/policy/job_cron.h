/* schedd/policy/job_cron.h - sets DeferralTime of jobs with cron_minute, cron_hour, ... to the next
 * of their times.
 *
 * It is set whenever such a job becomes idle and has no DeferralTime, or one whose window has
 * passed.  It is not made durable by itself, because it can be computed again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_POLICY_JOB_CRON_H
#define SCHEDD_POLICY_JOB_CRON_H

#include <stdbool.h>

struct err;
struct job;
struct schedd;

/* Sets DeferralTime to the job's next time if it has none, or one whose DeferralWindow has passed.
 * Returns 1 when DeferralTime was set; 0 when it stays, or the job has none of cron_minute,
 * cron_hour, ...; -EINVAL, with err, when the job's times are malformed or never come. */
int cron_refresh(struct schedd *schedd, struct job *job, struct err *err);
/* To be called when a run has ended: the next cron_refresh() looks for a later time. */
void cron_ran(struct job *job);

#endif
