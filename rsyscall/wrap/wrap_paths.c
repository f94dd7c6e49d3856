/* rsyscall/wrap/wrap_paths.c - functions on names that the program calls instead of the C
 * library's: see wrap.h.
 *
 * A call has two halves.  First, find_target() finds where the name leads.  If it leads to the
 * server, the request is made while the lock is held; otherwise the kernel is called, with the name
 * that it knows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>
#include <utime.h>

#include "rsyscall/wrap/wrap_calls.h"

/* True for NULL. glibc's headers declare that a name is not NULL, but a program may pass NULL. */
static bool is_none(const char *name)
{
    return name == NULL;
}

static bool is_empty(const char *name)
{
    return !is_none(name) && *name == '\0';
}

/* The target of a call.  It is in the caller's frame, because a rename has two targets. */
struct target {
    struct wrap_place place;
    sigset_t old;
    const char *name; /* the name for the kernel */
    int code;         /* status of finding the target */
};

/* Finds where the name leads.  True: to the server, or to an error in target->code; the lock is
 * held.  False: to this machine. */
static bool find_target(struct target *target, int dir, const char *name)
{
    target->name = name;
    if (!wrap_enter(&target->old)) {
        return false;
    }
    target->code = wrap_find(dir, name, &target->place);
    if (target->code == 0 && target->place.local) {
        wrap_leave(&target->old);
        target->name = target->place.path[0] != '\0' ? target->place.path : name;
        return false;
    }
    wrap_settle();
    return true;
}

/* Ends a call and releases the lock.  True: *ret is the result; false: the name led to this machine
 * after all. */
static bool finish_answer(struct target *target, int code, long *ret)
{
    wrap_leave(&target->old);
    if (code == WRAP_LOCAL) {
        target->name = target->place.path;
        return false;
    }
    *ret = wrap_result(code);
    return true;
}

/* Makes one request about a name, whose answer is a status.  Returns as finish_answer() does. */
static bool ask_about(struct target *target, int dir, const char *name,
                      struct rsys_request *request, bool follow, long *ret)
{
    struct rsys_reply reply;
    struct rsys_attr attr;
    if (!find_target(target, dir, name)) {
        return false;
    }
    int code = target->code;
    if (code == 0 && follow) {
        code = wrap_follow(&target->place, &attr);
    }
    code = code != 0 ? code : wrap_call_at(&target->place, request, &reply);
    if (code == 0 && request->op == RSYS_SETATTR) {
        wrap_file_forget(reply.attr.dev, reply.attr.ino);
    }
    return finish_answer(target, code, ret);
}

bool wrap_is_remote(int dir, const char *name, const char **local, struct wrap_place *place)
{
    struct target target;
    bool remote = find_target(&target, dir, name);
    if (remote) {
        wrap_leave(&target.old);
    } else if (target.name != name) {
        *place = target.place;
        target.name = place->path;
    }
    *local = target.name;
    return remote;
}

