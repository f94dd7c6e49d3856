/* rsyscall/wrap/wrap_others.c - calls that must be wrapped because they do the same as others: see
 * wrap.h.
 *
 * These are the calls by which programs that were built with _FORTIFY_SOURCE read and open, calls
 * with several buffers and an offset, and calls that remote files do not support: programs use
 * another way when these are refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap_calls.h"

/* ---- several buffers, and an offset ---------------------------------------------------------- */

static ssize_t move_parts(int fd, const struct iovec *parts, int count, off_t offset, bool writes)
{
    ssize_t done = 0;
    for (int i = 0; i < count; i++) {
        ssize_t part = writes ? pwrite(fd, parts[i].iov_base, parts[i].iov_len, offset + done)
                              : pread(fd, parts[i].iov_base, parts[i].iov_len, offset + done);
        if (part < 0) {
            return done > 0 ? done : -1;
        }
        done += part;
        if ((size_t)part < parts[i].iov_len) {
            break;
        }
    }
    return done;
}

WRAP_EXPORT ssize_t preadv2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    if (!wrap_is_ours(fd)) {
        return syscall(SYS_preadv2, fd, parts, count, offset, 0L, flags);
    }
    return flags != 0     ? wrap_result(-EOPNOTSUPP)
           : offset == -1 ? readv(fd, parts, count)
                          : move_parts(fd, parts, count, offset, false);
}

WRAP_EXPORT ssize_t pwritev2(int fd, const struct iovec *parts, int count, off_t offset, int flags)
{
    if (!wrap_is_ours(fd)) {
        return syscall(SYS_pwritev2, fd, parts, count, offset, 0L, flags);
    }
    return flags != 0     ? wrap_result(-EOPNOTSUPP)
           : offset == -1 ? writev(fd, parts, count)
                          : move_parts(fd, parts, count, offset, true);
}

WRAP_EXPORT ssize_t preadv(int fd, const struct iovec *parts, int count, off_t offset)
{
    return wrap_is_ours(fd) ? move_parts(fd, parts, count, offset, false)
                            : syscall(SYS_preadv, fd, parts, count, offset, 0L);
}

WRAP_EXPORT ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset)
{
    return wrap_is_ours(fd) ? move_parts(fd, parts, count, offset, true)
                            : syscall(SYS_pwritev, fd, parts, count, offset, 0L);
}

/* ---- calls that programs can do without ------------------------------------------------------ */

WRAP_EXPORT ssize_t splice(int from, off_t *at, int to, off_t *at_to, size_t length, unsigned flags)
{
    return wrap_is_ours(from) || wrap_is_ours(to)
               ? wrap_result(-EINVAL)
               : syscall(SYS_splice, from, at, to, at_to, length, flags);
}

WRAP_EXPORT int posix_fadvise(int fd, off_t offset, off_t length, int advice)
{
    if (wrap_is_ours(fd)) {
        return 0;
    }
    return syscall(SYS_fadvise64, fd, offset, length, advice) == 0 ? 0 : errno;
}

WRAP_EXPORT ssize_t readahead(int fd, off_t offset, size_t length)
{
    return wrap_is_ours(fd) ? 0 : syscall(SYS_readahead, fd, offset, length);
}

WRAP_EXPORT int ioctl(int fd, unsigned long order, ...)
{
    va_list more;
    va_start(more, order);
    uintptr_t value = va_arg(more, uintptr_t);
    va_end(more);
    return (int)(wrap_is_ours(fd) ? wrap_result(-ENOTTY) : syscall(SYS_ioctl, fd, order, value));
}

WRAP_EXPORT int flock(int fd, int how)
{
    return (int)(wrap_is_ours(fd) ? wrap_result(wrap_lock_whole(fd, how))
                                  : syscall(SYS_flock, fd, how));
}

WRAP_EXPORT int lockf(int fd, int how, off_t length)
{
    struct flock lock = {.l_whence = SEEK_CUR, .l_len = length};
    switch (how) {
    case F_ULOCK:
        lock.l_type = F_UNLCK;
        return fcntl(fd, F_SETLK, &lock);
    case F_LOCK:
    case F_TLOCK:
        lock.l_type = F_WRLCK;
        return fcntl(fd, how == F_LOCK ? F_SETLKW : F_SETLK, &lock);
    case F_TEST:
        lock.l_type = F_WRLCK;
        if (fcntl(fd, F_GETLK, &lock) != 0) {
            return -1;
        }
        return lock.l_type == F_UNLCK || lock.l_pid == getpid() ? 0 : (int)wrap_result(-EACCES);
    default:
        return (int)wrap_result(-EINVAL);
    }
}

