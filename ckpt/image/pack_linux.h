/* ckpt/image/pack_linux.h - compresses files for transfer and storage, with zstd.
 *
 * A packed file is one zstd frame with the size of its contents and a checksum; any zstd program
 * can read it.  Its first bytes tell that a file is packed: images are ELF files, archives begin
 * with a name.  Level 1 makes an image of a program's heap seven times smaller at a gigabyte a
 * second; higher levels gain little.  Zero pages cost next to nothing, and become holes again when
 * unpacked.
 *
 * Files may come from untrusted users, who may put links in their place: no link is followed, and
 * only regular files are read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_PACK_LINUX_H
#define CKPT_IMAGE_PACK_LINUX_H

#include <stdbool.h>
#include <stdint.h>

struct err;

/* Compresses `from` into `to`, which may be the same name; `to` is written completely or not at
 * all. *plain, unless plain is NULL: the size of the contents before the compression.  Returns 0 or
 * -errno. */
int pack_file(const char *from, const char *to, uint64_t *plain, struct err *err);

/* Returns whether the file is packed; false also if the file cannot be read. */
bool pack_is_packed(const char *name);
/* Decompresses `from` into `to`, which may be the same name.  A file that is not packed is only
 * renamed.  Returns 0; -EBADMSG: the file is damaged; -EFBIG: the result would have more than `max`
 * bytes; -ENOSPC, -EDQUOT: err says how much space is missing; or another -errno. */
int unpack_file(const char *from, const char *to, uint64_t max, struct err *err);
/* Decompresses `from` into the open, empty file `to`; name is for messages.  Returns as
 * unpack_file(). */
int unpack_into(const char *from, int to, const char *name, uint64_t max, struct err *err);

#endif
