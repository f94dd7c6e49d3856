/* tests/integration/preloaded/checkpoint_dying.c - preloaded by roost-ckpt: kills it, or fails, at
 * the nth of its calls.
 *
 * DYING_AT=N   SIGKILL before the nth call of those that touch the job or the image
 * DYING_IN=C   those are counted only from when the job is made to do system call C
 * HALF_WRITES=1 the job writes half of what it is made to write
 * FAILING_AT=N the nth call of those that write the image, and each one after it, says ENOSPC; all
 *              but those that the job does itself
 * ROOMY=1      each disk has room, it says
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

static long calls, writes;
static bool has_begun;

static long number(const char *name)
{
    const char *text = getenv(name);
    return text != NULL ? strtol(text, NULL, 10) : -1;
}

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

static void count(void)
{
    long at = number("DYING_AT");
    calls += has_begun || number("DYING_IN") < 0;
    if (at >= 0 && calls >= at) {
        (void)kill(getpid(), SIGKILL);
    }
}

static int fails(int fd)
{
    struct statfs system;
    count();
    if (fd >= 0 && fstatfs(fd, &system) == 0 && system.f_type == PROC_SUPER_MAGIC) {
        return 0; /* the memory of the job */
    }
    writes++;
    errno = ENOSPC;
    long at = number("FAILING_AT");
    return at >= 0 && writes >= at;
}

long ptrace(enum __ptrace_request request, ...)
{
    va_list rest;
    va_start(rest, request);
    pid_t pid = va_arg(rest, pid_t);
    void *address = va_arg(rest, void *), *data = va_arg(rest, void *);
    va_end(rest);
    struct user_regs_struct changed;
    if (request == PTRACE_SETREGS) {
        changed = *(const struct user_regs_struct *)data;
        bool is_call = changed.orig_rax == ~0ULL; /* and not its own registers again */
        has_begun = has_begun || (is_call && (long)changed.rax == number("DYING_IN"));
        if (is_call && changed.rax == SYS_pwrite64 && number("HALF_WRITES") > 0) {
            changed.rdx /= 2;
        }
        data = &changed;
    }
    count();
    return ((long (*)(enum __ptrace_request, pid_t, void *, void *))real("ptrace"))(request, pid,
                                                                                    address, data);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
    count();
    return ((pid_t(*)(pid_t, int *, int))real("waitpid"))(pid, status, options);
}

ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    return fails(fd) ? -1
                     : ((ssize_t(*)(int, const void *, size_t, off_t))real("pwrite"))(fd, data,
                                                                                      bytes, at);
}

int fstatvfs(int fd, struct statvfs *ret)
{
    int rc = ((int (*)(int, struct statvfs *))real("fstatvfs"))(fd, ret);
    ret->f_bavail += getenv("ROOMY") != NULL ? (fsblkcnt_t)1 << 40 : 0;
    return rc;
}

int ftruncate(int fd, off_t bytes)
{
    return fails(fd) ? -1 : ((int (*)(int, off_t))real("ftruncate"))(fd, bytes);
}

int fchmod(int fd, mode_t mode)
{
    return fails(fd) ? -1 : ((int (*)(int, mode_t))real("fchmod"))(fd, mode);
}

int fsync(int fd)
{
    return fails(fd) ? -1 : ((int (*)(int))real("fsync"))(fd);
}

int rename(const char *from, const char *to)
{
    return fails(-1) ? -1 : ((int (*)(const char *, const char *))real("rename"))(from, to);
}