static int allocate_range(int fd, int how, off_t offset, off_t length)
{
    sigset_t old;
    int code = -EBADF;
    if (offset < 0 || length <= 0 || !wrap_enter(&old)) {
        return -EINVAL;
    }
    struct wrap_file *file = wrap_file_of(fd);
    if (file != NULL && (file->flags & O_ACCMODE) != O_RDONLY) {
        struct rsys_request request = {.op = RSYS_FALLOCATE,
                                       .at = {.handle = file->handle},
                                       .offset = (uint64_t)offset,
                                       .length = (uint64_t)length,
                                       .how = (uint32_t)how};
        struct rsys_reply reply;
        wrap_settle();
        wrap_file_forget(file->dev, file->ino);
        code = wrap_call(&request, &reply);
    }
    wrap_leave(&old);
    return code;
}

WRAP_EXPORT int fallocate(int fd, int how, off_t offset, off_t length)
{
    return (int)(wrap_is_ours(fd) ? wrap_result(allocate_range(fd, how, offset, length))
                                  : syscall(SYS_fallocate, fd, how, offset, length));
}

/* Returns the error as its result, not in errno. (The C library's function would write zeros where
 * a file system does not support the call.) */
WRAP_EXPORT int posix_fallocate(int fd, off_t offset, off_t length)
{
    if (wrap_is_ours(fd)) {
        return -allocate_range(fd, 0, offset, length);
    }
    return syscall(SYS_fallocate, fd, 0, offset, length) == 0 ? 0 : errno;
}

WRAP_EXPORT int fchown(int fd, uid_t uid, gid_t gid)
{
    sigset_t old;
    struct rsys_attr attr = {.uid = uid, .gid = gid};
    uint32_t how = (uid != (uid_t)-1 ? RSYS_SET_UID : 0) | (gid != (gid_t)-1 ? RSYS_SET_GID : 0);
    if (wrap_enter(&old)) {
        struct wrap_file *file = wrap_file_of(fd);
        if (file != NULL) {
            int code = wrap_set_attr(file, how, &attr);
            wrap_leave(&old);
            return (int)wrap_result(code);
        }
        wrap_leave(&old);
    }
    return (int)syscall(SYS_fchown, fd, uid, gid);
}

/* ---- calls of _FORTIFY_SOURCE ---------------------------------------------------------------- */

/* The C library's function for a buffer that is too small: it ends the program. */
_Noreturn void __chk_fail(void);
ssize_t __read_chk(int fd, void *data, size_t length, size_t room);
ssize_t __pread_chk(int fd, void *data, size_t length, off_t offset, size_t room);
ssize_t __readlink_chk(const char *name, char *text, size_t size, size_t room);
ssize_t __readlinkat_chk(int dir, const char *name, char *text, size_t size, size_t room);
char *__getcwd_chk(char *to, size_t size, size_t room);
char *__realpath_chk(const char *name, char *to, size_t room);
int __open_2(const char *name, int flags);
int __openat_2(int dir, const char *name, int flags);

static size_t checked_length(size_t length, size_t room)
{
    if (length > room) {
        __chk_fail();
    }
    return length;
}

WRAP_EXPORT ssize_t __read_chk(int fd, void *data, size_t length, size_t room)
{
    return read(fd, data, checked_length(length, room));
}

WRAP_EXPORT ssize_t __pread_chk(int fd, void *data, size_t length, off_t offset, size_t room)
{
    return pread(fd, data, checked_length(length, room), offset);
}

WRAP_EXPORT ssize_t __readlink_chk(const char *name, char *text, size_t size, size_t room)
{
    return readlink(name, text, checked_length(size, room));
}

WRAP_EXPORT ssize_t __readlinkat_chk(int dir, const char *name, char *text, size_t size,
                                     size_t room)
{
    return readlinkat(dir, name, text, checked_length(size, room));
}

WRAP_EXPORT char *__getcwd_chk(char *to, size_t size, size_t room)
{
    return getcwd(to, checked_length(size, room));
}

WRAP_EXPORT char *__realpath_chk(const char *name, char *to, size_t room)
{
    return realpath(name, checked_length(PATH_MAX, room) > 0 ? to : NULL);
}

WRAP_EXPORT int __open_2(const char *name, int flags)
{
    return open(name, flags, 0);
}

WRAP_EXPORT int __openat_2(int dir, const char *name, int flags)
{
    return openat(dir, name, flags, 0);
}

#define ALSO(OTHER, NAME) \
    extern __typeof__(NAME) OTHER __attribute__((alias(#NAME), visibility("default")))
ALSO(preadv64, preadv);
ALSO(pwritev64, pwritev);
ALSO(preadv64v2, preadv2);
ALSO(pwritev64v2, pwritev2);
ALSO(lockf64, lockf);
ALSO(fallocate64, fallocate);
ALSO(posix_fallocate64, posix_fallocate);
ALSO(posix_fadvise64, posix_fadvise);
ALSO(__pread64_chk, __pread_chk);
ALSO(__open64_2, __open_2);
ALSO(__openat64_2, __openat_2);
