/* ckpt/image/merge_linux.h - makes one whole image of one and what changed since.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_MERGE_LINUX_H
#define CKPT_IMAGE_MERGE_LINUX_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Of a whole image and deltas, each against what the ones before it give, the image that would have
 * been made in place of the last: to that file, whole or not at all.  It can run, and is the base
 * of a delta that comes next.  `out` may be one of the names.  Errors: -EINVAL: they do not follow
 * on each other; -EBADMSG: one is damaged (all sums are looked at); -EFBIG: it would be more than
 * `max` bytes; -ENOSPC, -EDQUOT: err says how much is missing; what reading and writing say. */
int ckpt_merge(const char *const *names, size_t count, const char *out, uint64_t max,
               struct err *err);

#endif
