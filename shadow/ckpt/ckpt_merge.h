/* shadow/ckpt/ckpt_merge.h - a whole checkpoint of one and what changed since.  On the lane.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_MERGE_H
#define SHADOW_CKPT_CKPT_MERGE_H

#include <stdint.h>

struct ad;
struct work;

/* Makes, in the directory `part`, an image of that in `base` and of what changed (CKPT_NAME_DELTA),
 * and writes to the manifest what it is; at most `max` bytes are made on the way.  -ENODATA: it
 * cannot be. */
int checkpoint_merge(struct work *work, const char *part, const char *base, int64_t max,
                     struct ad *manifest);
/* The same of files, of what changed of these (CKPT_NAME_CHANGES). */
int checkpoint_join(struct work *work, const char *part, const char *base, int64_t max,
                    struct ad *manifest);
/* Removes what is no part of a checkpoint. */
void checkpoint_merge_tidy(struct work *work, const char *part);

#endif
