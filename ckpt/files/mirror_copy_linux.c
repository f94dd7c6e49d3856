/* ckpt/files/mirror_copy_linux.c - single files of a mirror: see mirror_copy_linux.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "ckpt/files/mirror_copy_linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/err.h"
#include "ckpt/image/new_file_linux.h"

#define DEPTH_MAX 200

int mirror_failed(const struct mirror_copier *copier, const char *path)
{
    int rc = -errno;
    return err_set(copier->err, rc, "%s: %s", path, err_code_text(rc));
}

/* ---- removing */

static int remove_below(int folder, const char *name, unsigned depth);

static int remove_all(int fd, unsigned depth)
{
    DIR *names = fdopendir(fd);
    struct dirent *name;
    int rc = 0;
    if (names == NULL) {
        rc = -errno;
        (void)close(fd);
        return rc;
    }
    while (rc == 0 && (name = readdir(names)) != NULL) {
        if (strcmp(name->d_name, ".") != 0 && strcmp(name->d_name, "..") != 0) {
            rc = remove_below(dirfd(names), name->d_name, depth + 1);
        }
    }
    (void)closedir(names);
    return rc;
}

/* Removes a file, or a directory with all that is in it. */
static int remove_below(int folder, const char *name, unsigned depth)
{
    if (unlinkat(folder, name, 0) == 0 || errno == ENOENT) {
        return 0;
    }
    if (errno != EISDIR && errno != EPERM) {
        return -errno;
    }
    int fd = depth < DEPTH_MAX
                 ? openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
                 : -1;
    if (fd < 0) {
        return depth < DEPTH_MAX ? -errno : -ELOOP;
    }
    (void)fchmod(fd, 0700); /* ours: else what follows fails */
    int rc = remove_all(fd, depth);
    return rc == 0 && unlinkat(folder, name, AT_REMOVEDIR) != 0 ? -errno : rc;
}

int mirror_remove(int folder, const char *name)
{
    return remove_below(folder, name, 0);
}

/* ---- files */

int mirror_set_times(int fd, const struct stat *stat)
{
    const struct timespec times[2] = {stat->st_mtim, stat->st_mtim};
    return futimens(fd, times);
}

static int copy_bytes(struct mirror_copier *copier, int in, int out, uint64_t bytes,
                      const char *path)
{
    uint64_t at = 0;
    if (bytes == 0 || ioctl(out, FICLONE, in) == 0) {
        return 0;
    }
    while (at < bytes) {
        off_t data = lseek(in, (off_t)at, SEEK_DATA);
        off_t hole = data >= 0 ? lseek(in, data, SEEK_HOLE) : -1;
        if (data < 0 && errno == ENXIO) {
            break; /* a hole, to the end */
        }
        at = data >= 0 ? (uint64_t)data : at;
        uint64_t end = hole > data ? (uint64_t)hole : bytes;
        while (at < end) {
            size_t wanted = end - at < MIRROR_CHUNK ? (size_t)(end - at) : MIRROR_CHUNK;
            ssize_t got = pread(in, copier->chunk, wanted, (off_t)at);
            if (got < 0) {
                return mirror_failed(copier, path);
            }
            if (got == 0) {
                return 0; /* it has become shorter: seen again when it stands still */
            }
            int rc = new_file_write(out, copier->chunk, (size_t)got, at);
            if (rc != 0) {
                errno = -rc;
                return mirror_failed(copier, path);
            }
            at += (uint64_t)got;
            copier->copied_bytes += (uint64_t)got;
        }
    }
    return 0;
}

/* Makes a new file, so that nothing of the old one is in the way: neither its mode nor its other
 * names. */
int mirror_copy_file(struct mirror_copier *copier, int from, int to, const char *name,
                     const char *path, struct stat *ret)
{
    int in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (in < 0) {
        return mirror_failed(copier, path);
    }
    int rc = fstat(in, ret) != 0 ? mirror_failed(copier, path) : 0;
    if (rc == 0 && !S_ISREG(ret->st_mode)) { /* another one by now */
        (void)close(in);
        return -ESTALE;
    }
    (void)mirror_remove(to, name); /* not there: fine */
    int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    rc = rc == 0 && out < 0 ? mirror_failed(copier, path) : rc;
    rc = rc != 0 ? rc : copy_bytes(copier, in, out, (uint64_t)ret->st_size, path);
    if (rc == 0 && (ftruncate(out, ret->st_size) != 0 || fchmod(out, ret->st_mode & 07777) != 0 ||
                    mirror_set_times(out, ret) != 0)) {
        rc = mirror_failed(copier, path);
    }
    if (out >= 0) {
        (void)close(out);
    }
    (void)close(in);
    copier->copied++;
    return rc;
}

/* ---- links and fifos */

int mirror_copy_link(const struct mirror_copier *copier, int from, int to, const char *name,
                     const char *path, const struct stat *stat)
{
    char target[PATH_MAX], there[PATH_MAX];
    const struct timespec times[2] = {stat->st_mtim, stat->st_mtim};
    ssize_t length = readlinkat(from, name, target, sizeof target - 1);
    if (length < 0) {
        return mirror_failed(copier, path);
    }
    target[length] = '\0';
    ssize_t before = readlinkat(to, name, there, sizeof there);
    if (before != length || memcmp(target, there, (size_t)length) != 0) {
        (void)mirror_remove(to, name);
        if (symlinkat(target, to, name) != 0) {
            return mirror_failed(copier, path);
        }
    }
    (void)utimensat(to, name, times, AT_SYMLINK_NOFOLLOW); /* not everywhere */
    return 0;
}

int mirror_copy_fifo(const struct mirror_copier *copier, int to, const char *name, const char *path,
                     const struct stat *stat)
{
    struct stat there;
    if (fstatat(to, name, &there, AT_SYMLINK_NOFOLLOW) == 0 && there.st_mode == stat->st_mode) {
        return 0;
    }
    (void)mirror_remove(to, name);
    return mkfifoat(to, name, stat->st_mode & 07777) != 0 ? mirror_failed(copier, path) : 0;
}
