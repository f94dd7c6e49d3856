/* schedd/job_act.h - the request ACT: remove, hold, release, vacate, suspend or continue jobs
 * (docs/protocol/queue.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_ACT_H
#define SCHEDD_JOB_ACT_H

struct schedd;
struct wire_request;

/* Handles an ACT request; it is answered when its action was done to all its jobs, after the
 * commit. */
void act_handle(struct schedd *schedd, struct wire_request *request);
/* To be called when the schedd stops: fails the ACT requests that are not answered yet, with
 * -ESHUTDOWN. */
void acts_fini(struct schedd *schedd);

#endif
