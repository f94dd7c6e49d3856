/* schedd/queue/job_queue.h - moves jobs from one phase to the next.
 *
 * A job is in one phase at a time, and its JobStatus follows from the phase.  All moves go through
 * queue_move(), which checks them against one table, and updates the counts of jobs, the order of
 * the idle jobs, and the request ads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_JOB_QUEUE_H
#define SCHEDD_QUEUE_JOB_QUEUE_H

#include <stdbool.h>

#include "schedd/queue/queue_table.h"

struct ad;
struct schedd;

/* Moves the job to the phase; aborts the process if no job may move there from its present phase.
 * For JOB_GONE use queue_finish(). */
void queue_move(struct schedd *schedd, struct job *job, enum job_phase phase);
/* queue_leaves() notes that a startd was told to end a run of the job, queue_left() that this run
 * has ended.  Between the two the job may be idle, but gets no slot: unless the network is split,
 * no job runs twice at the same time. */
void queue_leaves(struct job *job);
void queue_left(struct schedd *schedd, struct job *job);
/* Notes that a job in JOB_ACTIVE was suspended on its machine (suspended: true), or continues
 * (false).  Aborts the process if this was noted already. */
void queue_suspend(struct schedd *schedd, struct job *job, bool suspended);
/* Adds a job to the cluster and returns it, for job_add.c only.  own is taken over.  may_run false:
 * the job gets no slot until queue_left() is called for it. */
struct job *queue_add_job(struct schedd *schedd, struct cluster *cluster, struct ad *own,
                          enum job_phase phase, bool may_run);

#endif
