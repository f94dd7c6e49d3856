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

void submissions_fini(struct schedd *schedd); /* ends those under way with -ESHUTDOWN */

/* After loading: jobs of a submission that an earlier life of the schedd has not ended are removed,
 * before any of them could run. */
void submit_take_back(struct schedd *schedd);

/* One job more of a cluster: own (NULL: nothing of its own) is taken; JobStatus 5 in it or in the
 * cluster's ad: held. */
void submit_add_job(struct change *change, struct cluster *cluster, struct ad *own);

#endif
