/* base/os/os_linux.h - what the files of the real body of base/os/os.h share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_LINUX_H
#define BASE_OS_OS_LINUX_H

#include <sys/resource.h>

#include "base/os/os.h"

#define OS_CGROUP_PLACES_MAX 8

struct os_cgroup;
struct prepared;
struct process_table; /* os_proc_linux.c */

struct os {
    struct loop *loop;   /* may be NULL */
    struct rlimit files; /* RLIMIT_NOFILE as we were started: children get it back */
    struct process_table *processes;
    struct prepared *prepared; /* os_prepare_linux.c; NULL: none */
};

struct process_table *process_table_create(struct os *os);
void process_table_destroy(struct process_table *table); /* NULL is allowed */

/* What a process in namespaces of its own and we have in common while it lives; see os_cage.h. */
struct cage_end {
    pid_t program;       /* the program's pid, as we see it */
    bool ended;          /* then: */
    int status;          /* as of wait4() */
    struct rusage usage; /* of the program and what it waited for */
};
struct spawned {
    pid_t pid;
    const struct cage_end *end; /* NULL: not in namespaces of its own */
    void *shared;               /* to be unmapped when pid is dead, not before */
    size_t shared_bytes;
};

/* Runs the program; see os_spawn().  The pid is set also for a detached one.  stdin_fd: its
 * standard input, stays the caller's; -1: as spec says. */
int spawn_program(struct os *os, const struct os_spawn *spec, int stdin_fd, struct spawned *ret,
                  struct err *err);
/* os_spawn() with that. */
int spawn_watched(struct os *os, const struct os_spawn *spec, int stdin_fd, os_exit_f on_exit,
                  void *arg, pid_t *ret, struct err *err);

/* A copy of the prepared process: true and *ret its pid, or false, and nothing was started. */
bool prepared_spawn(struct os *os, const struct os_spawn *spec, pid_t *ret);
void prepared_end(struct os *os);

/* The files to write "0" to, in order to be in the group; the caller closes them, on errors too. */
int os_cgroup_open_procs(const struct os_cgroup *group, int fds[OS_CGROUP_PLACES_MAX],
                         size_t *count);

/* Its processes, at most max; how many. */
size_t os_cgroup_pids(const struct os_cgroup *group, pid_t *ret, size_t max);
/* The same of our living descendants. */
size_t os_descendants_pids(pid_t *ret, size_t max);

struct stat;
void os_stat_set(struct os_stat *ret, const struct stat *st);
int os_file_flags(enum os_open how); /* for open() */
struct os_file *os_file_of(int fd);  /* takes it over */

/* A small file of /proc or /sys, zero-terminated; the number of bytes or -errno. */
ssize_t os_read_small(const char *path, char *buffer, size_t size);

#endif
