/* schedd/job_submit.h - SUBMIT: a cluster of jobs (docs/protocol/queue.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_SUBMIT_H
#define SCHEDD_JOB_SUBMIT_H

#include <stddef.h>

struct err;
struct schedd;
struct wire_peer;
struct wire_request;

void submit_handle(struct schedd *schedd, struct wire_request *request);

/* The account that a caller's jobs belong to, into ret (OWNER_NAME_MAX + 1 bytes); -EPERM with err
 * for one whom this schedd cannot serve. */
int submit_owner(struct schedd *schedd, const struct wire_peer *peer, char *ret, size_t size,
                 struct err *err);

#endif
