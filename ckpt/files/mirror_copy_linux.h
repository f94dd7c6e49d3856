/* ckpt/files/mirror_copy_linux.h - copies and removes single files of a mirror.
 *
 * A directory is given as a descriptor, and a file in it by its name, which contains no '/'.  If
 * somebody puts a symbolic link in place of the file, the link is not followed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_FILES_MIRROR_COPY_LINUX_H
#define CKPT_FILES_MIRROR_COPY_LINUX_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct err;

#define MIRROR_CHUNK ((size_t)1 << 20)

struct mirror_copier {    /* the buffer and counts of one update of a mirror */
    unsigned char *chunk; /* a buffer of MIRROR_CHUNK bytes */
    uint64_t copied, copied_bytes;
    struct err *err;
};

/* Sets copier->err to a message with `path` and the text of errno; returns the negative errno. */
int mirror_failed(const struct mirror_copier *copier, const char *path);

/* Removes the file `name`, or the directory `name` with all that is in it, from the directory whose
 * descriptor is `folder`.  Returns 0, also if there is no such file; or -errno. */
int mirror_remove(int folder, const char *name);
int mirror_set_times(int fd, const struct stat *stat);

/* Copies the regular file `name` from one directory to another (from, to: their descriptors); path
 * is for messages. *ret: fstat() of the source file when it was opened.  Returns 0; -ESTALE: the
 * name is not a regular file any more; or another -errno. */
int mirror_copy_file(struct mirror_copier *copier, int from, int to, const char *name,
                     const char *path, struct stat *ret);
/* Copies the symbolic link `name` from one directory to another (from, to: their descriptors),
 * unless an equal link is there already.  path is for messages; *stat: lstat() of the link.
 * Returns 0 or -errno. */
int mirror_copy_link(const struct mirror_copier *copier, int from, int to, const char *name,
                     const char *path, const struct stat *stat);
/* Makes a FIFO `name` with the mode in *stat in the directory whose descriptor is `to`, unless a
 * FIFO of that mode is there already; path is for messages.  Returns 0 or -errno. */
int mirror_copy_fifo(const struct mirror_copier *copier, int to, const char *name, const char *path,
                     const struct stat *stat);

#endif
