/* shadow/ckpt/checkpoint.h - answers the calls of a starter about its run's checkpoints.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CHECKPOINT_H
#define SHADOW_CKPT_CHECKPOINT_H

struct run;
struct wire_request;

/* Answers the calls of a starter whose names begin with CKPT_, such as CKPT_PUT and CKPT_DONE. */
void checkpoint_handle(struct run *run, struct wire_request *request);

#endif
