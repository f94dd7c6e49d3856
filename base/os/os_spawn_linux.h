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
#include <time.h>

#include "base/os/os_cage.h"
#include "base/os/os_linux.h"
#include "base/os/os_terminal.h"

/* Marks functions that run in the child: sanitizers must not instrument them, because their records
 * describe the parent process. */
#define CHILD_SIDE __attribute__((no_sanitize("address", "thread", "undefined")))

/* Normally the child uses the memory of its parent (CLONE_VM).  In builds with the thread sanitizer
 * the child has a copy instead, except for the mapping that holds struct launch: that sanitizer
 * takes every clone(2) for a fork, and with shared memory would lose signals of the parent. */
#if defined(__SANITIZE_THREAD__)
#define CHILD_MEMORY 0
#else
#define CHILD_MEMORY CLONE_VM
#endif
#define CHILD_FLAGS (CHILD_MEMORY | CLONE_VFORK | SIGCHLD)

#define SPAWN_STACK_BYTES ((size_t)128 << 10)
#define SPAWN_LEASE_BYTES ((size_t)16 << 10) /* the stack of a cage's lease process */
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
    STEP_LEASE,
};

#define SPAWN_NAMESPACES 4 /* namespaces that a program can join: PID, mounts, IPC, user */

/* One start of a program.  Shared with the child; see the design note of os_spawn_linux.c. */
struct launch {
    const struct os_spawn *spec;
    char *const *argv;
    char *const *env;
    /* descriptor of the program's standard input; -1: the file stdin_path of struct os_spawn */
    int input_fd;
    const struct rlimit *files; /* the limit of open files for the program */
    /* top of the stack of the grandchild (the program's own process, in a cage) */
    char *inner_stack_top;
    pid_t parent; /* of the child */
    pid_t grandchild;
    enum step step; /* the step that failed; STEP_NONE: none */
    int error;      /* errno of the step that failed */
    /* For a cage: descriptors of the files through which the program enters its cgroup. */
    int procs[OS_CGROUP_PLACES_MAX];
    size_t procs_count;
    /* descriptors of what is to be bind-mounted, opened before any mount */
    int sources[SPAWN_MOUNTS_MAX];
    int proc_fd; /* descriptor of the /proc of the process that calls os_spawn() */
    char user_map[64], group_map[64];
    const struct os_mount *mount; /* the mount that is being made */
    /* A futex: how many of keeper and lease process still do calls that may fail; 0 or less: the
     * program has started, or failed to. */
    int starting;
    struct cage_end end;
    /* the program's ends of a terminal or of pipes, for its standard streams; -1: use the paths in
     * struct os_spawn */
    int terminal[3];
    bool has_tty;
    /* For a cage with a lease: the FIFO (-1: no lease process), the lease process's timer, its
     * first setting, and the keeper as its lease process makes it. */
    int lease_fd;
    struct sigevent lease_event;
    struct itimerspec lease_time;
    int lease_timer;
    char *keeper_stack_top, *lease_stack_top;
    int keeper_flags, keeper_pidfd;
    int joined[SPAWN_NAMESPACES]; /* descriptors of namespaces to enter, in order; -1: none */
};

/* If result is negative, notes step and errno in launch.  Returns result. */
CHILD_SIDE static inline long spawn_failed(struct launch *launch, enum step step, long result)
{
    if (result < 0) {
        launch->step = step;
        launch->error = errno;
    }
    return result;
}

/* Runs in the child and becomes the program by execve(). arg is the struct launch.  Does not
 * return: on failure it notes the step in launch and exits with status 127. */
int spawn_become_program(void *arg);

/* Starts the program of launch in namespaces of its own.  All signals must be blocked.  Success:
 * *ret is the pid of the process that holds the namespaces.  Failure: launch->step says what
 * failed, and nothing is left running. launch and the stack below stack_top stay in use until that
 * process is dead. */
void spawn_in_cage(struct launch *launch, char *stack_top, pid_t *ret);

/* Runs in the keeper and in the lease process: says that this process does only calls that cannot
 * fail from now on. */
void spawn_is_ready(struct launch *launch);
/* Prepares the lease of launch's cage, if it has one: opens the FIFO.  Returns 0 or -errno. */
int spawn_lease_open(struct launch *launch);
/* The function of the process that becomes the cage's lease process: makes the timer, starts the
 * keeper (keep) with launch->keeper_flags on launch->keeper_stack_top, and reads renewals until the
 * keeper has died. */
int spawn_lease_process(struct launch *launch, int (*keep)(void *launch));

/* Starts the program of launch, as a child of the caller on the stack below stack_top, in the
 * namespaces of another process (`beside` of struct os_spawn).  All signals must be blocked.
 * Success: *ret is the program's pid; failure: launch->step says what failed. */
void spawn_beside(struct launch *launch, char *stack_top, pid_t *ret);

/* Writes to fds the program's ends of a terminal or of pipes. *tty: whether they are a terminal.
 * To be followed by os_terminal_started() when the program has them. */
void os_terminal_theirs(const struct os_terminal *terminal, int fds[3], bool *tty);
void os_terminal_started(struct os_terminal *terminal);

/* Runs in the child: closes all descriptors from `first` on.  Returns >= 0; or a negative
 * number with errno set. */
long spawn_close_from(unsigned first);

#endif
