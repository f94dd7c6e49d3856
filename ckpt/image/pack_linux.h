/* ckpt/image/pack_linux.h - files made smaller for their way and for where they are kept: zstd.
 *
 * A packed file is one frame of zstd with the size of the contents and their checksum, which any
 * zstd can read.  Whether a file is one is told by its first bytes: images are ELF files, archives
 * begin with a name.  Level 1: on an image of a program's heap it makes a seventh of it at a
 * gigabyte a second; more effort gives little.  Zero pages cost next to nothing, and are holes
 * again in what is unpacked.
 *
 * Files may come from strangers, and lie where somebody may put links in their place: no link is
 * followed, nothing but a regular file is read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_PACK_LINUX_H
#define CKPT_IMAGE_PACK_LINUX_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* To a file of that name, which may be the same one, whole or not at all.  *plain, unless NULL: how
 * many bytes it was. */
int pack_file(const char *from, const char *to, uint64_t *plain, struct err *err);

/* False also where it cannot be read. */
bool pack_is_packed(const char *name);
/* What is there as a file of that name, which may be the same one; of one that is not packed a
 * change of its name at most.  -EBADMSG: it is damaged; -EFBIG: it is more than `max` bytes;
 * -ENOSPC, -EDQUOT: err says how much is missing. */
int unpack_file(const char *from, const char *to, uint64_t max, struct err *err);
/* The same into an open file, which is empty.  `name` is for messages. */
int unpack_into(const char *from, int to, const char *name, uint64_t max, struct err *err);

#endif
