/* shadow/ckpt/checkpoint.h - answers the calls of a starter about its run's checkpoints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CHECKPOINT_H
#define SHADOW_CKPT_CHECKPOINT_H

struct run;
struct wire_request;

/* Answers CKPT_PUT, CKPT_DONE and the other calls CKPT_... of a starter. */
void checkpoint_handle(struct run *run, struct wire_request *request);

#endif
