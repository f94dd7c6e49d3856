/* base/os/os_spawn_linux.h - what the two files that start programs share: see os_spawn_linux.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_SPAWN_LINUX_H
#define BASE_OS_OS_SPAWN_LINUX_H

#include <errno.h>
#include <sched.h>
#include <signal.h>

#include "base/os/os_cage.h"
#include "base/os/os_linux.h"
#include "base/os/os_terminal.h"

/* Sanitizers keep books about memory and calls of the process; the child is none of it. */
#define CHILD_SIDE __attribute__((no_sanitize("address", "thread", "undefined")))

/* The thread sanitizer takes every clone(2) for a fork and loses our signals when the memory is
 * shared: with it the child has a copy, but for the mapping that holds struct launch. */
#if defined(__SANITIZE_THREAD__)
#define CHILD_MEMORY 0
#else
#define CHILD_MEMORY CLONE_VM
#endif
#define CHILD_FLAGS (CHILD_MEMORY | CLONE_VFORK | SIGCHLD)

#define SPAWN_STACK_BYTES ((size_t)128 << 10)
#define SPAWN_MOUNTS_MAX  112

enum step {
    STEP_NONE,
    STEP_FORK,
    STEP_SESSION,
    STEP_NICE,
    STEP_USER,
    STEP_DIRECTORY,
    STEP_STDIN,
    STEP_STDOUT,
    STEP_STDERR,
    STEP_DESCRIPTORS,
    STEP_LIMITS,
    STEP_PRIVILEGES,
    STEP_EXEC,
    STEP_CGROUP,
    STEP_NAMESPACES,
    STEP_MOUNT,
    STEP_FILTER,
    STEP_JOIN,
};

#define SPAWN_NAMESPACES 4

/* Shared with the child; see the design note of os_spawn_linux.c. */
struct launch {
    const struct os_spawn *spec;
    char *const *argv;
    char *const *env;
    int input_fd; /* holds input_text; -1 for none */
    const struct rlimit *files;
    char *inner_stack_top; /* of the grandchild */
    pid_t grandchild;
    enum step step; /* that failed */
    int error;      /* errno of it */
    /* of a cage */
    int procs[OS_CGROUP_PLACES_MAX]; /* where the program joins its cgroup */
    size_t procs_count;
    int sources[SPAWN_MOUNTS_MAX]; /* what is bound, as it was before the mounts */
    int proc_fd;                   /* /proc as we have it */
    char user_map[64], group_map[64];
    const struct os_mount *mount; /* in hand */
    int starting;                 /* a futex; 0: it is the program now, or nothing will come */
    struct cage_end end;
    int terminal[3]; /* its standard streams; -1: as spec says */
    bool has_tty;
    int joined[SPAWN_NAMESPACES]; /* namespaces to join, in order; -1: none */
};

/* Notes which step failed, and why. */
CHILD_SIDE static inline long spawn_failed(struct launch *launch, enum step step, long result)
{
    if (result < 0) {
        launch->step = step;
        launch->error = errno;
    }
    return result;
}

/* The child's side of a launch: becomes the program; arg is the struct launch. */
int spawn_become_program(void *arg);

/* Starts the program in namespaces of its own, with all signals blocked.  0 and *ret the pid of
 * what holds them, or launch->step says what failed, and nothing is left of it.  launch and the
 * stacks stay in use until that process is dead. */
void spawn_in_cage(struct launch *launch, char *stack_top, pid_t *ret);

/* Starts the program in the namespaces of spec->beside, as our child, with all signals blocked: 0
 * or launch->step says what failed. */
void spawn_beside(struct launch *launch, char *stack_top, pid_t *ret);

/* What the program gets of a terminal, and that it has it. */
void os_terminal_theirs(const struct os_terminal *terminal, int fds[3], bool *tty);
void os_terminal_started(struct os_terminal *terminal);

/* The child's side: closes all descriptors from that one on; negative with errno set. */
long spawn_close_from(unsigned first);

#endif
