/* base/os/os_spawn_linux.h - what the files that start programs share: os_spawn_linux.c,
 * os_cage_linux.c.
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

/* Marks functions that run in the child: sanitizers must not instrument them, because their records
 * describe the parent process. */
#define CHILD_SIDE __attribute__((no_sanitize("address", "thread", "undefined")))

/* Normally the child borrows our memory (CLONE_VM).  The thread sanitizer takes every clone(2) for
 * a fork and would lose our signals with shared memory: in its builds the child has a copy, except
 * for the mapping that holds struct launch. */
#if defined(__SANITIZE_THREAD__)
#define CHILD_MEMORY 0
#else
#define CHILD_MEMORY CLONE_VM
#endif
#define CHILD_FLAGS (CHILD_MEMORY | CLONE_VFORK | SIGCHLD)

#define SPAWN_STACK_BYTES ((size_t)128 << 10)
#define SPAWN_MOUNTS_MAX  112

/* The steps of starting a program; the step that failed is reported. */
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

#define SPAWN_NAMESPACES 4 /* that a program can join: PID, mounts, IPC, user */

/* One start of a program.  Shared with the child; see the design note of os_spawn_linux.c. */
struct launch {
    const struct os_spawn *spec;
    char *const *argv;
    char *const *env;
    int input_fd;               /* a file that holds input_text; -1: none */
    const struct rlimit *files; /* the limit of open files for the program */
    char *inner_stack_top;      /* stack of the grandchild */
    pid_t grandchild;
    enum step step; /* the step that failed */
    int error;      /* its errno */
    /* For a cage: the files through which the program enters its cgroup. */
    int procs[OS_CGROUP_PLACES_MAX];
    size_t procs_count;
    int sources[SPAWN_MOUNTS_MAX]; /* what is to be bind-mounted, opened before any mount */
    int proc_fd;                   /* our own /proc */
    char user_map[64], group_map[64];
    const struct os_mount *mount; /* the mount that is being made */
    int starting;                 /* a futex; 0: the program runs, or starting has failed */
    struct cage_end end;
    int terminal[3]; /* its standard streams; -1: as spec says */
    bool has_tty;
    int joined[SPAWN_NAMESPACES]; /* namespaces to enter, in order; -1: none */
};

/* Notes the step and errno if result is negative; returns result. */
CHILD_SIDE static inline long spawn_failed(struct launch *launch, enum step step, long result)
{
    if (result < 0) {
        launch->step = step;
        launch->error = errno;
    }
    return result;
}

/* The child's side of a start: becomes the program. arg is the struct launch. */
int spawn_become_program(void *arg);

/* Starts the program in namespaces of its own.  All signals must be blocked.  Success: *ret is the
 * pid of the process that holds the namespaces.  Failure: launch->step says what failed, and
 * nothing is left running. launch and the stacks stay in use until that process is dead. */
void spawn_in_cage(struct launch *launch, char *stack_top, pid_t *ret);

/* Starts the program, as our child, in the namespaces of spec->beside.  All signals must be
 * blocked.  Success: *ret is its pid; failure: launch->step says what failed. */
void spawn_beside(struct launch *launch, char *stack_top, pid_t *ret);

/* Gives the program's ends of a terminal or of pipes; then os_terminal_started() notes that the
 * program has them. */
void os_terminal_theirs(const struct os_terminal *terminal, int fds[3], bool *tty);
void os_terminal_started(struct os_terminal *terminal);

/* The child's side: closes all descriptors from `first` on.  Negative with errno set on failure. */
long spawn_close_from(unsigned first);

#endif
