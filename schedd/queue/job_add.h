/* schedd/queue/job_add.h - further jobs of a cluster, and what is looked for in new or changed
 * attributes.
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

/* One job more of a cluster: own (NULL: nothing of its own) is taken; JobStatus 5 in it or in the
 * cluster's ad: held.  One that may not run yet is offered to nobody until queue_left(). */
struct job *job_add(struct change *change, struct cluster *cluster, struct ad *own, bool may_run);

/* Attributes of its cluster or of the job changed, or are new: what others need to know of that. */
void job_look_at(struct schedd *schedd, struct job *job);

#endif
