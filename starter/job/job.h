/* starter/job/job.h - the job's process: its start, its stop and its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_JOB_H
#define STARTER_JOB_JOB_H

#include <stdbool.h>

struct starter;

void job_start(struct starter *starter);
void job_tell_started(struct starter *starter);
void job_begun(void *arg); /* the job has lived for STARTER_TELLS_MS: its start is told */
void job_stop(struct starter *starter, bool fast);
void job_freeze(struct starter *starter); /* or lets it go on: as gap and suspended say */
void job_clean(struct starter *starter);
void job_over(struct starter *starter); /* it and what runs after it have ended */

#endif
