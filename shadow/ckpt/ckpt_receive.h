/* shadow/ckpt/ckpt_receive.h - receives a checkpoint from a starter, and reports it to the schedd
 * when it is complete.
 *
 * The first function of each pair is a body for run_work_start() and runs on the lane (worker
 * thread); the second one runs on the loop after it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_RECEIVE_H
#define SHADOW_CKPT_CKPT_RECEIVE_H

struct work;

/* For CKPT_PUT: stores a piece of a file, and answers how many bytes of the file are stored. */
int ckpt_receive_put(struct work *work);
void ckpt_receive_put_done(struct work *work, int result);
/* For CKPT_DONE: checks the files against the manifest, makes them durable and tells the schedd. */
int ckpt_receive_whole(struct work *work);
void ckpt_receive_whole_done(struct work *work, int result);

#endif
