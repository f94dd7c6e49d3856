/* rsyscall/wrap/wrap_calls.c - functions on descriptors that the program calls instead of the C
 * library's: see wrap.h.
 *
 * Each function looks under the lock whether the descriptor is a remote file's.  If not, it makes
 * the kernel's call without the lock.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap.h"
#include "rsyscall/wrap/wrap_calls.h"

/* The C library's functions by names that are not wrapped.  A thread that waits in them can be
 * cancelled. */
ssize_t __read(int fd, void *data, size_t length);
ssize_t __write(int fd, const void *data, size_t length);
ssize_t __pread64(int fd, void *data, size_t length, off_t offset);
ssize_t __pwrite64(int fd, const void *data, size_t length, off_t offset);
int __close(int fd);
int __fcntl(int fd, int command, ...);

#define COUNT_MAX 0x7ffff000L /* most bytes of one call, as in the kernel */

long wrap_result(long code)
{
    if (code < 0) {
        errno = (int)-code;
        return -1;
    }
    return code;
}

bool wrap_is_on(void)
{
    sigset_t old;
    bool on = wrap_enter(&old);
    if (on) {
        wrap_leave(&old);
    }
    return on;
}

bool wrap_is_ours(int fd)
{
    sigset_t old;
    bool ours = false;
    if (!wrap_is_certainly_local(fd) && wrap_enter(&old)) {
        ours = wrap_file_of(fd) != NULL;
        wrap_leave(&old);
    }
    return ours;
}

/* Returns the remote file of a descriptor, with the lock held; NULL, without the lock: not a remote
 * file. */
static struct wrap_file *enter_file(int fd, sigset_t *old)
{
    if (wrap_is_certainly_local(fd) || !wrap_enter(old)) {
        return NULL;
    }
    struct wrap_file *file = wrap_file_of(fd);
    if (file == NULL) {
        wrap_leave(old);
    }
    return file;
}

static long leave_with(const sigset_t *old, long code)
{
    wrap_leave(old);
    return wrap_result(code);
}

/* ---- reading, writing ------------------------------------------------------------------------ */

enum at_offset { WRAP_AT_OWN = -1 };

/* Reads or writes at an offset; offset < 0: at the file's own.  Returns the number of bytes or a
 * negative errno. */
static int64_t move_data(struct wrap_file *file, const struct iovec *parts, int count,
                         int64_t offset, bool writes)
{
    int64_t done = 0;
    uint64_t begin = offset >= 0 ? (uint64_t)offset : wrap_file_offset(file);
    for (int i = 0; i < count && done < COUNT_MAX; i++) {
        size_t length = parts[i].iov_len;
        length = length < (size_t)(COUNT_MAX - done) ? length : (size_t)(COUNT_MAX - done);
        uint64_t at = begin + (uint64_t)done;
        int64_t got = writes ? wrap_file_write(file, parts[i].iov_base, length, at)
                             : wrap_file_read(file, parts[i].iov_base, length, at);
        if (got < 0 && done == 0) {
            return got;
        }
        done += got > 0 ? got : 0;
        if (got < (int64_t)length) {
            break;
        }
    }
    if (offset < 0) {
        uint64_t end = begin + (uint64_t)done;
        struct stat st;
        if (writes && (file->flags & O_APPEND) != 0 && wrap_file_stat(file, &st) == 0) {
            end = (uint64_t)st.st_size;
        }
        wrap_file_set_offset(file, end);
    }
    return done;
}

static bool move_remote(int fd, const struct iovec *parts, int count, int64_t offset, bool writes,
                        ssize_t *ret)
{
    sigset_t old;
    struct wrap_file *file = enter_file(fd, &old);
    if (file == NULL) {
        if (writes) {
            wrap_settle_for_others();
        } else {
            (void)__atomic_add_fetch(&wrap_all.heard, 1, __ATOMIC_RELAXED);
        }
        return false;
    }
    *ret = leave_with(&old, count < 0 || count > IOV_MAX
                                ? -EINVAL
                                : move_data(file, parts, count, offset, writes));
    return true;
}

WRAP_EXPORT ssize_t read(int fd, void *data, size_t length)
{
    struct iovec part = {data, length};
    ssize_t ret;
    return move_remote(fd, &part, 1, WRAP_AT_OWN, false, &ret) ? ret : __read(fd, data, length);
}

