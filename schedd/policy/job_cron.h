/* schedd/policy/job_cron.h - DeferralTime of jobs with cron_minute and its kin: the next of their
 * times.
 *
 * Set whenever such a job becomes idle and has none, or one whose window is over; not made durable
 * by itself, because it can be reckoned again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_POLICY_JOB_CRON_H
#define SCHEDD_POLICY_JOB_CRON_H

#include <stdbool.h>

struct err;
struct job;
struct schedd;

/* 1: DeferralTime is another now; 0: it stays, or the job has no such times; -EINVAL: they are no
 * times, err says which. */
int cron_refresh(struct schedd *schedd, struct job *job, struct err *err);
/* The run of this time is over: the next refresh looks for a later one. */
void cron_ran(struct job *job);

#endif
