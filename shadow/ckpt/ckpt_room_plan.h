/* shadow/ckpt/ckpt_room_plan.h - computes how much disk the making of a whole checkpoint may need.
 *
 * When changes arrive, the checkpoint before is unpacked, the changes are unpacked beside it, and
 * the result is packed again.  The manifests of both say how large that is.  They come from a
 * starter and cannot be trusted: `roost-ckpt merge --max` refuses what grows larger than its
 * manifest says, and what is large by its manifest must find the room first.
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
    int64_t made; /* bytes of both unpacked, and of the result */
    int64_t disk; /* made, and the packed result */
};

/* Computes the room for the images, or for the files, as the attribute names choose: plain_attr is
 * the size unpacked, stored_attr the size as stored.  base: manifest of the checkpoint before;
 * NULL: it cannot be read and counts as 0.  changes: manifest of the changes.  Wrong figures in the
 * manifests cause no overflow. */
struct checkpoint_room checkpoint_room_plan(const struct ad *base, const struct ad *changes,
                                            const char *plain_attr, const char *stored_attr);

#endif
