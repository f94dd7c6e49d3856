/* ckpt/image/new_file_linux.h - a file that is whole or not there.
 *
 * It is written as NAME.new, made durable, and renamed.  Who writes it holds a lock on it: two
 * never write the same one, and what one left behind that was killed is written over by the next.
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
    char path[PATH_MAX]; /* while it is written */
    char name[PATH_MAX]; /* what it is to be called */
};

/* Begins one; `keep`: what is there of it stays, to be continued.  -EBUSY: somebody writes it;
 * -ENAMETOOLONG; else what the system says. */
int new_file_open(struct new_file *file, const char *name, bool keep, struct err *err);
/* Durable, and under its name from now on, in place of what had that name. */
int new_file_commit(struct new_file *file, mode_t mode, struct err *err);
/* Of one that was not committed nothing is left, unless `keep`. */
void new_file_close(struct new_file *file, bool keep);

/* All of it.  0 or a negative errno. */
int new_file_write(int fd, const void *data, size_t bytes, uint64_t at);

/* Can the file system of that folder, and the quota of who asks, take so many bytes more?  -ENOSPC,
 * -EDQUOT: err says how many are missing. */
int new_file_room(int fd, const char *name, uint64_t bytes, struct err *err);

#endif