WRAP_EXPORT ssize_t write(int fd, const void *data, size_t length)
{
    struct iovec part = {(void *)(uintptr_t)data, length};
    ssize_t ret;
    return move_remote(fd, &part, 1, WRAP_AT_OWN, true, &ret) ? ret : __write(fd, data, length);
}

WRAP_EXPORT ssize_t readv(int fd, const struct iovec *parts, int count)
{
    ssize_t ret;
    return move_remote(fd, parts, count, WRAP_AT_OWN, false, &ret)
               ? ret
               : syscall(SYS_readv, fd, parts, count);
}

WRAP_EXPORT ssize_t writev(int fd, const struct iovec *parts, int count)
{
    ssize_t ret;
    return move_remote(fd, parts, count, WRAP_AT_OWN, true, &ret)
               ? ret
               : syscall(SYS_writev, fd, parts, count);
}

WRAP_EXPORT ssize_t pread(int fd, void *data, size_t length, off_t offset)
{
    struct iovec part = {data, length};
    ssize_t ret;
    if (offset >= 0 && move_remote(fd, &part, 1, offset, false, &ret)) {
        return ret;
    }
    return __pread64(fd, data, length, offset);
}

WRAP_EXPORT ssize_t pwrite(int fd, const void *data, size_t length, off_t offset)
{
    struct iovec part = {(void *)(uintptr_t)data, length};
    ssize_t ret;
    if (offset >= 0 && move_remote(fd, &part, 1, offset, true, &ret)) {
        return ret;
    }
    return __pwrite64(fd, data, length, offset);
}

WRAP_EXPORT off_t lseek(int fd, off_t offset, int whence)
{
    sigset_t old;
    struct wrap_file *file = enter_file(fd, &old);
    return file != NULL ? leave_with(&old, wrap_file_seek(file, offset, whence))
                        : syscall(SYS_lseek, fd, offset, whence);
}

static long sync_file(int fd, uint32_t how, long number)
{
    sigset_t old;
    struct wrap_file *file = enter_file(fd, &old);
    if (file == NULL) {
        return syscall(number, fd);
    }
    struct rsys_request request = {.op = RSYS_FSYNC, .at = {.handle = file->handle}, .how = how};
    struct rsys_reply reply;
    wrap_settle();
    int code = wrap_file_take_error(file);
    return leave_with(&old, code != 0 ? code : wrap_call(&request, &reply));
}

WRAP_EXPORT int fsync(int fd)
{
    return (int)sync_file(fd, 0, SYS_fsync);
}

WRAP_EXPORT int fdatasync(int fd)
{
    return (int)sync_file(fd, RSYS_SYNC_DATA, SYS_fdatasync);
}

int wrap_set_attr(struct wrap_file *file, uint32_t how, const struct rsys_attr *attr)
{
    struct rsys_request request = {.op = RSYS_SETATTR,
                                   .at = {.handle = file->handle},
                                   .how = how,
                                   .attr = *attr};
    struct rsys_reply reply;
    wrap_settle();
    wrap_file_forget(file->dev, file->ino);
    return wrap_call(&request, &reply);
}

WRAP_EXPORT int ftruncate(int fd, off_t length)
{
    sigset_t old;
    struct wrap_file *file = enter_file(fd, &old);
    if (file == NULL) {
        return (int)syscall(SYS_ftruncate, fd, length);
    }
    struct rsys_attr attr = {.size = (uint64_t)length};
    bool writes = (file->flags & O_ACCMODE) != O_RDONLY;
    return (int)leave_with(&old, length < 0 || !writes ? -EINVAL
                                                       : wrap_set_attr(file, RSYS_SET_SIZE, &attr));
}

WRAP_EXPORT int fchmod(int fd, mode_t mode)
{
    sigset_t old;
    struct wrap_file *file = enter_file(fd, &old);
    if (file == NULL) {
        return (int)syscall(SYS_fchmod, fd, mode);
    }
    struct rsys_attr attr = {.mode = mode & 07777U};
    return (int)leave_with(&old, wrap_set_attr(file, RSYS_SET_MODE, &attr));
}

/* ---- descriptors ----------------------------------------------------------------------------- */

/* Closes a descriptor.  Programs also close descriptors that they do not know; our connection is
 * among these, and is kept. */
