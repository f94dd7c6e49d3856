/* schedd/shadows/job_results.h - handles the reports of shadows: started, usage, held, result,
 * placed.
 *
 * docs/protocol/claim.md, sections 5, 6 and 9.  Each report names a job and an epoch; a report of
 * another epoch than the job's is refused.  Reports are answered after the commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SHADOWS_JOB_RESULTS_H
#define SCHEDD_SHADOWS_JOB_RESULTS_H

struct owner;
struct schedd;
struct wire_request;

/* Handles JOB_STATUS, JOB_RESULT or JOB_PLACED from the shadow of this owner. */
void results_handle(struct schedd *schedd, struct owner *owner, struct wire_request *request);

#endif
