/* schedd/job_suspensions.h - how often and how long a job stood still.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_SUSPENSIONS_H
#define SCHEDD_JOB_SUSPENSIONS_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct job;

/* Into the job's ad: what a startd says of the run (NumSuspensions, LastSuspensionTime,
 * SuspendedSeconds; docs/protocol/claim.md). */
void suspensions_note(struct job *job, const struct ad *told);
/* A run is over; committed: its result counts. */
void suspensions_forget(struct job *job, bool committed);
int64_t suspensions_s(const struct job *job); /* in the run at hand, or the last one */

#endif