WRAP_EXPORT int close(int fd)
{
    sigset_t old;
    if (enter_file(fd, &old) == NULL) {
        return wrap_all.on && fd >= 0 && fd == wrap_all.fd ? (int)wrap_result(-EBADF) : __close(fd);
    }
    return (int)leave_with(&old, wrap_file_close(fd));
}

static int close_between(unsigned first, unsigned last)
{
    return first <= last ? (int)syscall(SYS_close_range, first, last, 0U) : 0;
}

WRAP_EXPORT int close_range(unsigned first, unsigned last, int flags)
{
    sigset_t old;
    if (flags != 0 || first > last || !wrap_enter(&old)) {
        return (int)syscall(SYS_close_range, first, last, (unsigned)flags);
    }
    for (unsigned fd = first; fd <= last && fd < WRAP_FDS_MAX; fd++) {
        if (wrap_all.fds[fd] != NULL) {
            (void)wrap_file_close((int)fd);
        }
    }
    unsigned ours = (unsigned)wrap_all.fd;
    int code = 0;
    if (wrap_all.fd >= 0 && ours >= first && ours <= last) {
        code = ours > first ? close_between(first, ours - 1) : 0;
        code = code != 0 ? code : close_between(ours + 1, last);
    } else {
        code = close_between(first, last);
    }
    wrap_leave(&old);
    return code;
}

WRAP_EXPORT void closefrom(int first)
{
    (void)close_range(first > 0 ? (unsigned)first : 0, ~0U, 0);
}

/* Moves our connection to another descriptor, when the program wants its number. */
static void evade_descriptor(int to)
{
    sigset_t old;
    if (wrap_enter(&old)) {
        if (to >= 0 && to == wrap_all.fd) {
            int other = (int)syscall(SYS_fcntl, to, F_DUPFD_CLOEXEC, 0);
            wrap_all.fd = other >= 0 ? other : wrap_all.fd;
        }
        wrap_leave(&old);
    }
}

/* Notes that `made`, which the kernel has made of fd (dup() and the like), is the same remote file
 * as fd, or is not a remote file. */
static int note_double(int fd, int made)
{
    sigset_t old;
    if (made >= 0 && made != fd && wrap_enter(&old)) {
        wrap_file_double(wrap_file_of(fd), made);
        wrap_leave(&old);
        if (made <= STDERR_FILENO) {
            wrap_stdio_follow(made);
        }
    }
    return made;
}

WRAP_EXPORT int dup(int fd)
{
    return note_double(fd, (int)syscall(SYS_dup, fd));
}

WRAP_EXPORT int dup2(int fd, int to)
{
    evade_descriptor(to);
    return note_double(fd, (int)syscall(SYS_dup2, fd, to));
}

WRAP_EXPORT int dup3(int fd, int to, int flags)
{
    evade_descriptor(to);
    return note_double(fd, (int)syscall(SYS_dup3, fd, to, flags));
}

/* Answers commands of fcntl() that the kernel cannot answer for the descriptor of a remote file. */
static long control_file(struct wrap_file *file, int fd, int command, uintptr_t value)
{
    const unsigned settable = O_APPEND | O_NONBLOCK | O_NOATIME;
    switch (command) {
    case F_GETFL:
        return (long)file->flags;
    case F_SETFL:
        if (((unsigned)value & O_APPEND) != (file->flags & O_APPEND)) {
            return -EINVAL; /* it was opened for the one or the other at the server */
        }
        file->flags = (file->flags & ~settable) | ((unsigned)value & settable);
        return 0;
    case F_GETFD:
    case F_SETFD: {
        long ret = syscall(SYS_fcntl, fd, command, value);
        return ret < 0 ? -errno : ret;
    }
    default:
        return -EINVAL;
    }
}

static bool is_of_locks(int command)
{
    return command == F_GETLK || command == F_SETLK || command == F_SETLKW ||
           command == F_OFD_GETLK || command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

WRAP_EXPORT int fcntl(int fd, int command, ...)
{
    va_list more;
    va_start(more, command);
    uintptr_t value = va_arg(more, uintptr_t);
    va_end(more);
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) {
        return note_double(fd, (int)syscall(SYS_fcntl, fd, command, value));
    }
    if (is_of_locks(command) && wrap_is_ours(fd)) {
        return (int)wrap_result(wrap_lock(fd, command, (struct flock *)value));
    }
    sigset_t old;
    struct wrap_file *file = enter_file(fd, &old);
    return (int)(file != NULL ? leave_with(&old, control_file(file, fd, command, value))
                              : __fcntl(fd, command, value));
}

