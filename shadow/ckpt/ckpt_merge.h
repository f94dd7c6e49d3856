/* shadow/ckpt/ckpt_merge.h - makes a whole checkpoint from an earlier one and the changes since
 * then.  All functions run on the run's lane (worker thread).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_CKPT_CKPT_MERGE_H
#define SHADOW_CKPT_CKPT_MERGE_H

#include <stdint.h>

struct ad;
struct work;

/* Merges the image in the directory `base` with the changes in the directory `part` (the file
 * CKPT_NAME_DELTA) to a whole image in `part`, and writes its sizes and its checksum to manifest.
 * max: most bytes that the merge may write, with its intermediate files.  Returns 0; or -ENODATA
 * with work->err when the merge is not possible, and the starter must send the whole image. */
int checkpoint_merge(struct work *work, const char *part, const char *base, int64_t max,
                     struct ad *manifest);
/* Does for the archive of the sandbox's files what checkpoint_merge() does for the image: joins the
 * archive in the directory `base` with the changes in `part` (the file CKPT_NAME_CHANGES) to a
 * whole archive in `part`.  Arguments and result are those of checkpoint_merge(). */
int checkpoint_join(struct work *work, const char *part, const char *base, int64_t max,
                    struct ad *manifest);
/* Removes from the directory `part` all files that do not belong to a whole checkpoint. */
void checkpoint_merge_tidy(struct work *work, const char *part);

#endif
