/* ckpt/files/mirror_copy_linux.h - single files of a mirror: made, or removed.
 *
 * Directories are given as descriptors, and each name is one name below: what somebody puts in its
 * place is not followed.
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

struct mirror_copier {
    unsigned char *chunk; /* of MIRROR_CHUNK bytes */
    uint64_t copied, copied_bytes;
    struct err *err;
};

/* Of errno, with the path: the negative of it. */
int mirror_failed(const struct mirror_copier *copier, const char *path);

/* A file, or a directory with all that is in it; what is not there is removed already. */
int mirror_remove(int folder, const char *name);
int mirror_set_times(int fd, const struct stat *stat);

/* Anew: from that directory to that one; path is for messages.  -ESTALE: it is no regular file any
 * more.  *ret: as it was when it was opened. */
int mirror_copy_file(struct mirror_copier *copier, int from, int to, const char *name,
                     const char *path, struct stat *ret);
/* These, if there is not the same already. */
int mirror_copy_link(const struct mirror_copier *copier, int from, int to, const char *name,
                     const char *path, const struct stat *stat);
int mirror_copy_fifo(const struct mirror_copier *copier, int to, const char *name, const char *path,
                     const struct stat *stat);

#endif
