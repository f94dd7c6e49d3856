/* schedd/job_access.h - JOB_ACCESS: who may look into a running job, or move its spooled files.
 *
 * The bytes go between the client and the owner's shadow, which is let know by a ticket; none of
 * them come by here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_ACCESS_H
#define SCHEDD_JOB_ACCESS_H

struct schedd;
struct wire_request;

void access_handle(struct schedd *schedd, struct wire_request *request);

#endif
