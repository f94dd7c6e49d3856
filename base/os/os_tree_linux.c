/* base/os/os_tree_linux.c - removing a tree that somebody else filled, or only emptying it.
 *
 * Design note: a job's sandbox is removed by a more powerful user than the one who filled it.  So
 * every step goes through the descriptor of a directory that was opened without following links:
 * whatever a name is changed into meanwhile, nothing outside is touched.  A tree may be deeper than
 * we have descriptors; what lies DEPTH_MAX below is moved up to the top and removed in another
 * round.  Other file systems that are mounted inside are refused, not emptied.
 *
 * A directory that is used again in place of a new one spares its file system an inode to make and
 * one to forget; ext4 looks at each inode that was freed lately whenever it makes one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/os/os_linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/err.h"

#define DEPTH_MAX   32
#define REFILLS_MAX 64

struct removal {
    const char *path; /* for messages */
    const char *kept; /* a directory of that name in top stays; NULL: none does */
    int top;          /* where deep directories are moved to */
    dev_t device;
    unsigned moved; /* names given so far */
    bool again;     /* something was moved, or put in meanwhile: another round */
    unsigned refills;
    struct err *err;
};

static int removal_err(struct removal *r, const char *name, int error)
{
    return err_set(r->err, -error, "cannot remove %s/.../%s: %s", r->path, name, strerror(error));
}

/* Somebody who does not know yet that the tree is removed (the writer of a job's log) has put
 * something into a directory that was empty.  True: try again, a limited number of times. */
static bool is_refilled(struct removal *r, int error)
{
    return error == ENOTEMPTY && r->refills++ < REFILLS_MAX;
}

static int remove_entries(struct removal *r, int fd, unsigned depth);

/* Opens a directory to empty it, even if its owner has removed every permission from it. */
static int open_directory(int parent, const char *name)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    int fd = openat(parent, name, flags);
    if (fd < 0 && errno == EACCES) {
        int path_fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        char proc[64];
        (void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", path_fd);
        if (path_fd >= 0 && chmod(proc, 0700) == 0) {
            fd = openat(parent, name, flags);
        }
        int error = errno;
        if (path_fd >= 0) {
            close(path_fd);
        }
        errno = error;
    }
    return fd;
}

static int remove_directory(struct removal *r, int parent, const char *name, unsigned depth)
{
    struct stat st;
    int fd = open_directory(parent, name);
    if (fd < 0) {
        return errno == ENOENT ? 0 : removal_err(r, name, errno);
    }
    int code = 0;
    if (fstat(fd, &st) != 0) {
        code = removal_err(r, name, errno);
    } else if (st.st_dev != r->device) {
        code = removal_err(r, name, EXDEV);
    } else if ((st.st_mode & S_IRWXU) != S_IRWXU && fchmod(fd, 0700) != 0 && errno != EPERM) {
        code = removal_err(r, name, errno);
    } else if (depth >= DEPTH_MAX) {
        char moved[64];
        (void)snprintf(moved, sizeof(moved), ".roost-removing-%d-%u", (int)getpid(), r->moved++);
        close(fd);
        r->again = true;
        return renameat(parent, name, r->top, moved) == 0 ? 0 : removal_err(r, name, errno);
    } else {
        code = remove_entries(r, fd, depth + 1);
    }
    close(fd);
    if (code == 0 && unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT) {
        if (is_refilled(r, errno)) {
            r->again = true;
        } else {
            code = removal_err(r, name, errno);
        }
    }
    return code;
}

static int remove_entry(struct removal *r, int parent, const char *name, unsigned depth)
{
    if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) {
        return 0;
    }
    /* EISDIR is Linux's answer; EPERM is POSIX's, and that of a file that may not be removed. */
    if (errno == EISDIR || errno == EPERM) {
        struct stat st;
        int error = errno;
        if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode)) {
            return remove_directory(r, parent, name, depth);
        }
        errno = error;
    }
    return removal_err(r, name, errno);
}

static bool is_kept(const struct removal *r, int parent, const char *name)
{
    struct stat st;
    return r->kept != NULL && parent == r->top && strcmp(name, r->kept) == 0 &&
           fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int remove_entries(struct removal *r, int fd, unsigned depth)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    DIR *directory = copy >= 0 ? fdopendir(copy) : NULL;
    if (directory == NULL) {
        int error = errno;
        if (copy >= 0) {
            close(copy);
        }
        return removal_err(r, ".", error);
    }
    rewinddir(directory);
    int code = 0;
    struct dirent *entry;
    while (code == 0 && (errno = 0, entry = readdir(directory)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            !is_kept(r, fd, entry->d_name)) {
            code = remove_entry(r, fd, entry->d_name, depth);
        }
    }
    closedir(directory);
    return code;
}

