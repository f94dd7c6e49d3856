/* schedd/job_edit.h - the request EDIT: changes attributes of jobs in the queue
 * (docs/protocol/queue.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_EDIT_H
#define SCHEDD_JOB_EDIT_H

struct schedd;
struct wire_request;

/* Handles an EDIT request; it is answered when all its jobs are changed, after the commit. */
void edit_handle(struct schedd *schedd, struct wire_request *request);
/* To be called when the schedd stops: fails the EDIT requests that are not answered yet, with
 * -ESHUTDOWN. */
void edits_fini(struct schedd *schedd);

#endif