bool wrap_ask_name(int dir, const char **name, struct wrap_place *place,
                   struct rsys_request *request, struct rsys_reply *reply, long *ret)
{
    struct target target;
    struct rsys_attr attr;
    bool ours = find_target(&target, dir, *name);
    if (ours) {
        int code = target.code;
        if (code == 0 && request->op == RSYS_STATFS) {
            code = wrap_follow(&target.place, &attr);
        }
        code = code != 0 ? code : wrap_call_at(&target.place, request, reply);
        ours = finish_answer(&target, code, ret);
    }
    if (!ours && target.name != *name) {
        *place = target.place;
        *name = place->path;
    }
    return ours;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static bool stat_remote(struct target *target, int dir, const char *name, bool follow,
                        struct stat *st, long *ret)
{
    struct rsys_request request = {.op = RSYS_STAT};
    struct rsys_reply reply;
    struct rsys_attr attr;
    if (!find_target(target, dir, name)) {
        return false;
    }
    int code = target->code;
    if (code == 0 && follow) {
        code = wrap_follow(&target->place, &attr);
    } else if (code == 0) {
        code = wrap_call_at(&target->place, &request, &reply);
        attr = reply.attr;
    }
    if (code == 0) {
        wrap_stat_of(&attr, st);
    }
    return finish_answer(target, code, ret);
}

WRAP_EXPORT int fstat(int fd, struct stat *st)
{
    sigset_t old;
    if (wrap_enter(&old)) {
        struct wrap_file *file = wrap_file_of(fd);
        if (file != NULL) {
            int code = wrap_file_stat(file, st);
            wrap_leave(&old);
            return (int)wrap_result(code);
        }
        wrap_leave(&old);
    }
    return (int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}

WRAP_EXPORT int fstatat(int dir, const char *name, struct stat *st, int flags)
{
    struct target target;
    long ret;
    if ((flags & AT_EMPTY_PATH) != 0 && is_empty(name)) {
        return dir == AT_FDCWD ? fstatat(dir, ".", st, 0) : fstat(dir, st);
    }
    if (stat_remote(&target, dir, name, (flags & AT_SYMLINK_NOFOLLOW) == 0, st, &ret)) {
        return (int)ret;
    }
    return (int)syscall(SYS_newfstatat, dir, target.name, st, flags);
}

WRAP_EXPORT int stat(const char *name, struct stat *st)
{
    return fstatat(AT_FDCWD, name, st, 0);
}

WRAP_EXPORT int lstat(const char *name, struct stat *st)
{
    return fstatat(AT_FDCWD, name, st, AT_SYMLINK_NOFOLLOW);
}

static struct statx_timestamp stamp_of(const struct timespec *time)
{
    return (struct statx_timestamp){.tv_sec = time->tv_sec, .tv_nsec = (uint32_t)time->tv_nsec};
}

static void statx_of(const struct stat *st, struct statx *ret)
{
    *ret = (struct statx){.stx_mask = STATX_BASIC_STATS,
                          .stx_blksize = (uint32_t)st->st_blksize,
                          .stx_nlink = (uint32_t)st->st_nlink,
                          .stx_uid = st->st_uid,
                          .stx_gid = st->st_gid,
                          .stx_mode = (uint16_t)st->st_mode,
                          .stx_ino = st->st_ino,
                          .stx_size = (uint64_t)st->st_size,
                          .stx_blocks = (uint64_t)st->st_blocks,
                          .stx_atime = stamp_of(&st->st_atim),
                          .stx_ctime = stamp_of(&st->st_ctim),
                          .stx_mtime = stamp_of(&st->st_mtim),
                          .stx_dev_major = major(st->st_dev),
                          .stx_dev_minor = minor(st->st_dev)};
}

WRAP_EXPORT int statx(int dir, const char *name, int flags, unsigned mask, struct statx *ret)
{
    struct target target;
    struct stat st;
    long code;
    if ((flags & AT_EMPTY_PATH) != 0 && is_empty(name) && dir != AT_FDCWD) {
        sigset_t old;
        bool ours = wrap_enter(&old) && (wrap_file_of(dir) != NULL || (wrap_leave(&old), false));
        if (!ours) {
            return (int)syscall(SYS_statx, dir, name, flags, mask, ret);
        }
        wrap_leave(&old);
        code = fstat(dir, &st);
    } else if (!stat_remote(&target, dir, name, (flags & AT_SYMLINK_NOFOLLOW) == 0, &st, &code)) {
        return (int)syscall(SYS_statx, dir, target.name, flags, mask, ret);
    }
    if (code == 0) {
        statx_of(&st, ret);
    }
    return (int)code;
}

WRAP_EXPORT int faccessat(int dir, const char *name, int how, int flags)
{
    struct target target;
    struct rsys_request request = {.op = RSYS_ACCESS, .how = (uint32_t)how};
    long ret;
    if (ask_about(&target, dir, name, &request, (flags & AT_SYMLINK_NOFOLLOW) == 0, &ret)) {
        return (int)ret;
    }
    return (int)syscall(SYS_faccessat, dir, target.name, how);
}

WRAP_EXPORT int access(const char *name, int how)
{
    return faccessat(AT_FDCWD, name, how, 0);
}

WRAP_EXPORT int euidaccess(const char *name, int how)
{
    return faccessat(AT_FDCWD, name, how, AT_EACCESS);
}

WRAP_EXPORT int eaccess(const char *name, int how)
{
    return euidaccess(name, how);
}

static bool set_attr(struct target *target, int dir, const char *name, uint32_t how,
                     const struct rsys_attr *attr, bool follow, long *ret)
{
    struct rsys_request request = {.op = RSYS_SETATTR, .how = how, .attr = *attr};
    return ask_about(target, dir, name, &request, follow, ret);
}

WRAP_EXPORT int fchmodat(int dir, const char *name, mode_t mode, int flags)
{
    struct target target;
    struct rsys_attr attr = {.mode = mode & 07777U};
    long ret;
    if ((flags & AT_SYMLINK_NOFOLLOW) != 0) {
        return (int)wrap_result(-EOPNOTSUPP); /* as on Linux */
    }
    if (set_attr(&target, dir, name, RSYS_SET_MODE, &attr, true, &ret)) {
        return (int)ret;
    }
    return (int)syscall(SYS_fchmodat, dir, target.name, mode);
}

WRAP_EXPORT int chmod(const char *name, mode_t mode)
{
    return fchmodat(AT_FDCWD, name, mode, 0);
}

WRAP_EXPORT int fchownat(int dir, const char *name, uid_t uid, gid_t gid, int flags)
{
    struct target target;
    struct rsys_attr attr = {.uid = uid, .gid = gid};
    uint32_t how = (uid != (uid_t)-1 ? RSYS_SET_UID : 0) | (gid != (gid_t)-1 ? RSYS_SET_GID : 0);
    long ret;
    if ((flags & AT_EMPTY_PATH) != 0 && is_empty(name)) {
        return fchown(dir, uid, gid);
    }
    if (set_attr(&target, dir, name, how, &attr, (flags & AT_SYMLINK_NOFOLLOW) == 0, &ret)) {
        return (int)ret;
    }
    return (int)syscall(SYS_fchownat, dir, target.name, uid, gid, flags);
}

WRAP_EXPORT int chown(const char *name, uid_t uid, gid_t gid)
{
    return fchownat(AT_FDCWD, name, uid, gid, 0);
}

WRAP_EXPORT int lchown(const char *name, uid_t uid, gid_t gid)
{
    return fchownat(AT_FDCWD, name, uid, gid, AT_SYMLINK_NOFOLLOW);
}

WRAP_EXPORT int truncate(const char *name, off_t length)
{
    struct target target;
    struct rsys_attr attr = {.size = (uint64_t)length};
    long ret;
    if (length < 0) {
        return (int)wrap_result(-EINVAL);
    }
    if (set_attr(&target, AT_FDCWD, name, RSYS_SET_SIZE, &attr, true, &ret)) {
        return (int)ret;
    }
    return (int)syscall(SYS_truncate, target.name, length);
}

/* Translates the times of utimensat() for SETATTR.  Returns RSYS_SET_* flags; 0: nothing
 * changes. */
static uint32_t times_of(const struct timespec *times, struct rsys_attr *ret)
{
    static const struct timespec NOW[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
    static const uint32_t GIVEN[2] = {RSYS_SET_ATIME, RSYS_SET_MTIME};
    static const uint32_t BY_CLOCK[2] = {RSYS_SET_ATIME_NOW, RSYS_SET_MTIME_NOW};
    struct rsys_time *to[2] = {&ret->atime, &ret->mtime};
    uint32_t how = 0;
    times = times != NULL ? times : NOW;
    for (size_t i = 0; i < 2; i++) {
        if (times[i].tv_nsec == UTIME_NOW) {
            how |= BY_CLOCK[i];
        } else if (times[i].tv_nsec != UTIME_OMIT) {
            how |= GIVEN[i];
            *to[i] = (struct rsys_time){times[i].tv_sec, (uint32_t)times[i].tv_nsec};
        }
    }
    return how;
}

WRAP_EXPORT int futimens(int fd, const struct timespec times[2])
{
    sigset_t old;
    struct rsys_attr attr = {0};
    uint32_t how = times_of(times, &attr);
    if (wrap_enter(&old)) {
        struct wrap_file *file = wrap_file_of(fd);
        if (file != NULL) {
            int code = how != 0 ? wrap_set_attr(file, how, &attr) : 0;
            wrap_leave(&old);
            return (int)wrap_result(code);
        }
        wrap_leave(&old);
    }
    return (int)syscall(SYS_utimensat, fd, NULL, times, 0);
}

WRAP_EXPORT int utimensat(int dir, const char *name, const struct timespec times[2], int flags)
{
    struct target target;
    struct rsys_attr attr = {0};
    uint32_t how = times_of(times, &attr);
    long ret;
    if (is_none(name)) {
        return futimens(dir, times);
    }
    if (how == 0) {
        return faccessat(dir, name, F_OK, flags);
    }
    if (set_attr(&target, dir, name, how, &attr, (flags & AT_SYMLINK_NOFOLLOW) == 0, &ret)) {
        return (int)ret;
    }
    return (int)syscall(SYS_utimensat, dir, target.name, times, flags);
}

WRAP_EXPORT int utimes(const char *name, const struct timeval times[2])
{
    struct timespec to[2];
    for (size_t i = 0; i < 2 && times != NULL; i++) {
        to[i] = (struct timespec){times[i].tv_sec, times[i].tv_usec * 1000};
    }
    return utimensat(AT_FDCWD, name, times != NULL ? to : NULL, 0);
}

WRAP_EXPORT int utime(const char *name, const struct utimbuf *times)
{
    struct timespec to[2] = {{0}};
    if (times != NULL) {
        to[0].tv_sec = times->actime;
        to[1].tv_sec = times->modtime;
    }
    return utimensat(AT_FDCWD, name, times != NULL ? to : NULL, 0);
}

/* ---- links ----------------------------------------------------------------------------------- */

WRAP_EXPORT ssize_t readlinkat(int dir, const char *name, char *text, size_t size)
{
    struct target target;
    struct rsys_request request = {.op = RSYS_READLINK};
    struct rsys_reply reply;
    long ret;
    if (find_target(&target, dir, name)) {
        int code = target.code != 0 ? target.code : wrap_call_at(&target.place, &request, &reply);
        if (code == 0) {
            code = reply.text.length < size ? reply.text.length : (int)size;
            memcpy(text, reply.text.data, (size_t)code);
            wrap_leave(&target.old);
            return code;
        }
        if (finish_answer(&target, code, &ret)) {
            return ret;
        }
    }
    return syscall(SYS_readlinkat, dir, target.name, text, size);
}

WRAP_EXPORT ssize_t readlink(const char *name, char *text, size_t size)
{
    return readlinkat(AT_FDCWD, name, text, size);
}

WRAP_EXPORT int symlinkat(const char *text, int dir, const char *name)
{
    struct target target;
    size_t length = strlen(text);
    struct rsys_request request = {.op = RSYS_SYMLINK, .text = {text, (uint16_t)length}};
    long ret;
    if (length == 0 || length > RSYS_PATH_MAX) {
        return (int)wrap_result(length == 0 ? -ENOENT : -ENAMETOOLONG);
    }
    if (ask_about(&target, dir, name, &request, false, &ret)) {
        return (int)ret;
    }
    return (int)syscall(SYS_symlinkat, text, dir, target.name);
}

WRAP_EXPORT int symlink(const char *text, const char *name)
{
    return symlinkat(text, AT_FDCWD, name);
}

/* Makes one request about two names.  *kernel becomes true when the kernel must be called instead,
 * with target.name of both. */
static long ask_both(struct target *at, struct target *to, struct rsys_request *request,
                     bool follow, bool *kernel)
{
    struct rsys_reply reply;
    struct rsys_attr attr;
    sigset_t old;
    *kernel = !wrap_enter(&old);
    if (*kernel) {
        return 0;
    }
    wrap_settle();
    int code = at->code != 0 ? at->code : to->code;
    if (code == 0 && follow && !at->place.local) {
        code = wrap_follow(&at->place, &attr);
        code = code == WRAP_LOCAL ? 0 : code;
    }
    code = code != 0 ? code : wrap_call_both(&at->place, &to->place, request, &reply);
    wrap_leave(&old);
    *kernel = code == WRAP_LOCAL;
    if (*kernel) {
        at->name = at->place.path[0] != '\0' ? at->place.path : at->name;
        to->name = to->place.path[0] != '\0' ? to->place.path : to->name;
    }
    return *kernel ? 0 : wrap_result(code);
}

static void find_one(struct target *target, int dir, const char *name)
{
    if (find_target(target, dir, name)) {
        wrap_leave(&target->old);
    }
}

WRAP_EXPORT int linkat(int dir, const char *name, int dir_to, const char *name_to, int flags)
{
    struct target at, to;
    struct rsys_request request = {.op = RSYS_LINK};
    bool kernel;
    find_one(&at, dir, name);
    find_one(&to, dir_to, name_to);
    long ret = ask_both(&at, &to, &request, (flags & AT_SYMLINK_FOLLOW) != 0, &kernel);
    return (int)(kernel ? syscall(SYS_linkat, dir, at.name, dir_to, to.name, flags) : ret);
}

WRAP_EXPORT int link(const char *name, const char *to)
{
    return linkat(AT_FDCWD, name, AT_FDCWD, to, 0);
}

WRAP_EXPORT int renameat2(int dir, const char *name, int dir_to, const char *name_to,
                          unsigned flags)
{
    struct target at, to;
    struct rsys_request request = {.op = RSYS_RENAME};
    bool kernel;
    request.how = ((flags & RENAME_NOREPLACE) != 0 ? RSYS_RENAME_NOREPLACE : 0) |
                  ((flags & RENAME_EXCHANGE) != 0 ? RSYS_RENAME_EXCHANGE : 0);
    find_one(&at, dir, name);
    find_one(&to, dir_to, name_to);
    long ret = ask_both(&at, &to, &request, false, &kernel);
    return (int)(kernel ? syscall(SYS_renameat2, dir, at.name, dir_to, to.name, flags) : ret);
}

WRAP_EXPORT int renameat(int dir, const char *name, int dir_to, const char *name_to)
{
    return renameat2(dir, name, dir_to, name_to, 0);
}

WRAP_EXPORT int rename(const char *name, const char *to)
{
    return renameat2(AT_FDCWD, name, AT_FDCWD, to, 0);
}

/* ---- making, removing ------------------------------------------------------------------------ */

WRAP_EXPORT int mkdirat(int dir, const char *name, mode_t mode)
{
    struct target target;
    struct rsys_request request = {.op = RSYS_MKDIR, .mode = mode & 01777U & ~wrap_umask()};
    long ret;
    if (ask_about(&target, dir, name, &request, false, &ret)) {
        return (int)ret;
    }
    return (int)syscall(SYS_mkdirat, dir, target.name, mode);
}

WRAP_EXPORT int mkdir(const char *name, mode_t mode)
{
    return mkdirat(AT_FDCWD, name, mode);
}

WRAP_EXPORT int unlinkat(int dir, const char *name, int flags)
{
    struct target target;
    struct rsys_request request = {.op = (flags & AT_REMOVEDIR) != 0 ? RSYS_RMDIR : RSYS_UNLINK};
    long ret;
    if (ask_about(&target, dir, name, &request, false, &ret)) {
        return (int)ret;
    }
    return (int)syscall(SYS_unlinkat, dir, target.name, flags);
}

WRAP_EXPORT int unlink(const char *name)
{
    return unlinkat(AT_FDCWD, name, 0);
}

WRAP_EXPORT int rmdir(const char *name)
{
    return unlinkat(AT_FDCWD, name, AT_REMOVEDIR);
}

WRAP_EXPORT int remove(const char *name)
{
    int code = unlink(name);
    return code != 0 && errno == EISDIR ? rmdir(name) : code;
}

/* ---- working directory ----------------------------------------------------------------------- */

/* Sets the working directory, also for programs that are executed later.  Call without the lock. */
static int change_directory(const char *path)
{
    sigset_t old;
    int code = setenv("ROOST_REMOTE_CWD", path, 1);
    if (code == 0 && wrap_enter(&old)) {
        (void)snprintf(wrap_all.cwd, sizeof wrap_all.cwd, "%s", path);
        wrap_leave(&old);
    }
    return code;
}

WRAP_EXPORT int chdir(const char *name)
{
    struct target target;
    struct rsys_attr attr;
    long ret;
    if (find_target(&target, AT_FDCWD, name)) {
        int code = target.code != 0 ? target.code : wrap_follow(&target.place, &attr);
        if (code == 0 && !S_ISDIR(attr.mode)) {
            code = -ENOTDIR;
        }
        if (code == 0) {
            struct rsys_request request = {.op = RSYS_ACCESS, .how = X_OK};
            struct rsys_reply reply;
            code = wrap_call_at(&target.place, &request, &reply);
        }
        if (finish_answer(&target, code, &ret)) {
            return ret == 0 ? change_directory(target.place.path) : (int)ret;
        }
    }
    int code = (int)syscall(SYS_chdir, target.name);
    char here[WRAP_PATH_SIZE];
    if (code == 0 && wrap_all.on && syscall(SYS_getcwd, here, sizeof here) > 0) {
        return change_directory(here);
    }
    return code;
}

WRAP_EXPORT int fchdir(int fd)
{
    sigset_t old;
    struct wrap_record record;
    bool ours = false;
    long code = 0;
    if (wrap_enter(&old)) {
        const struct wrap_file *file = wrap_file_of(fd);
        ours = file != NULL;
        if (ours) {
            code = !S_ISDIR(file->mode) ? -ENOTDIR : wrap_record_read(fd, &record) ? 0 : -EIO;
        }
        wrap_leave(&old);
    }
    if (ours) {
        return code == 0 ? change_directory(record.path) : (int)wrap_result(code);
    }
    char here[WRAP_PATH_SIZE];
    code = syscall(SYS_fchdir, fd);
    if (code == 0 && wrap_all.on && syscall(SYS_getcwd, here, sizeof here) > 0) {
        return change_directory(here);
    }
    return (int)code;
}

/* Copies text to the buffer `to`; NULL: to memory that the program frees.  Returns NULL with errno
 * when there is no room. */
static char *hand_out(const char *text, char *to, size_t size)
{
    size_t length = strlen(text) + 1;
    if (to == NULL) {
        size = size > 0 ? size : length;
        to = size >= length ? malloc(size) : NULL;
        if (to == NULL) {
            errno = size >= length ? ENOMEM : ERANGE;
            return NULL;
        }
    }
    if (size < length) {
        errno = ERANGE;
        return NULL;
    }
    memcpy(to, text, length);
    return to;
}

WRAP_EXPORT char *getcwd(char *to, size_t size)
{
    char here[WRAP_PATH_SIZE];
    sigset_t old;
    if (to != NULL && size == 0) {
        errno = EINVAL;
        return NULL;
    }
    if (wrap_enter(&old)) {
        memcpy(here, wrap_all.cwd, sizeof here);
        wrap_leave(&old);
    } else if (syscall(SYS_getcwd, here, sizeof here) < 0) {
        return NULL;
    }
    return hand_out(here, to, size);
}

WRAP_EXPORT char *realpath(const char *name, char *to)
{
    struct target target;
    struct rsys_attr attr;
    long ret;
    if (find_target(&target, AT_FDCWD, name)) {
        int code = target.code != 0 ? target.code : wrap_follow(&target.place, &attr);
        if (finish_answer(&target, code, &ret)) {
            return ret == 0 ? hand_out(target.place.path, to, to != NULL ? PATH_MAX : 0) : NULL;
        }
    }
    /* What the kernel says of an open one. */
    char link[64], path[WRAP_PATH_SIZE];
    int fd = (int)syscall(SYS_openat, AT_FDCWD, target.name, O_PATH | O_CLOEXEC, 0);
    if (fd < 0) {
        return NULL;
    }
    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
    (void)syscall(SYS_close, fd);
    path[length > 0 ? length : 0] = '\0';
    return length > 0 ? hand_out(path, to, to != NULL ? PATH_MAX : 0) : NULL;
}

WRAP_EXPORT mode_t umask(mode_t mask)
{
    mode_t before = (mode_t)syscall(SYS_umask, mask);
    __atomic_store_n(&wrap_all.umask, (mask & 0777U) | WRAP_UMASK_KNOWN, __ATOMIC_RELAXED);
    return before;
}

/* Returns the process's umask.  The kernel tells it only when it is changed, so this is done once,
 * early. */
mode_t wrap_umask(void)
{
    uint32_t known = __atomic_load_n(&wrap_all.umask, __ATOMIC_RELAXED);
    if (known == 0) {
        mode_t mask = (mode_t)syscall(SYS_umask, 077);
        (void)syscall(SYS_umask, mask);
        known = mask | WRAP_UMASK_KNOWN;
        __atomic_store_n(&wrap_all.umask, known, __ATOMIC_RELAXED);
    }
    return known & 0777U;
}

/* ---- other names of the same calls, also for programs linked before glibc 2.33 --------------- */

int __fxstat(int version, int fd, struct stat *st);
int __xstat(int version, const char *name, struct stat *st);
int __lxstat(int version, const char *name, struct stat *st);
int __fxstatat(int version, int dir, const char *name, struct stat *st, int flags);

WRAP_EXPORT int __fxstat(int version, int fd, struct stat *st)
{
    (void)version;
    return fstat(fd, st);
}

WRAP_EXPORT int __xstat(int version, const char *name, struct stat *st)
{
    (void)version;
    return stat(name, st);
}

WRAP_EXPORT int __lxstat(int version, const char *name, struct stat *st)
{
    (void)version;
    return lstat(name, st);
}

WRAP_EXPORT int __fxstatat(int version, int dir, const char *name, struct stat *st, int flags)
{
    (void)version;
    return fstatat(dir, name, st, flags);
}

/* struct stat64 equals struct stat on this machine, but the compiler does not know that. */
#define ALSO(OTHER, NAME, ...) \
    extern int OTHER(__VA_ARGS__) __attribute__((alias(#NAME), visibility("default")))
struct stat64;
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif
ALSO(stat64, stat, const char *, struct stat64 *);
ALSO(lstat64, lstat, const char *, struct stat64 *);
ALSO(fstat64, fstat, int, struct stat64 *);
ALSO(fstatat64, fstatat, int, const char *, struct stat64 *, int);
ALSO(truncate64, truncate, const char *, off_t);
int __fxstat64(int, int, struct stat64 *);
int __xstat64(int, const char *, struct stat64 *);
int __lxstat64(int, const char *, struct stat64 *);
ALSO(__fxstat64, __fxstat, int, int, struct stat64 *);
ALSO(__xstat64, __xstat, int, const char *, struct stat64 *);
ALSO(__lxstat64, __lxstat, int, const char *, struct stat64 *);
