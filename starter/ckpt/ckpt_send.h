/* starter/ckpt/ckpt_send.h - a checkpoint on its way to the shadow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CKPT_CKPT_SEND_H
#define STARTER_CKPT_CKPT_SEND_H

struct starter;

void ckpt_send_begin(struct starter *starter); /* image and archive are there */
void ckpt_send_next(struct starter *starter);  /* goes on */
void checkpoint_cut(struct starter *starter);  /* the connection is another */

#endif
