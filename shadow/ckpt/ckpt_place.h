/* shadow/ckpt/ckpt_place.h - the directory of a job's checkpoints.  All functions run on a lane
 * (worker thread).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_PLACE_H
#define SHADOW_CKPT_CKPT_PLACE_H

struct err;
struct run;
struct shadow;

/* To be called before the job's first checkpoint: if its checkpoints do not go to SPOOL, makes a
 * directory for them and a link to it in SPOOL.  Returns 0, or a negative errno with err. */
int checkpoint_place_make(struct run *run, struct err *err);
/* Returns 0; or -EAGAIN with err when the job's checkpoints are in a directory that cannot be
 * reached now. */
int checkpoint_place_check(struct run *run, struct err *err);
/* Removes the directory with the checkpoints of the job with this id, such as "12.3", and all that
 * is in the directory. */
void checkpoint_place_remove(struct shadow *shadow, const char *job);

#endif