/* ---- opening --------------------------------------------------------------------------------- */

int wrap_open(int dir, const char *name, int flags, mode_t mode)
{
    sigset_t old;
    struct wrap_place place;
    if (!wrap_enter(&old)) {
        return (int)syscall(SYS_openat, dir, name, flags, mode);
    }
    int fd = -1;
    int code = wrap_find(dir, name, &place);
    code = code == 0 && place.local ? WRAP_LOCAL : code;
    code = code != 0 ? code : wrap_file_open(&place, flags, mode & ~wrap_umask(), &fd);
    wrap_leave(&old);
    if (code == WRAP_LOCAL) {
        const char *path = place.path[0] != '\0' ? place.path : name;
        return note_double(-1, (int)syscall(SYS_openat, dir, path, flags, mode));
    }
    if (code == 0 && fd <= STDERR_FILENO) {
        wrap_stdio_follow(fd);
    }
    return code < 0 ? (int)wrap_result(code) : fd;
}

static bool has_mode(int flags)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

WRAP_EXPORT int open(const char *name, int flags, ...)
{
    mode_t mode = 0;
    if (has_mode(flags)) {
        va_list more;
        va_start(more, flags);
        mode = va_arg(more, mode_t);
        va_end(more);
    }
    return wrap_open(AT_FDCWD, name, flags, mode);
}

WRAP_EXPORT int openat(int dir, const char *name, int flags, ...)
{
    mode_t mode = 0;
    if (has_mode(flags)) {
        va_list more;
        va_start(more, flags);
        mode = va_arg(more, mode_t);
        va_end(more);
    }
    return wrap_open(dir, name, flags, mode);
}

WRAP_EXPORT int creat(const char *name, mode_t mode)
{
    return wrap_open(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* ---- mapping --------------------------------------------------------------------------------- */

/* Maps a copy of a remote file.  This serves private mappings, and shared ones that are only read,
 * as long as nobody changes the file.  Shared mappings that are written are refused. */
static long map_copy(struct wrap_file *file, void *where, size_t length, int protection, int flags,
                     off_t offset)
{
    struct stat st;
    long kind = flags & MAP_TYPE;
    if (kind != MAP_PRIVATE && (protection & PROT_WRITE) != 0) {
        return -ENODEV;
    }
    int code = offset < 0 || (offset & 4095) != 0 ? -EINVAL : wrap_file_stat(file, &st);
    if (code != 0) {
        return code;
    }
    int how = (flags & ~(MAP_TYPE | MAP_POPULATE)) | MAP_PRIVATE | MAP_ANONYMOUS;
    long at = syscall(SYS_mmap, where, length, PROT_READ | PROT_WRITE, how, -1, 0L);
    if (at == -1) {
        return -errno;
    }
    int64_t got = 1;
    for (size_t done = 0; done < length && got > 0; done += (size_t)got) {
        got = wrap_file_read(file, (char *)(uintptr_t)at + done, length - done,
                             (uint64_t)offset + done);
    }
    if (got >= 0 && protection != (PROT_READ | PROT_WRITE)) {
        got = syscall(SYS_mprotect, at, length, protection) != 0 ? -errno : 0;
    }
    if (got < 0) {
        (void)syscall(SYS_munmap, at, length);
        return got;
    }
    return at;
}

WRAP_EXPORT void *mmap(void *where, size_t length, int protection, int flags, int fd, off_t offset)
{
    sigset_t old;
    struct wrap_file *file = (flags & MAP_ANONYMOUS) == 0 ? enter_file(fd, &old) : NULL;
    if (file != NULL) {
        return (void *)leave_with(&old, map_copy(file, where, length, protection, flags, offset));
    }
    return (void *)syscall(SYS_mmap, where, length, protection, flags, fd, offset);
}

/* ---- the same by other names ----------------------------------------------------------------- */

#define ALSO(OTHER, NAME) \
    extern __typeof__(NAME) OTHER __attribute__((alias(#NAME), visibility("default")))
ALSO(pread64, pread);
ALSO(pwrite64, pwrite);
ALSO(lseek64, lseek);
ALSO(ftruncate64, ftruncate);
ALSO(fcntl64, fcntl);
ALSO(open64, open);
ALSO(openat64, openat);
ALSO(creat64, creat);
ALSO(mmap64, mmap);
