/* base/os/os_cage.h - what a spawned program is shut in: namespaces, mounts, a cgroup, limits.
 *
 * Design note: a program in a PID namespace needs a process 1 beside it, because process 1 itself
 * is deaf to signals that it has no handler for: a job could not be asked to end.  That process is
 * a thread of control of ours that shares our memory, makes the namespaces and the mounts, starts
 * the program as its child, reaps what is orphaned in there, and ends with the program - and with
 * it, by the kernel's doing, everything in the namespace.  It costs no memory and no exec, and it
 * dies with us.  It is never in the program's cgroup: a kill for lack of memory takes all that
 * share a memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_CAGE_H
#define BASE_OS_OS_CAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct os_cgroup; /* base/os/os_cgroup.h */

enum os_mount_kind {
    OS_MOUNT_BIND,   /* `from`, as it was before all mounts, appears at `to` */
    OS_MOUNT_HIDE,   /* an empty directory in place of `to`; nothing when there is no `to` */
    OS_MOUNT_MEMORY, /* an empty file system in memory at `to`, for everybody (mode 1777) */
    OS_MOUNT_PROC,   /* the namespace's own /proc at `to` */
    /* `from`, as it was before all mounts, appears at `to`, and cannot be changed there. */
    OS_MOUNT_READONLY,
    /* An empty directory at `to`, which is made: what is mounted below it is, with its way, in
     * memory, and a file system on disk has nothing to make and to forget for it. */
    OS_MOUNT_WAY,
};

struct os_mount {
    enum os_mount_kind kind;
    const char *from; /* of OS_MOUNT_BIND and OS_MOUNT_READONLY */
    const char *to;   /* absolute; what is missing of a bind's way is made */
};

struct os_filter_code { /* struct sock_filter of the kernel */
    uint16_t code;
    uint8_t jt, jf;
    uint32_t k;
};

struct os_filter { /* of system calls: seccomp(2) */
    const struct os_filter_code *codes;
    uint16_t count;
};

#define OS_CAGE_CPUS_MAX 1024

struct os_cage {
    struct os_cgroup *cgroup; /* it is in it before it is the program; NULL: ours */
    bool namespaces;          /* mount, PID and IPC namespaces of its own */
    bool user_namespace;      /* and one of users, in which it is who it was: for who is not root */
    const struct os_mount *mounts; /* in order; only with namespaces */
    size_t mount_count;
    int oom_score;        /* 0 or 10..1000: how readily the kernel kills it when memory runs out */
    bool limit_core;      /* then: */
    uint64_t core_bytes;  /* of a core file at most; UINT64_MAX: any size */
    uint64_t stack_bytes; /* of a stack at most; 0: as ours */
    /* What the program is under from its first instruction on, and all that it starts; with
     * no_new_privs only.  NULL: nothing. */
    const struct os_filter *filter;
    /* The CPUs that it may use, bit i of word[i / 64]; with limit_cpus.  A wish: where there is
     * none of them, it may use those that we may. */
    bool limit_cpus;
    uint64_t cpus[OS_CAGE_CPUS_MAX / 64];
};

#endif
