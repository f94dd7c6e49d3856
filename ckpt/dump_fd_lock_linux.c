/* ckpt/dump_fd_lock_linux.c - locks of files.
 *
 * The kernel tells of each at the descriptors through which it was taken.  A lock of an open file
 * (flock, F_OFD_SETLK) is shared with it; a POSIX lock is a process's own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/dump_fd.h"

/* "1: POSIX  ADVISORY  WRITE 123 08:01:99 0 EOF", behind "lock:\t". */
static int save_lock(struct files *files, const struct open_file *file, const char *line)
{
    char kind[16], access[16], first[32], last[32];
    struct ckpt_lock lock = {.file = file->file, .process = CKPT_NOBODY, .number = file->fd};
    if (sscanf(line, " %*d: %15s %*s %15s %*d %*s %31s %31s", kind, access, first, last) != 4) {
        return fd_refuse(files, file, "it has a lock of a kind that is not known");
    }
    bool is_first = &files->items[file->first] == file;
    lock.writes = strcmp(access, "WRITE") == 0;
    lock.start = strtoull(first, NULL, 10);
    lock.bytes = strcmp(last, "EOF") == 0 ? 0 : strtoull(last, NULL, 10) - lock.start + 1;
    if (strcmp(kind, "POSIX") == 0) {
        lock.kind = CKPT_POSIX_LOCK;
        lock.process = file->process;
    } else if (strcmp(kind, "FLOCK") == 0 || strcmp(kind, "OFDLCK") == 0) {
        lock.kind = kind[0] == 'F' ? CKPT_FLOCK : CKPT_OFD_LOCK;
    } else {
        return fd_refuse(files, file, "a lease is not saved");
    }
    if (is_first || lock.kind == CKPT_POSIX_LOCK) {
        (void)tables_add(&files->dump->tables, CKPT_LOCKS, &lock);
    }
    return 0;
}

int fd_save_locks(struct files *files, const struct open_file *file)
{
    static const char *const NAME = "lock:";
    int rc = 0;
    for (const char *line = file->info; rc == 0 && line != NULL && *line != '\0';) {
        if (strncmp(line, NAME, strlen(NAME)) == 0) {
            rc = save_lock(files, file, line + strlen(NAME));
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return rc;
}
