/* starter/job/job_end.h - the moment from which nothing of the job is left that could write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_JOB_END_H
#define STARTER_JOB_JOB_END_H

struct starter;

/* Ends what is left in the cage; who looks at the job's files gets what there is. */
void job_end_still(struct starter *starter);
/* The cage's last process has ended, and there is a hold: the run ends with that report. */
void job_end_held(struct starter *starter);

#endif
