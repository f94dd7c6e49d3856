/* schedd/job_submit.h - SUBMIT: a cluster of jobs (docs/protocol/queue.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_SUBMIT_H
#define SCHEDD_JOB_SUBMIT_H

struct ad;
struct change;
struct cluster;
struct schedd;
struct wire_request;

void submit_handle(struct schedd *schedd, struct wire_request *request);

/* One job more of a cluster: own (NULL: nothing of its own) is taken; JobStatus 5 in it or in the
 * cluster's ad: held. */
void submit_add_job(struct change *change, struct cluster *cluster, struct ad *own);

#endif