/* Removes everything in the directory r->top. */
static int empty_top(struct removal *r)
{
    int code = 0;
    do {
        r->again = false;
        code = remove_entries(r, r->top, 0);
    } while (code == 0 && r->again);
    return code;
}

int os_remove_tree(struct os *os, const char *path, struct err *err)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        return errno == ENOENT ? 0 : err_set(err, -errno, "%s: %s", path, strerror(errno));
    }
    if (!S_ISDIR(st.st_mode)) {
        return os_remove(os, path, err);
    }
    struct removal r = {.path = path, .device = st.st_dev, .err = err};
    r.top = open_directory(AT_FDCWD, path);
    if (r.top < 0 || fstat(r.top, &st) != 0) {
        int error = errno;
        if (r.top >= 0) {
            close(r.top);
        }
        return err_set(err, -error, "%s: %s", path, strerror(error));
    }
    int code = 0;
    if (st.st_dev != r.device) {
        code = err_set(err, -EAGAIN, "%s was replaced by another process during the removal", path);
    } else if ((st.st_mode & S_IRWXU) != S_IRWXU) {
        (void)fchmod(r.top, 0700); /* not ours to change: then removing says so */
    }
    bool removed = false;
    while (code == 0 && !removed) {
        code = empty_top(&r);
        removed = code == 0 && (rmdir(path) == 0 || errno == ENOENT);
        if (code == 0 && !removed && !is_refilled(&r, errno)) {
            code = err_set(err, -errno, "cannot remove %s: %s", path, strerror(errno));
        }
    }
    close(r.top);
    return code;
}

#define NEW_DIRECTORY_BYTES 4096 /* where a file system gives a directory a size, it is a block */

/* Checks what the owner may have changed that emptying does not undo.  If a file system does not
 * answer, that counts as unchanged. */
static bool is_as_new(int fd)
{
    struct fsxattr now = {0}, above = {0};
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size > NEW_DIRECTORY_BYTES || flistxattr(fd, NULL, 0) > 0) {
        return false;
    }
    int parent = openat(fd, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int flags = 0, flags_above = 0;
    bool same = parent >= 0;
    if (same && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
        /* How the file system keeps it (extents, an index, inline data) is not its owner's. */
        same = ioctl(parent, FS_IOC_GETFLAGS, &flags_above) == 0 &&
               ((flags ^ flags_above) & FS_FL_USER_MODIFIABLE & ~FS_EXTENT_FL) == 0;
    }
    if (same && ioctl(fd, FS_IOC_FSGETXATTR, &now) == 0) {
        same = ioctl(parent, FS_IOC_FSGETXATTR, &above) == 0 && now.fsx_projid == above.fsx_projid;
    }
    if (parent >= 0) {
        close(parent);
    }
    return same;
}

/* Makes the directory r->top as good as new, except r->kept. */
static int renew_top(struct removal *r, mode_t mode)
{
    struct stat st = {0};
    /* Ours first: nobody puts anything in while it is emptied. */
    int code = fstat(r->top, &st) != 0 ||
                       ((st.st_uid != geteuid() || st.st_gid != getegid()) &&
                        fchown(r->top, geteuid(), getegid()) != 0) ||
                       ((st.st_mode & 07777) != mode && fchmod(r->top, mode) != 0)
                   ? err_set(r->err, -errno, "%s: %s", r->path, strerror(errno))
                   : 0;
    r->device = st.st_dev;
    code = code != 0 ? code : empty_top(r);
    if (code == 0 && !is_as_new(r->top)) {
        code = err_set(r->err, -ESTALE, "%s: the emptied directory still differs from a new one",
                       r->path);
    }
    return code;
}

int os_renew_directory(struct os *os, const char *path, const char *kept, mode_t mode,
                       struct err *err)
{
    (void)os;
    struct removal outer = {.path = path, .kept = kept, .err = err};
    outer.top = open_directory(AT_FDCWD, path);
    if (outer.top < 0) {
        return err_set(err, -errno, "%s: %s", path, strerror(errno));
    }
    int code = renew_top(&outer, mode);
    if (code == 0 && kept != NULL) {
        struct removal inner = {.path = path, .err = err};
        inner.top = open_directory(outer.top, kept);
        if (inner.top >= 0) {
            code = renew_top(&inner, mode);
            close(inner.top);
        } else if (errno != ENOENT) {
            code = err_set(err, -errno, "%s/%s: %s", path, kept, strerror(errno));
        }
    }
    close(outer.top);
    return code;
}
