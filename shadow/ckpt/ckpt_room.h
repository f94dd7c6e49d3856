/* shadow/ckpt/ckpt_room.h - may a checkpoint take so much of the disk?  On the lane: 0, -ENOSPC or
 * -EDQUOT.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_ROOM_H
#define SHADOW_CKPT_CKPT_ROOM_H

#include <stddef.h>

struct ckpt_call;
struct work;

/* That piece and what follows it, into the directory `part`. */
int ckpt_room_for_piece(struct work *work, const struct ckpt_call *call, const char *part,
                        size_t length);
/* All that is there by now. */
int ckpt_room_of_whole(struct work *work);

#endif
