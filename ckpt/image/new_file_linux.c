/* ckpt/image/new_file_linux.c - writes a file so that it exists completely or not at all: see
 * new_file_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/image/new_file_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"

#define TRIES 100 /* the name was another file's each time */

/* Locks the file. *again: the name leads to another file by now.  -EBUSY: another program has the
 * lock. */
static int lock_file(struct new_file *file, bool *again)
{
    struct stat ours, named;
    *again = false;
    if (flock(file->fd, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK ? -EBUSY : -errno;
    }
    if (fstat(file->fd, &ours) != 0) {
        return -errno;
    }
    *again = lstat(file->path, &named) != 0 || ours.st_dev != named.st_dev ||
             ours.st_ino != named.st_ino;
    if (!*again && (!S_ISREG(ours.st_mode) || ours.st_nlink != 1)) {
        return -EEXIST; /* nothing of ours */
    }
    return 0;
}

int new_file_open(struct new_file *file, const char *name, bool keep, struct err *err)
{
    bool again = true;
    int rc = 0;
    file->fd = -1;
    if ((size_t)snprintf(file->path, sizeof file->path, "%s.new", name) >= sizeof file->path) {
        return err_set(err, -ENAMETOOLONG, "%s: the path is too long", name);
    }
    (void)snprintf(file->name, sizeof file->name, "%s", name);
    for (int i = 0; rc == 0 && again; i++) {
        if (i == TRIES) {
            return err_set(err, -EBUSY, "%s: another process keeps replacing this file",
                           file->path);
        }
        file->fd = open(file->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        rc = file->fd < 0 ? -errno : lock_file(file, &again);
        if (file->fd >= 0 && (rc != 0 || again)) {
            (void)close(file->fd);
            file->fd = -1;
        }
    }
    if (rc == 0 && !keep && ftruncate(file->fd, 0) != 0) {
        rc = -errno;
        new_file_close(file, false);
    }
    return rc == -EBUSY ? err_set(err, rc, "%s: another process is writing this file", name)
           : rc != 0    ? err_set(err, rc, "%s: %s", file->path, err_code_text(rc))
                        : 0;
}

/* The name must survive a power failure, too. */
static int sync_folder(const char *name)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(name, '/');
    size_t length = slash != NULL ? (size_t)(slash - name) + 1 : 0;
    memcpy(folder, name, length);
    (void)snprintf(folder + length, sizeof folder - length, ".");
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 || fsync(fd) != 0 ? -errno : 0;
    if (fd >= 0) {
        (void)close(fd);
    }
    return rc == -EINVAL ? 0 : rc; /* a file system without that */
}

int new_file_commit(struct new_file *file, mode_t mode, struct err *err)
{
    int rc =
        fchmod(file->fd, mode) != 0 || fsync(file->fd) != 0 || rename(file->path, file->name) != 0
            ? -errno
            : 0;
    if (rc != 0) {
        return err_set(err, rc, "%s: %s", file->name, err_code_text(rc));
    }
    (void)close(file->fd);
    file->fd = -1;
    rc = sync_folder(file->name);
    return rc != 0 ? err_set(err, rc, "cannot write the directory of %s to disk: %s", file->name,
                             err_code_text(rc))
                   : 0;
}

void new_file_close(struct new_file *file, bool keep)
{
    if (file->fd >= 0) {
        if (!keep) {
            (void)unlink(file->path);
        }
        (void)close(file->fd);
        file->fd = -1;
    }
}

int new_file_write(int fd, const void *data, size_t bytes, uint64_t at)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t done = pwrite(fd, from, bytes, (off_t)at);
        if (done < 0 && errno != EINTR) {
            return -errno;
        }
        if (done > 0) {
            from += done;
            at += (uint64_t)done;
            bytes -= (size_t)done;
        }
    }
    return 0;
}

/* Returns how many bytes the user's quota leaves; UINT64_MAX: no quota. */
static uint64_t quota_left(int fd)
{
    struct dqblk quota;
    int command = (int)QCMD((unsigned)Q_GETQUOTA, USRQUOTA);
    memset(&quota, 0, sizeof quota);
    if (syscall(SYS_quotactl_fd, fd, command, geteuid(), &quota) != 0 ||
        (quota.dqb_valid & QIF_LIMITS) == 0 || quota.dqb_bhardlimit == 0) {
        return UINT64_MAX;
    }
    uint64_t limit = quota.dqb_bhardlimit * 1024; /* blocks of so many bytes */
    return limit > quota.dqb_curspace ? limit - quota.dqb_curspace : 0;
}

int new_file_room(int fd, const char *name, uint64_t bytes, struct err *err)
{
    struct statvfs system;
    if (fstatvfs(fd, &system) != 0) {
        int rc = -errno;
        return err_set(err, rc, "%s: %s", name, err_code_text(rc));
    }
    uint64_t left = system.f_bavail * system.f_frsize, quota = quota_left(fd);
    if (bytes > left) {
        return err_set(err, -ENOSPC, "%s: the file needs %llu bytes; the disk lacks %llu of them",
                       name, (unsigned long long)bytes, (unsigned long long)(bytes - left));
    }
    if (bytes > quota) {
        return err_set(err, -EDQUOT, "%s: the file needs %llu bytes; your quota lacks %llu of them",
                       name, (unsigned long long)bytes, (unsigned long long)(bytes - quota));
    }
    return 0;
}
