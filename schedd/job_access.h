/* schedd/job_access.h - the request JOB_ACCESS: lets a client look into a running job, or move the
 * job's spooled files.
 *
 * The schedd only checks the client's rights and issues a ticket, which it announces to the owner's
 * shadow.  The data then goes directly between the client and that shadow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_ACCESS_H
#define SCHEDD_JOB_ACCESS_H

struct schedd;
struct wire_request;

/* Answers a JOB_ACCESS request (docs/protocol/access.md), later if the shadow has to be started
 * first. */
void access_handle(struct schedd *schedd, struct wire_request *request);

#endif
