/* shadow/stage/stage_done.h - handles JOB_DONE: makes the stage durable, then asks the schedd to
 * commit the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_STAGE_STAGE_DONE_H
#define SHADOW_STAGE_STAGE_DONE_H

struct run;
struct wire_request;

/* Handles JOB_DONE; the request is answered when the output is placed, or when it is refused. */
void stage_done_handle(struct run *run, struct wire_request *request);

#endif
