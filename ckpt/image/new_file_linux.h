/* ckpt/image/new_file_linux.h - writes a file so that it exists completely or not at all.
 *
 * The file is written as NAME.new, made durable, and renamed.  The writer holds a lock on NAME.new:
 * so two processes never write the same file, and what a killed writer left is overwritten by the
 * next writer.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_IMAGE_NEW_FILE_LINUX_H
#define CKPT_IMAGE_NEW_FILE_LINUX_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct new_file {
    int fd;              /* -1: none */
    char path[PATH_MAX]; /* NAME.new: the file's name while it is written */
    char name[PATH_MAX]; /* the final name */
};

/* Creates and locks NAME.new. keep: true: the contents that an earlier writer left there stay, so
 * that the caller can continue them; false: the file is emptied.  Returns 0; -EBUSY: another
 * process is writing the file; -ENAMETOOLONG: the name is too long; or another -errno. */
int new_file_open(struct new_file *file, const char *name, bool keep, struct err *err);
/* Makes the file durable and gives it its final name, replacing a file of that name. mode: its
 * permissions.  Returns 0 or -errno. */
int new_file_commit(struct new_file *file, mode_t mode, struct err *err);
/* Closes the file.  If it was not committed, NAME.new is removed, unless `keep`. */
void new_file_close(struct new_file *file, bool keep);

/* Writes all bytes at offset `at` of the file.  Returns 0 or a negative errno. */
int new_file_write(int fd, const void *data, size_t bytes, uint64_t at);

/* Checks that the file system of a file, and the user's quota, have room for so many more bytes.
 * fd: descriptor of the file; name: its name, for messages.  Returns 0; -ENOSPC, -EDQUOT: err says
 * how many bytes are missing; or another -errno. */
int new_file_room(int fd, const char *name, uint64_t bytes, struct err *err);

#endif
