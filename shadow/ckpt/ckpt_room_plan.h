/* shadow/ckpt/ckpt_room_plan.h - computes how much disk the making of a whole checkpoint may need.
 *
 * When changes arrive, the checkpoint before is unpacked, the changes are unpacked beside it, and
 * the result is packed again.  The manifests of checkpoint and changes say how large these are.
 * Manifests come from a starter and cannot be trusted: so `roost-ckpt merge --max` stops when more
 * is written than the manifests say, and the disk must have room for the sizes in the manifests
 * before the merge starts.
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
    /* sum of the bytes of the earlier checkpoint, the changes and the merged checkpoint, all
     * unpacked */
    int64_t made;
    int64_t disk; /* `made`, and in addition the bytes of the packed merged checkpoint */
};

/* Computes the room for merging two images, or for joining two archives of files.  In both
 * manifests, the attribute plain_attr has the unpacked size of the image (or archive), and
 * stored_attr its stored size.  base: manifest of the checkpoint before; NULL: the manifest cannot
 * be read, and its sizes count as 0.  changes: manifest of the changes.  Wrong figures in the
 * manifests cause no overflow. */
struct checkpoint_room checkpoint_room_plan(const struct ad *base, const struct ad *changes,
                                            const char *plain_attr, const char *stored_attr);

#endif
