/* schedd/submission/job_submit.h - the request SUBMIT: adds a cluster of jobs
 * (docs/protocol/queue.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_JOB_SUBMIT_H
#define SCHEDD_SUBMISSION_JOB_SUBMIT_H

struct schedd;
struct wire_request;

/* Handles a SUBMIT request; it is answered when all its jobs are durable. */
void submit_handle(struct schedd *schedd, struct wire_request *request);

/* To be called when the schedd stops: fails the SUBMIT requests that are not answered yet, with
 * -ESHUTDOWN. */
void submissions_fini(struct schedd *schedd);

/* To be called once after the queue was loaded: removes the jobs of submissions that had not
 * finished when the schedd ended, before any of them can run. */
void submit_take_back(struct schedd *schedd);

#endif
