/* shadow/ckpt/checkpoint.h - checkpoints of a run: calls of its starter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CHECKPOINT_H
#define SHADOW_CKPT_CHECKPOINT_H

struct run;
struct wire_request;

void checkpoint_handle(struct run *run, struct wire_request *request); /* CKPT_... */

#endif
