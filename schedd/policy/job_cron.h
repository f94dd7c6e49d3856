/* schedd/policy/job_cron.h - sets DeferralTime of jobs with cron_minute, cron_hour, ... to the next
 * of their times.
 *
 * DeferralTime is set whenever such a job becomes idle and has no DeferralTime, or a DeferralTime
 * that is more than DeferralWindow seconds ago.  The new DeferralTime is not committed by itself,
 * because the schedd can compute it again.
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
/* To be called when a run has ended: clears the job's DeferralTime, so that the next cron_refresh()
 * sets the job's next time after the present moment. */
void cron_ran(struct job *job);

#endif
