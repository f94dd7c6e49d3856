/* schedd/queue/job_queue.h - the moves of jobs from one phase to the next.
 *
 * A job is in one phase, and JobStatus follows from the phase.  All moves go through queue_move(),
 * which checks them against one table and keeps the counts, the order of the idle jobs and the
 * request ads right.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_JOB_QUEUE_H
#define SCHEDD_QUEUE_JOB_QUEUE_H

#include <stdbool.h>

#include "schedd/queue/queue_table.h"

struct ad;
struct schedd;

/* Moves the job; CHECKs that the table allows it.  Not to JOB_GONE. */
void queue_move(struct schedd *schedd, struct job *job, enum job_phase phase);
/* A startd was told to end a run of the job; ended, at last.  In between the job may be idle, but
 * is offered to nobody: without a network partition no job runs twice at a time. */
void queue_leaves(struct job *job);
void queue_left(struct schedd *schedd, struct job *job);
/* A job in JOB_ACTIVE stands still on its machine, or goes on; it is otherwise now. */
void queue_suspend(struct schedd *schedd, struct job *job, bool suspended);
/* A further job of a cluster: for job_add.c.  own is taken.  A job that may not run yet is offered
 * to nobody until queue_left(). */
struct job *queue_add_job(struct schedd *schedd, struct cluster *cluster, struct ad *own,
                          enum job_phase phase, bool may_run);

#endif
