/* starter/ckpt/ckpt_send.h - sends a checkpoint to the shadow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_CKPT_CKPT_SEND_H
#define STARTER_CKPT_CKPT_SEND_H

struct starter;

/* Starts sending the checkpoint in hand, whose image and archive must be complete. */
void ckpt_send_begin(struct starter *starter);
/* Sends as much of the checkpoint in hand as the connection and the rate limit allow; is called
 * again after each answer of the shadow. */
void ckpt_send_next(struct starter *starter);
/* Called when a new connection to the shadow is ready: if a checkpoint was being sent, asks the
 * shadow how many bytes it has of the file that was being sent, and continues there. */
void checkpoint_cut(struct starter *starter);

#endif
