/* ckpt/dump/dump_fd_lock_linux.c - locks of files.
 *
 * The kernel tells of each at the descriptors through which it was taken.  A lock of an open file
 * (flock, F_OFD_SETLK) is shared with it; a POSIX lock is a process's own.  Of locks that a file
 * system does itself it tells nothing: ours is asked (base/file_locks.h), by the process that has
 * the descriptor.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "base/err.h"
#include "base/file_locks.h"
#include "ckpt/dump/dump_fd.h"

static void add_lock(struct files *files, const struct open_file *file, struct ckpt_lock lock)
{
    bool is_first = &files->items[file->first] == file;
    if (is_first || lock.kind == CKPT_POSIX_LOCK) {
        (void)tables_add(&files->dump->tables, CKPT_LOCKS, &lock);
    }
}

/* "1: POSIX  ADVISORY  WRITE 123 08:01:99 0 EOF", behind "lock:\t". */
static int save_lock(struct files *files, const struct open_file *file, const char *line)
{
    char kind[16], access[16], first[32], last[32];
    struct ckpt_lock lock = {.file = file->file, .process = CKPT_NOBODY, .number = file->fd};
    if (sscanf(line, " %*d: %15s %*s %15s %*d %*s %31s %31s", kind, access, first, last) != 4) {
        return fd_refuse(files, file, "the file has a lock of an unknown kind");
    }
    lock.writes = strcmp(access, "WRITE") == 0;
    lock.start = strtoull(first, NULL, 10);
    lock.bytes = strcmp(last, "EOF") == 0 ? 0 : strtoull(last, NULL, 10) - lock.start + 1;
    if (strcmp(kind, "POSIX") == 0) {
        lock.kind = CKPT_POSIX_LOCK;
        lock.process = file->process;
    } else if (strcmp(kind, "FLOCK") == 0 || strcmp(kind, "OFDLCK") == 0) {
        lock.kind = kind[0] == 'F' ? CKPT_FLOCK : CKPT_OFD_LOCK;
    } else {
        return fd_refuse(files, file, "file leases are not supported");
    }
    add_lock(files, file, lock);
    return 0;
}

/* Returns whether the lock belongs to the open file, not to a process: only another one's lock is
 * in the way. */
static int is_of_the_file(const struct open_file *file, const struct ckpt_lock *lock)
{
    struct tracee *tracee = &file->subject->tracee;
    struct flock range = {.l_type = F_WRLCK,
                          .l_whence = SEEK_SET,
                          .l_start = (off_t)lock->start,
                          .l_len = (off_t)lock->bytes};
    long rc =
        tracee_write(tracee, tracee->scratch, &range, sizeof range) == (ssize_t)sizeof range
            ? TRACEE_CALL(tracee, 0, SYS_fcntl, (uint64_t)file->fd, F_OFD_GETLK, tracee->scratch)
            : -EIO;
    if (rc == 0 &&
        tracee_read(tracee, tracee->scratch, &range, sizeof range) != (ssize_t)sizeof range) {
        rc = -EIO;
    }
    return rc != 0 ? (int)rc : range.l_type == F_UNLCK;
}

static int save_told(struct files *files, const struct open_file *file,
                     const struct file_lock_told *told)
{
    struct ckpt_lock lock = {.kind = CKPT_FLOCK,
                             .file = file->file,
                             .process = CKPT_NOBODY,
                             .number = file->fd,
                             .writes = (told->flags & FILE_LOCK_WRITES) != 0,
                             .start = told->start,
                             .bytes = told->last >= INT64_MAX ? 0 : told->last - told->start + 1};
    if ((told->flags & FILE_LOCK_WHOLE) == 0) {
        int rc = is_of_the_file(file, &lock);
        if (rc < 0) {
            return fd_fail(files, file, rc);
        }
        if (rc == 0 && (told->flags & FILE_LOCK_OWN) == 0) {
            return 0; /* of a process that shares this open file: saved with its descriptor */
        }
        lock.kind = rc == 1 ? CKPT_OFD_LOCK : CKPT_POSIX_LOCK;
        lock.process = rc == 1 ? CKPT_NOBODY : file->process;
    }
    add_lock(files, file, lock);
    return 0;
}

/* Does that answer mean that the file system, which is not ours then, does not know the request?
 * ENOTTY: the kernel's for who takes no requests, or not this one; ENOSYS: that of a server of FUSE
 * without any, as kernels before 6.4 hand it on; EINVAL and EOPNOTSUPP: of such a server that looks
 * at the request itself, and of some that are not part of the kernel (Lustre).  Ours says none of
 * them.  All else (a server that has ended, no memory, a security module's or a filter's EACCES and
 * EPERM) leaves open whether there are locks. */
static bool is_unknown_there(long rc)
{
    return rc == -ENOTTY || rc == -ENOSYS || rc == -EINVAL || rc == -EOPNOTSUPP;
}

/* Saves locks of a file system that manages locks itself, if it is one that tells them. */
static int save_told_locks(struct files *files, const struct open_file *file)
{
    struct tracee *tracee = &file->subject->tracee;
    struct file_locks_told told;
    _Static_assert(sizeof told <= CKPT_PAGE, "the list of locks must fit into one page");
    if (!S_ISREG(file->st.st_mode) || major(file->st.st_dev) != 0 || (file->flags & O_PATH) != 0) {
        return 0; /* on a disk, or not open */
    }
    long rc =
        TRACEE_CALL(tracee, 0, SYS_ioctl, (uint64_t)file->fd, FILE_LOCKS_ASK, tracee->scratch);
    if (is_unknown_there(rc)) {
        return 0;
    }
    if (rc != 0) {
        char why[96];
        (void)snprintf(why, sizeof why, "cannot find out which locks the file has: %s",
                       err_code_text((int)rc));
        return fd_refuse(files, file, rc == -E2BIG ? "the file has too many locks" : why);
    }
    if (tracee_read(tracee, tracee->scratch, &told, sizeof told) != (ssize_t)sizeof told) {
        return fd_fail(files, file, -EIO);
    }
    if (told.count > FILE_LOCKS_MAX) {
        return fd_refuse(files, file, "the file has too many locks");
    }
    int saved = 0;
    for (uint32_t i = 0; saved == 0 && i < told.count; i++) {
        saved = save_told(files, file, &told.locks[i]);
    }
    return saved;
}

int fd_save_locks(struct files *files, const struct open_file *file)
{
    static const char *const NAME = "lock:";
    int rc = save_told_locks(files, file);
    for (const char *line = file->info; rc == 0 && line != NULL && *line != '\0';) {
        if (strncmp(line, NAME, strlen(NAME)) == 0) {
            rc = save_lock(files, file, line + strlen(NAME));
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return rc;
}
