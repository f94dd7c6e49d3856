/* schedd/queue/queue_finish.h - jobs and clusters leave the queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_QUEUE_FINISH_H
#define SCHEDD_QUEUE_QUEUE_FINISH_H

#include "schedd/queue/queue_table.h"

struct change;
struct schedd;

/* The job is over with JobStatus status: into the history, out of the queue.  Frees job, and its
 * cluster when it was the last. */
void queue_finish(struct change *change, struct job *job, enum job_status status);

/* A cluster without jobs is dropped, rows included. */
void queue_drop_if_empty(struct change *change, struct cluster *cluster);
/* It has neither jobs nor a factory; its row is left alone. */
void queue_drop_cluster(struct schedd *schedd, struct cluster *cluster);

#endif
