/* shadow/ckpt/ckpt_room.h - checks that a checkpoint does not take too much of the disk.
 *
 * Both functions run on the run's lane (worker thread) and return 0; or, with work->err, -ENOSPC
 * (the disk is too full) or -EDQUOT (the owner's checkpoints would exceed
 * CHECKPOINT_QUOTA_PER_OWNER).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_ROOM_H
#define SHADOW_CKPT_CKPT_ROOM_H

#include <stddef.h>

struct ckpt_call;
struct work;

/* Checks that the disk of the directory `part` has room for the `length` bytes that a CKPT_PUT
 * (call) brings.  From time to time also checks that the owner's checkpoints do not exceed
 * CHECKPOINT_QUOTA_PER_OWNER when these bytes, all further bytes of the same file and, for a
 * delta, the whole file made from the delta are stored. */
int ckpt_room_for_piece(struct work *work, const struct ckpt_call *call, const char *part,
                        size_t length);
/* Checks that all checkpoints of the owner together do not exceed CHECKPOINT_QUOTA_PER_OWNER. */
int ckpt_room_of_whole(struct work *work);

#endif
