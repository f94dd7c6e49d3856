/* shadow/stage/stage_done.h - JOB_DONE: the stage is made durable, then the schedd is asked to
 * commit it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_STAGE_STAGE_DONE_H
#define SHADOW_STAGE_STAGE_DONE_H

struct run;
struct wire_request;

void stage_done_handle(struct run *run, struct wire_request *request);

#endif
