/* schedd/shadows/job_results.h - what shadows report: started, usage, held, result, placed.
 *
 * docs/protocol/claim.md, sections 5, 6 and 9.  Every report names job and epoch; one of another
 * epoch is refused.  Answers are given after the commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SHADOWS_JOB_RESULTS_H
#define SCHEDD_SHADOWS_JOB_RESULTS_H

struct owner;
struct schedd;
struct wire_request;

/* JOB_STATUS, JOB_RESULT or JOB_PLACED from the shadow of that owner. */
void results_handle(struct schedd *schedd, struct owner *owner, struct wire_request *request);

#endif
