/* shadow/stage/stage.h - a run's output, received into its stage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_STAGE_STAGE_H
#define SHADOW_STAGE_STAGE_H

struct run;
struct wire_request;

void stage_put(struct run *run, struct wire_request *request); /* FILE_PUT */

#endif
