/* ckpt/image/merge_linux.h - makes one whole image from a whole image and deltas.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_MERGE_LINUX_H
#define CKPT_IMAGE_MERGE_LINUX_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* Merges the images names[0..count), a whole image and then deltas, into one whole image: the image
 * that would have been made instead of the last delta.  The result is written to `out` completely
 * or not at all; out may be one of the names.  The result can be run, and the next delta can build
 * upon it.  Returns 0; -EINVAL: an image does not build upon the images before it; -EBADMSG: an
 * image is damaged (all checksums are compared); -EFBIG: the result would have more than `max`
 * bytes; -ENOSPC, -EDQUOT: err says how much space is missing; or another -errno of reading and
 * writing. */
int ckpt_merge(const char *const *names, size_t count, const char *out, uint64_t max,
               struct err *err);

#endif
