/* rsyscall/wrap/wrap_xattr.c - extended attributes, which remote files do not have: see wrap.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "rsyscall/wrap/wrap_calls.h"

static ssize_t by_name(long number, const char *path, const char *name, uintptr_t value,
                       size_t size, int flags)
{
    struct wrap_place place;
    const char *local;
    return wrap_is_remote(AT_FDCWD, path, &local, &place)
               ? wrap_result(-EOPNOTSUPP)
               : syscall(number, local, name, value, size, flags);
}

static ssize_t by_fd(long number, int fd, const char *name, uintptr_t value, size_t size, int flags)
{
    return wrap_is_ours(fd) ? wrap_result(-EOPNOTSUPP)
                            : syscall(number, fd, name, value, size, flags);
}

static ssize_t list_names(long number, const char *path, char *names, size_t size)
{
    struct wrap_place place;
    const char *local;
    return wrap_is_remote(AT_FDCWD, path, &local, &place) ? wrap_result(-EOPNOTSUPP)
                                                          : syscall(number, local, names, size);
}

WRAP_EXPORT ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    return by_name(SYS_getxattr, path, name, (uintptr_t)value, size, 0);
}

WRAP_EXPORT ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
    return by_name(SYS_lgetxattr, path, name, (uintptr_t)value, size, 0);
}

WRAP_EXPORT ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
    return by_fd(SYS_fgetxattr, fd, name, (uintptr_t)value, size, 0);
}

WRAP_EXPORT int setxattr(const char *path, const char *name, const void *value, size_t size,
                         int flags)
{
    return (int)by_name(SYS_setxattr, path, name, (uintptr_t)value, size, flags);
}

WRAP_EXPORT int lsetxattr(const char *path, const char *name, const void *value, size_t size,
                          int flags)
{
    return (int)by_name(SYS_lsetxattr, path, name, (uintptr_t)value, size, flags);
}

WRAP_EXPORT int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    return (int)by_fd(SYS_fsetxattr, fd, name, (uintptr_t)value, size, flags);
}

WRAP_EXPORT ssize_t listxattr(const char *path, char *names, size_t size)
{
    return list_names(SYS_listxattr, path, names, size);
}

WRAP_EXPORT ssize_t llistxattr(const char *path, char *names, size_t size)
{
    return list_names(SYS_llistxattr, path, names, size);
}

WRAP_EXPORT ssize_t flistxattr(int fd, char *names, size_t size)
{
    return wrap_is_ours(fd) ? wrap_result(-EOPNOTSUPP) : syscall(SYS_flistxattr, fd, names, size);
}

WRAP_EXPORT int removexattr(const char *path, const char *name)
{
    return (int)by_name(SYS_removexattr, path, name, 0, 0, 0);
}

WRAP_EXPORT int lremovexattr(const char *path, const char *name)
{
    return (int)by_name(SYS_lremovexattr, path, name, 0, 0, 0);
}

WRAP_EXPORT int fremovexattr(int fd, const char *name)
{
    return (int)by_fd(SYS_fremovexattr, fd, name, 0, 0, 0);
}
