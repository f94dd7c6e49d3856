/* shadow/ckpt/ckpt_receive.h - receives a checkpoint from a starter, and reports it to the schedd
 * when it is complete.
 *
 * The functions are given to run_work_start() in pairs: the function without _done at the end of
 * its name runs on the lane (worker thread) and returns 0, or a negative errno with work->err; then
 * the function with _done runs on the loop and gets this result.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_RECEIVE_H
#define SHADOW_CKPT_CKPT_RECEIVE_H

struct work;

/* For the starter's CKPT_PUT: stores bytes of a file of the checkpoint. */
int ckpt_receive_put(struct work *work);
/* Answers CKPT_PUT with the number of bytes of the file that are stored, or with the error. */
void ckpt_receive_put_done(struct work *work, int result);
/* For the starter's CKPT_DONE: checks the files against the manifest and makes them durable. */
int ckpt_receive_whole(struct work *work);
/* Reports the whole checkpoint to the schedd, or answers CKPT_DONE with the error. */
void ckpt_receive_whole_done(struct work *work, int result);

#endif
