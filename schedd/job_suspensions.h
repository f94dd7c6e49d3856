/* schedd/job_suspensions.h - counts how often and how long a job was suspended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_SUSPENSIONS_H
#define SCHEDD_JOB_SUSPENSIONS_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct job;

/* Adds to the job's ad what a startd reports about the present run (NumSuspensions,
 * LastSuspensionTime, SuspendedSeconds; docs/protocol/claim.md).  Repeated reports are not counted
 * twice. */
void suspensions_note(struct job *job, const struct ad *told);
/* Ends the count for a run that is over.  committed: the run's result counts, so its suspended time
 * goes into CommittedSuspensionTime. */
void suspensions_forget(struct job *job, bool committed);
/* Seconds for which the present run was suspended; 0 after suspensions_forget() */
int64_t suspensions_s(const struct job *job);

#endif
