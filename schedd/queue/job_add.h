/* schedd/queue/job_add.h - adds a job to a cluster, and tells other parts of the schedd about new
 * or changed attributes of a job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_JOB_ADD_H
#define SCHEDD_QUEUE_JOB_ADD_H

#include <stdbool.h>

struct ad;
struct change;
struct cluster;
struct job;
struct schedd;

/* Adds the next job to the cluster and returns it.  own: the job's own attributes, taken over by
 * the job; NULL when it has none.  With JobStatus 5 in own or in the cluster's ad the job is held
 * at once.  may_run false: the job gets no slot until queue_left() is called for it. */
struct job *job_add(struct change *change, struct cluster *cluster, struct ad *own, bool may_run);

/* To be called when a job is new, or attributes of it or of its cluster changed: tells the parts of
 * the schedd that depend on such attributes (periodic policies, $$(), attributes of machines). */
void job_look_at(struct schedd *schedd, struct job *job);

#endif
