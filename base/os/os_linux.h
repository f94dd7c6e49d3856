/* base/os/os_linux.h - what the files of the real body of base/os/os.h share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_LINUX_H
#define BASE_OS_OS_LINUX_H

#include <sys/resource.h>

#include "base/os/os.h"

#define OS_CGROUP_PLACES_MAX 8 /* most directories of one cgroup: one in each hierarchy */

struct os_cgroup;
struct prepared;
struct process_table; /* the children and other processes that are watched (os_proc_linux.c) */

struct os {
    struct loop *loop;   /* NULL: a program without a loop, see os_create() */
    struct rlimit files; /* RLIMIT_NOFILE when this process was started: children get this limit */
    struct process_table *processes;
    /* the process that os_prepare() started (os_prepare_linux.c); NULL: none */
    struct prepared *prepared;
};

struct process_table *process_table_create(struct os *os);
void process_table_destroy(struct process_table *table); /* NULL is allowed */

/* How the program in a cage ended.  The caller of os_spawn() and the cage's keeper share this
 * memory while the keeper lives (the process that holds the namespaces, base/os/os_cage.h). */
struct cage_end {
    pid_t program;  /* pid of the program, as the caller of os_spawn() sees it */
    pid_t keeper;   /* pid of the keeper, as the caller of os_spawn() sees it */
    bool has_lease; /* true: the child of the caller is the cage's lease process, not the keeper */
    bool keeper_reaped;  /* true: the keeper has died, and its lease process has seen that */
    bool ended;          /* true: status and usage are valid */
    int status;          /* status of the program as wait4() gives it */
    struct rusage usage; /* resources used by the program and the children that it waited for */
};
struct spawned { /* what spawn_program() has started */
    pid_t pid;
    /* how the program ended; NULL: the program has no namespaces of its own */
    const struct cage_end *end;
    /* memory that the started process uses, its stack and `end`; the caller unmaps it after that
     * process has died; NULL: none */
    void *shared;
    size_t shared_bytes;
};

/* Starts the program of spec as os_spawn() describes. ret->pid is set for a detached program,
 * too. stdin_fd: the program's standard input, a descriptor that still belongs to the caller;
 * -1: the standard input that spec names.  Returns 0 or -errno. */
int spawn_program(struct os *os, const struct os_spawn *spec, int stdin_fd, struct spawned *ret,
                  struct err *err);
/* Does what os_spawn() does. stdin_fd: descriptor of the program's standard input, which still
 * belongs to the caller; -1: the standard input that spec names. */
int spawn_watched(struct os *os, const struct os_spawn *spec, int stdin_fd, os_exit_f on_exit,
                  void *arg, pid_t *ret, struct err *err);

/* Asks the process that os_prepare() started for a copy of itself.  Returns true, with the copy's
 * pid in *ret; or false: nothing was started. */
bool prepared_spawn(struct os *os, const struct os_spawn *spec, pid_t *ret);
void prepared_end(struct os *os); /* ends the process that os_prepare() started, if there is one */

/* Opens the files to which a process writes "0" to enter the group.  Returns 0 or -errno.  The
 * caller closes the descriptors fds[0..*count), on errors too. */
int os_cgroup_open_procs(const struct os_cgroup *group, int fds[OS_CGROUP_PLACES_MAX],
                         size_t *count);

/* Writes the pids of the group's processes, at most max of them; returns how many. */
size_t os_cgroup_pids(const struct os_cgroup *group, pid_t *ret, size_t max);
/* Writes the pids of the living descendants of this process, at most max of them; returns how
 * many. */
size_t os_descendants_pids(pid_t *ret, size_t max);
/* Returns whether the process's descriptor of that number, a socket, may be one of TCP.  Sockets of
 * other kinds must not cost a walk over all connections of the machine. */
bool os_may_be_tcp(pid_t pid, const char *descriptor);

/* A process, by /proc/PID/stat. */
struct living {
    pid_t pid, parent;
    char state;     /* R, S, D, Z ... (proc(5)) */
    bool is_keeper; /* of a cage (base/os/os_cage.h) */
    int64_t threads, image_kib, rss_kib;
    uint64_t start_time;             /* clock ticks since boot */
    double user_cpu_s, system_cpu_s; /* with those of the children that it has reaped */
    bool ours, killed;               /* false; marks of whoever reads */
};
struct population {
    struct living *all; /* by pid; the caller frees it */
    size_t count, capacity;
};
/* Reads a process, dead ones that are not reaped too.  False: no such process. */
bool living_read(pid_t pid, struct living *ret);
bool living_read_file(const char *path, struct living *ret); /* the stat file of a thread */
bool living_is_dead(char state);
/* Reads all living processes of this machine into population, which may hold older ones. */
void population_read(struct population *population);
/* Sets `ours` of all descendants of root. */
void population_mark(struct population *population, pid_t root);
struct living *population_find(const struct population *population, pid_t pid); /* or NULL */
/* Reads the living descendants of root, without root itself.  Costs as much as the family is large.
 * A process whose parent ends at that moment may be missing, seldom if again is true: then the
 * family is read until no new process is found.  To kill, use population_read(). */
void population_read_family(struct population *family, pid_t root, bool again);

struct stat;
void os_stat_set(struct os_stat *ret, const struct stat *st); /* converts */
/* returns the flags of open(2) that `how` stands for */
int os_file_flags(enum os_open how);
/* Returns a new struct os_file for the descriptor fd, which then belongs to the file. */
struct os_file *os_file_of(int fd);

/* Reads a small file of /proc or /sys into buffer, zero-terminated.  Returns the number of bytes
 * without the zero, or -errno. */
ssize_t os_read_small(const char *path, char *buffer, size_t size);

#endif
