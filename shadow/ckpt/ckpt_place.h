/* shadow/ckpt/ckpt_place.h - where the checkpoints of a job are.  On a lane.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_PLACE_H
#define SHADOW_CKPT_CKPT_PLACE_H

struct err;
struct run;
struct shadow;

/* Before the first of them: a directory of its own, if they do not go to SPOOL. */
int checkpoint_place_make(struct run *run, struct err *err);
/* -EAGAIN: they are where nobody can look now. */
int checkpoint_place_check(struct run *run, struct err *err);
void checkpoint_place_remove(struct shadow *shadow, const char *job); /* and all that is there */

#endif
