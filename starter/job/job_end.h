/* starter/job/job_end.h - makes sure that nothing of the job is left that could write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_JOB_END_H
#define STARTER_JOB_JOB_END_H

struct starter;

/* Kills what is left in the job's cage, then answers those who read the job's files with what there
 * is. */
void job_end_still(struct starter *starter);
/* Called when the cage's last process has ended and the job is to be held: moves the run to
 * STARTER_REPORT. */
void job_end_held(struct starter *starter);

#endif
