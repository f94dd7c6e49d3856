/* schedd/submission/job_submit.h - SUBMIT: a cluster of jobs (docs/protocol/queue.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_JOB_SUBMIT_H
#define SCHEDD_SUBMISSION_JOB_SUBMIT_H

struct schedd;
struct wire_request;

void submit_handle(struct schedd *schedd, struct wire_request *request);

void submissions_fini(struct schedd *schedd); /* ends those under way with -ESHUTDOWN */

/* After loading: jobs of a submission that an earlier life of the schedd has not ended are removed,
 * before any of them could run. */
void submit_take_back(struct schedd *schedd);

#endif
