/* starter/job/job.h - the job's process: its start, its stop and its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_JOB_H
#define STARTER_JOB_JOB_H

#include <stdbool.h>

struct starter;

/* Takes the next step towards starting the job's process: fetch inputs that are URLs, wait for
 * DeferralTime, unpack a checkpoint, run the scripts before the job, start the job.  Called again
 * after each step. */
void job_start(struct starter *starter);
/* Tells the shadow that the job runs, unless the shadow knows that already or is not connected. */
void job_tell_started(struct starter *starter);
/* Callback of TIMER_BEGUN: the job has run for 50 ms; reports its start to the shadow. arg: the
 * struct starter. */
void job_begun(void *arg);
/* Stops the job: kills it if `fast`; otherwise sends its soft signal, and sets TIMER_KILL for the
 * end of its grace time.  Does nothing if the job does not run. */
void job_stop(struct starter *starter, bool fast);
/* Freezes the job if the machine was suspended and the claim not renewed since (run.process.gap),
 * or if the startd suspended the job (run.process.suspended); else lets the job continue. */
void job_freeze(struct starter *starter);
/* Kills the processes that are left of the job, and empties the run's directory for the next run or
 * removes it. */
void job_clean(struct starter *starter);
/* Called when the job and the scripts after it have ended: sends output to URLs (and is called
 * again after each upload), makes the list of output files and enters STARTER_OUTPUT. */
void job_over(struct starter *starter);

#endif
