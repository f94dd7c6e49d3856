/* starter/job/job_end.h - makes sure that no process of the job is left that could write to the
 * job's files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_JOB_END_H
#define STARTER_JOB_JOB_END_H

#include <stdbool.h>

struct os_exit;
struct starter;

/* Kills the processes that are left in the job's cage, then answers all waiting requests to read
 * the job's files (peek.h). */
void job_end_still(struct starter *starter);
/* Called when the job's process, or a script, has ended and the job is to be held: kills the
 * processes that are left and moves the run to STARTER_REPORT. */
void job_end_held(struct starter *starter);
/* Called when a program in the job's cage has ended, before anything else looks at how it ended.
 * Returns true if the machine has ended the program (something killed the keeper of the cage, or
 * the kernel killed the job because the whole machine had no memory left), and nobody had told the
 * run to stop: the run then ends without a result, and the job runs again.  Returns false for a job
 * that had exceeded its own memory limit, which watch_end() holds. */
bool job_end_is_machines(struct starter *starter, const struct os_exit *how);

#endif
