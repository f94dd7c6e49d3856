/* ckpt/image/merge_linux.h - makes one whole image from a whole image and deltas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_MERGE_LINUX_H
#define CKPT_IMAGE_MERGE_LINUX_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Merges names[0..count), a whole image and then deltas, each against the result of those before
 * it, into the image that would have been made instead of the last one.  It is written to `out`
 * completely or not at all; out may be one of the names.  It can be run, and the next delta can be
 * based on it.  -EINVAL: an image does not build upon those before it; -EBADMSG: one is damaged
 * (all checksums are compared); -EFBIG: the result would have more than `max` bytes; -ENOSPC,
 * -EDQUOT: err says how much space is missing; or another -errno of reading and writing. */
int ckpt_merge(const char *const *names, size_t count, const char *out, uint64_t max,
               struct err *err);

#endif
