/* shadow/ckpt/ckpt_room_plan.h - what making a checkpoint whole may take of the disk.
 *
 * What came as changes is unpacked beside the one before, unpacked too, and what comes of both is
 * packed again.  How large all that is, both manifests say.  They are a stranger's: what is not as
 * large as it says is refused while it is unpacked (roost-ckpt merge --max), and what says to be
 * large has to find the room first.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_ROOM_PLAN_H
#define SHADOW_CKPT_CKPT_ROOM_PLAN_H

#include <stdint.h>

struct ad;

struct checkpoint_room {
    int64_t made; /* bytes: both as they are, and what comes of them */
    int64_t disk; /* the same, and that packed */
};

/* Of images, or else of files: `base` is the manifest of the one before (NULL: it cannot be read,
 * and says nothing), `changes` the one that came.  No figure of theirs makes an overflow. */
struct checkpoint_room checkpoint_room_plan(const struct ad *base, const struct ad *changes,
                                            const char *plain_attr, const char *stored_attr);

#endif
