/* shadow/stage/stage.h - receives a run's output into its stage, the directory where it waits for
 * the commit of the result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_STAGE_STAGE_H
#define SHADOW_STAGE_STAGE_H

struct run;
struct wire_request;

/* Handles the starter's FILE_PUT: stores bytes of an output file in the stage.  With the attribute
 * Stream, the bytes go to live_put() instead. */
void stage_put(struct run *run, struct wire_request *request);

#endif
