/* base/os/os_cage.h - what a spawned program is confined in: namespaces, mounts, a cgroup, limits.
 * All this together is called a cage.
 *
 * Design note: a program in a PID namespace needs a process 1 beside it, because process 1 itself
 * ignores signals for which it has no handler: a job could not be asked to end.  That process, the
 * cage's keeper, is cloned from the process that calls os_spawn(), and shares its memory.  It makes
 * the namespaces and the mounts, starts the program as its child, reaps orphans in there, and ends
 * when the program ends; then the kernel kills everything else in the namespace.  It costs no
 * memory and no exec, and it dies with the process that made it.  It is never in the program's
 * cgroup: when a cgroup runs out of memory, the kernel kills a process of it and all processes that
 * share memory with this one, which would be the caller of os_spawn().
 *
 * A cage may have a lease, for a program that must not go on when nobody counts on it any more.
 * Between the caller and the keeper there is then one process more, the cage's lease process: it is
 * outside of the namespaces and has a timer of the kernel, on CLOCK_BOOTTIME, that kills it at the
 * end of the lease; the keeper dies with it, and so does everything in there.  A timer of the
 * kernel also kills who is stopped, so this works when nobody else does anything: neither the
 * caller, nor the lease process, nor the keeper.  (A timer in the keeper would not work: process 1
 * of a PID namespace cannot be killed from within.)  Another process than the caller moves the end
 * on through a FIFO, so that a caller that stands still does not end the program.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_CAGE_H
#define BASE_OS_OS_CAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct os_cgroup; /* defined in base/os/os_cgroup.h */

enum os_mount_kind {
    OS_MOUNT_BIND, /* `from`, as it was before all mounts of the cage, also appears at `to` */
    OS_MOUNT_HIDE, /* an empty directory covers `to`; nothing happens if `to` does not exist */
    /* an empty file system in memory at `to`, writable for everybody (mode 1777); nothing happens
     * if `to` does not exist */
    OS_MOUNT_MEMORY,
    OS_MOUNT_PROC, /* the namespace's own /proc at `to` */
    /* `from`, as it was before all mounts of the cage, appears at `to` and is read-only there. */
    OS_MOUNT_READONLY,
    /* An empty directory in memory at `to`, which is made.  Mount points below `to` are then
     * made in memory, which is cheaper than on disk. */
    OS_MOUNT_WAY,
};

struct os_mount {
    enum os_mount_kind kind;
    const char *from; /* source, for OS_MOUNT_BIND and OS_MOUNT_READONLY */
    /* Absolute path.  For OS_MOUNT_BIND, OS_MOUNT_READONLY and OS_MOUNT_WAY, its missing
     * directories are made. */
    const char *to;
};

/* One instruction of a filter of system calls, laid out as the kernel's struct sock_filter. */
struct os_filter_code {
    uint16_t code;
    uint8_t jt, jf;
    uint32_t k;
};

struct os_filter { /* a filter of system calls: seccomp(2) */
    const struct os_filter_code *codes;
    uint16_t count;
};

#define OS_CAGE_CPUS_MAX 1024 /* CPU numbers are smaller than this */

struct os; /* defined in base/os/os.h */

/* So much later than the end of the lease the program is killed: whoever can end it in order does
 * so at the end. */
#define OS_CAGE_GRACE_MS 500

struct os_cage {
    /* the program starts in this cgroup; NULL: in that of the process that calls os_spawn() */
    struct os_cgroup *cgroup;
    bool namespaces; /* true: the program gets mount, PID and IPC namespaces of its own */
    /* True: the program gets a user namespace of its own, too, and keeps its uid there.  Needed
     * when the process that calls os_spawn() is not root. */
    bool user_namespace;
    /* the mounts of the cage, made in this order; used only if `namespaces` is true */
    const struct os_mount *mounts;
    size_t mount_count;
    /* 10..1000: the higher, the sooner the kernel kills the program when memory runs out. 0: as for
     * the process that calls os_spawn(). */
    int oom_score;
    bool limit_core;     /* true: core_bytes is valid */
    uint64_t core_bytes; /* largest core file, bytes; UINT64_MAX: no limit */
    /* largest stack, bytes; 0: the limit of the process that calls os_spawn() */
    uint64_t stack_bytes;
    /* Filter of system calls for the program, from its first instruction on, and for all
     * processes that it starts.  Needs os_spawn's no_new_privs.  NULL: none. */
    const struct os_filter *filter;
    /* True: the program may use only the CPUs whose bits are set in cpus: CPU i is bit i % 64 of
     * cpus[i / 64].  If the machine has none of them, the program may use the CPUs of the process
     * that calls os_spawn(). */
    bool limit_cpus;
    uint64_t cpus[OS_CAGE_CPUS_MAX / 64];
    /* Path of the FIFO through which os_cage_renew() moves the end of the lease; it is made where
     * there is none.  NULL: no lease.  Has an effect only with `namespaces`, and where the kernel
     * has pidfds (5.3). */
    const char *lease_path;
    uint64_t lease_end_ms; /* when the lease ends, ms of loop_now_ms() */
};

/* Moves the end of the lease of a cage; any process that may write to the FIFO can do that.  Does
 * nothing if no lease process reads there. */
void os_cage_renew(struct os *os, const char *lease_path, uint64_t end_ms);
/* Returns whether this process can give a program namespaces of its own and a lease; tries that, in
 * a millisecond. */
bool os_cage_can_lease(struct os *os);

#endif
