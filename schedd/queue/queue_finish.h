/* schedd/queue/queue_finish.h - takes jobs and clusters out of the queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_QUEUE_FINISH_H
#define SCHEDD_QUEUE_QUEUE_FINISH_H

#include "schedd/queue/queue_table.h"

struct change;
struct schedd;

/* Ends the job with this status (STATUS_COMPLETED or STATUS_REMOVED): writes it to the history and
 * takes it out of the queue.  Frees the job, and also its cluster when this was its last job. */
void queue_finish(struct change *change, struct job *job, enum job_status status);

/* Drops the cluster, with its row in the store, if it has no jobs and none will be added; else does
 * nothing. */
void queue_drop_if_empty(struct change *change, struct cluster *cluster);
/* Drops the cluster from memory only; its row stays.  It must have neither jobs nor a factory. */
void queue_drop_cluster(struct schedd *schedd, struct cluster *cluster);

#endif
