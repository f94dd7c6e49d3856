/* rsyscall/wrap/wrap_more.c - calls that the C library builds from other calls, by internal names
 * that cannot be wrapped: temporary names, facts about file systems, copies, watches.  See wrap.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap_calls.h"

#define TRIES_MAX  10000
#define PIECE      ((size_t)64 << 10) /* bytes that sendfile() copies at a time */
#define NAME_BYTES 6                  /* "XXXXXX" */

/* ---- temporary names ------------------------------------------------------------------------- */

enum made { MADE_FILE, MADE_DIRECTORY, MADE_NAME };

/* Replaces the six X's of pattern, `suffix` bytes before its end, and makes a file or directory of
 * that new name. */
static int make_up(char *pattern, int suffix, int flags, enum made what)
{
    static const char LETTERS[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    size_t length = strlen(pattern), tail = suffix >= 0 ? (size_t)suffix : length;
    unsigned char chance[NAME_BYTES];
    struct stat st;
    if (length < NAME_BYTES + tail ||
        memcmp(pattern + length - tail - NAME_BYTES, "XXXXXX", NAME_BYTES) != 0) {
        return (int)wrap_result(-EINVAL);
    }
    char *at = pattern + length - tail - NAME_BYTES;
    for (int i = 0; i < TRIES_MAX; i++) {
        if (syscall(SYS_getrandom, chance, sizeof chance, 0) != (long)sizeof chance) {
            return -1;
        }
        for (size_t k = 0; k < NAME_BYTES; k++) {
            at[k] = LETTERS[chance[k] % (sizeof LETTERS - 1)];
        }
        int ret =
            what == MADE_FILE
                ? open(pattern, (flags & ~O_ACCMODE) | O_RDWR | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR)
            : what == MADE_DIRECTORY   ? mkdir(pattern, S_IRWXU)
            : lstat(pattern, &st) == 0 ? (int)wrap_result(-EEXIST)
                                       : 0;
        if (ret >= 0 || errno != EEXIST) {
            return ret;
        }
    }
    return -1;
}

WRAP_EXPORT int mkostemps(char *pattern, int suffix, int flags)
{
    return make_up(pattern, suffix, flags, MADE_FILE);
}

WRAP_EXPORT int mkstemps(char *pattern, int suffix)
{
    return make_up(pattern, suffix, 0, MADE_FILE);
}

WRAP_EXPORT int mkostemp(char *pattern, int flags)
{
    return make_up(pattern, 0, flags, MADE_FILE);
}

WRAP_EXPORT int mkstemp(char *pattern)
{
    return make_up(pattern, 0, 0, MADE_FILE);
}

WRAP_EXPORT char *mkdtemp(char *pattern)
{
    return make_up(pattern, 0, 0, MADE_DIRECTORY) == 0 ? pattern : NULL;
}

WRAP_EXPORT char *mktemp(char *pattern)
{
    if (make_up(pattern, 0, 0, MADE_NAME) != 0) {
        *pattern = '\0';
    }
    return pattern;
}

/* ---- facts about a file system --------------------------------------------------------------- */

static void statfs_of(const struct rsys_statfs *from, struct statfs *ret)
{
    memset(ret, 0, sizeof *ret);
    ret->f_type = 0x65735546; /* FUSE_SUPER_MAGIC: files of which the kernel knows little */
    ret->f_bsize = ret->f_frsize = (long)from->frsize;
    ret->f_blocks = from->blocks;
    ret->f_bfree = from->bfree;
    ret->f_bavail = from->bavail;
    ret->f_files = from->files;
    ret->f_ffree = from->ffree;
    ret->f_namelen = (long)from->namelen;
}

WRAP_EXPORT int statfs(const char *name, struct statfs *ret)
{
    struct rsys_request request = {.op = RSYS_STATFS};
    struct rsys_reply reply;
    const char *local = name;
    struct wrap_place place;
    long code = 0;
    if (!wrap_ask_name(AT_FDCWD, &local, &place, &request, &reply, &code)) {
        return (int)syscall(SYS_statfs, local, ret);
    }
    if (code == 0) {
        statfs_of(&reply.statfs, ret);
    }
    return (int)code;
}

WRAP_EXPORT int fstatfs(int fd, struct statfs *ret)
{
    sigset_t old;
    struct rsys_reply reply;
    if (wrap_is_certainly_local(fd) || !wrap_enter(&old)) {
        return (int)syscall(SYS_fstatfs, fd, ret);
    }
    const struct wrap_file *file = wrap_file_of(fd);
    int code = 0;
    if (file != NULL) {
        struct rsys_request request = {.op = RSYS_STATFS, .at = {.handle = file->handle}};
        wrap_settle();
        code = wrap_call(&request, &reply);
    }
    wrap_leave(&old);
    if (file == NULL) {
        return (int)syscall(SYS_fstatfs, fd, ret);
    }
    if (code == 0) {
        statfs_of(&reply.statfs, ret);
    }
    return (int)wrap_result(code);
}

static int as_statvfs(int code, const struct statfs *from, struct statvfs *ret)
{
    if (code == 0) {
        memset(ret, 0, sizeof *ret);
        ret->f_bsize = (unsigned long)from->f_bsize;
        ret->f_frsize = (unsigned long)(from->f_frsize != 0 ? from->f_frsize : from->f_bsize);
        ret->f_blocks = from->f_blocks;
        ret->f_bfree = from->f_bfree;
        ret->f_bavail = from->f_bavail;
        ret->f_files = from->f_files;
        ret->f_ffree = ret->f_favail = from->f_ffree;
        ret->f_flag = (unsigned long)from->f_flags & ~0x20UL; /* ST_VALID is the kernel's own */
        ret->f_namemax = (unsigned long)from->f_namelen;
    }
    return code;
}

WRAP_EXPORT int statvfs(const char *name, struct statvfs *ret)
{
    struct statfs st;
    return as_statvfs(statfs(name, &st), &st, ret);
}

WRAP_EXPORT int fstatvfs(int fd, struct statvfs *ret)
{
    struct statfs st;
    return as_statvfs(fstatfs(fd, &st), &st, ret);
}

/* ---- fifos and empty files ------------------------------------------------------------------- */

WRAP_EXPORT int mknodat(int dir, const char *name, mode_t mode, dev_t dev)
{
    struct rsys_request request = {.op = RSYS_MKNOD, .mode = mode & ~wrap_umask()};
    struct rsys_reply reply;
    const char *local = name;
    struct wrap_place place;
    long code = 0;
    request.mode |= (mode & S_IFMT) == 0 ? S_IFREG : 0;
    return (int)(wrap_ask_name(dir, &local, &place, &request, &reply, &code)
                     ? code
                     : syscall(SYS_mknodat, dir, local, mode, dev));
}

WRAP_EXPORT int mknod(const char *name, mode_t mode, dev_t dev)
{
    return mknodat(AT_FDCWD, name, mode, dev);
}

WRAP_EXPORT int mkfifoat(int dir, const char *name, mode_t mode)
{
    return mknodat(dir, name, (mode & 07777U) | S_IFIFO, 0);
}

WRAP_EXPORT int mkfifo(const char *name, mode_t mode)
{
    return mkfifoat(AT_FDCWD, name, mode);
}

/* ---- copies ---------------------------------------------------------------------------------- */

/* Copies data within the server.  False: not both files are the server's. */
static bool copy_remote(int from, off_t *at, int to, off_t *at_to, size_t length, long *ret)
{
    sigset_t old;
    struct rsys_reply reply;
    if (wrap_is_certainly_local(from) || wrap_is_certainly_local(to) || !wrap_enter(&old)) {
        return false;
    }
    struct wrap_file *source = wrap_file_of(from), *target = wrap_file_of(to);
    if (source == NULL || target == NULL) {
        wrap_leave(&old);
        return false;
    }
    uint64_t offset = at != NULL ? (uint64_t)*at : wrap_file_offset(source);
    uint64_t offset_to = at_to != NULL ? (uint64_t)*at_to : wrap_file_offset(target);
    struct rsys_request request = {.op = RSYS_COPY,
                                   .at = {.handle = source->handle},
                                   .to = {.handle = target->handle},
                                   .offset = offset,
                                   .offset_to = offset_to,
                                   .length = length};
    wrap_settle();
    wrap_file_forget(target->dev, target->ino);
    long code = wrap_call(&request, &reply);
    if (code == 0) {
        code = (long)reply.value;
        if (at != NULL) {
            *at += code;
        } else {
            wrap_file_set_offset(source, offset + reply.value);
        }
        if (at_to != NULL) {
            *at_to += code;
        } else {
            wrap_file_set_offset(target, offset_to + reply.value);
        }
    }
    wrap_leave(&old);
    *ret = wrap_result(code);
    return true;
}

WRAP_EXPORT ssize_t copy_file_range(int from, off_t *at, int to, off_t *at_to, size_t length,
                                    unsigned flags)
{
    long ret;
    if (flags == 0 && copy_remote(from, at, to, at_to, length, &ret)) {
        return ret;
    }
    return wrap_is_ours(from) || wrap_is_ours(to)
               ? wrap_result(-EXDEV) /* who calls it copies by himself then */
               : syscall(SYS_copy_file_range, from, at, to, at_to, length, flags);
}

WRAP_EXPORT ssize_t sendfile(int to, int from, off_t *at, size_t length)
{
    char piece[PIECE];
    size_t done = 0;
    if (!wrap_is_ours(from) && !wrap_is_ours(to)) {
        return syscall(SYS_sendfile, to, from, at, length);
    }
    while (done < length) {
        size_t wanted = length - done < PIECE ? length - done : PIECE;
        ssize_t got = at != NULL ? pread(from, piece, wanted, *at) : read(from, piece, wanted);
        ssize_t sent = got > 0 ? write(to, piece, (size_t)got) : got;
        if (sent < got && got > 0 && at == NULL) {
            (void)lseek(from, (sent > 0 ? sent : 0) - got, SEEK_CUR);
        }
        if (sent <= 0) {
            return done > 0 ? (ssize_t)done : sent;
        }
        done += (size_t)sent;
        if (at != NULL) {
            *at += sent;
        }
        if (sent < got) {
            break;
        }
    }
    return (ssize_t)done;
}

/* ---- the same by other names ----------------------------------------------------------------- */

static int set_times(int dir, const char *name, const struct timeval times[2], int flags)
{
    struct timespec to[2] = {{0}};
    for (size_t i = 0; i < 2 && times != NULL; i++) {
        to[i] = (struct timespec){times[i].tv_sec, times[i].tv_usec * 1000};
    }
    return utimensat(dir, name, times != NULL ? to : NULL, flags);
}

WRAP_EXPORT int lutimes(const char *name, const struct timeval times[2])
{
    return set_times(AT_FDCWD, name, times, AT_SYMLINK_NOFOLLOW);
}

WRAP_EXPORT int futimesat(int dir, const char *name, const struct timeval times[2])
{
    return set_times(dir, name, times, 0);
}

WRAP_EXPORT int futimes(int fd, const struct timeval times[2])
{
    struct timespec to[2] = {{0}};
    for (size_t i = 0; i < 2 && times != NULL; i++) {
        to[i] = (struct timespec){times[i].tv_sec, times[i].tv_usec * 1000};
    }
    return futimens(fd, times != NULL ? to : NULL);
}

WRAP_EXPORT char *get_current_dir_name(void)
{
    return getcwd(NULL, 0);
}

WRAP_EXPORT char *getwd(char *to)
{
    return getcwd(to, PATH_MAX);
}

WRAP_EXPORT char *canonicalize_file_name(const char *name)
{
    return realpath(name, NULL);
}

/* Values of pathconf() for remote files: what POSIX promises and the protocol allows. */
static long conf_of(int name)
{
    switch (name) {
    case _PC_NAME_MAX:
        return RSYS_NAME_MAX;
    case _PC_PATH_MAX:
        return PATH_MAX;
    case _PC_LINK_MAX:
        return 127;
    case _PC_PIPE_BUF:
        return PIPE_BUF;
    case _PC_NO_TRUNC:
    case _PC_CHOWN_RESTRICTED:
        return 1;
    case _PC_FILESIZEBITS:
        return 64;
    default:
        return -1;
    }
}

WRAP_EXPORT long fpathconf(int fd, int name)
{
    struct stat st;
    return fstat(fd, &st) == 0 ? conf_of(name) : -1;
}

WRAP_EXPORT long pathconf(const char *path, int name)
{
    struct stat st;
    return stat(path, &st) == 0 ? conf_of(name) : -1;
}

/* ---- not supported --------------------------------------------------------------------------- */

/* Remote files cannot be watched, because the server does not report changes. */
WRAP_EXPORT int inotify_add_watch(int fd, const char *name, uint32_t mask)
{
    struct wrap_place place;
    const char *local;
    return (int)(wrap_is_remote(AT_FDCWD, name, &local, &place)
                     ? wrap_result(-EOPNOTSUPP)
                     : syscall(SYS_inotify_add_watch, fd, local, mask));
}

int __fxstatat64(int version, int dir, const char *name, struct stat64 *st, int flags);
WRAP_EXPORT int __fxstatat64(int version, int dir, const char *name, struct stat64 *st, int flags)
{
    (void)version;
    return fstatat(dir, name, (struct stat *)(void *)st, flags); /* the same on this machine */
}

#ifndef __clang__
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif
#define ALSO(OTHER, NAME) \
    extern __typeof__(NAME) OTHER __attribute__((alias(#NAME), visibility("default")))
ALSO(mkstemp64, mkstemp);
ALSO(mkstemps64, mkstemps);
ALSO(mkostemp64, mkostemp);
ALSO(mkostemps64, mkostemps);
ALSO(sendfile64, sendfile);
struct statfs64;
struct statvfs64;
extern int statfs64(const char *, struct statfs64 *)
    __attribute__((alias("statfs"), visibility("default")));
extern int fstatfs64(int, struct statfs64 *)
    __attribute__((alias("fstatfs"), visibility("default")));
extern int statvfs64(const char *, struct statvfs64 *)
    __attribute__((alias("statvfs"), visibility("default")));
extern int fstatvfs64(int, struct statvfs64 *)
    __attribute__((alias("fstatvfs"), visibility("default")));
