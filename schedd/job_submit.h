/* schedd/job_submit.h - SUBMIT: a cluster of jobs (docs/protocol/queue.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_SUBMIT_H
#define SCHEDD_JOB_SUBMIT_H

#include <stddef.h>

struct ad;
struct change;
struct cluster;
struct err;
struct schedd;
struct wire_peer;
struct wire_request;

void submit_handle(struct schedd *schedd, struct wire_request *request);

/* One job more of a cluster: own (NULL: nothing of its own) is taken; JobStatus 5 in it or in the
 * cluster's ad: held. */
void submit_add_job(struct change *change, struct cluster *cluster, struct ad *own);

/* The account that a caller's jobs belong to, into ret (OWNER_NAME_MAX + 1 bytes); -EPERM with err
 * for one whom this schedd cannot serve. */
int submit_owner(struct schedd *schedd, const struct wire_peer *peer, char *ret, size_t size,
                 struct err *err);

#endif
