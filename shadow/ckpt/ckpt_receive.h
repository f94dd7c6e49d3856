/* shadow/ckpt/ckpt_receive.h - a checkpoint that comes: works of CKPT_PUT and CKPT_DONE; what is
 * kept is told to the schedd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_RECEIVE_H
#define SHADOW_CKPT_CKPT_RECEIVE_H

struct work;

int ckpt_receive_put(struct work *work);
void ckpt_receive_put_done(struct work *work, int result);
int ckpt_receive_whole(struct work *work);
void ckpt_receive_whole_done(struct work *work, int result);

#endif
