/* starter/job/job.h - the job's process: its start, its stop and its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_JOB_H
#define STARTER_JOB_JOB_H

#include <stdbool.h>

struct starter;

/* Takes the next step towards the job's process: fetch URLs, wait for its time, unpack a
 * checkpoint, run the scripts before it, start it.  Called again after each step. */
void job_start(struct starter *starter);
/* Tells the shadow that the job runs, unless it knows or is not connected. */
void job_tell_started(struct starter *starter);
/* Callback of TIMER_BEGUN: the job has run for STARTER_TELLS_MS, so its start is reported. */
void job_begun(void *arg);
/* Stops the job: kills it (fast), or asks it to end and sets TIMER_KILL for the end of its grace
 * time.  Nothing if it does not run. */
void job_stop(struct starter *starter, bool fast);
/* Freezes the job or lets it continue, as process.gap and process.suspended say. */
void job_freeze(struct starter *starter);
/* Kills what is left of the job, and empties its directory for the next run or removes it. */
void job_clean(struct starter *starter);
/* Called when the job and the scripts after it have ended: sends output to URLs, collects the
 * output files and enters STARTER_OUTPUT. */
void job_over(struct starter *starter);

#endif
