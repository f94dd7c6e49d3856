/* base/os_linux.h - what the files of the real body of base/os.h share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_LINUX_H
#define BASE_OS_LINUX_H

#include <sys/resource.h>

#include "base/os.h"

struct process_table; /* os_proc_linux.c */

struct os {
    struct loop *loop;   /* may be NULL */
    struct rlimit files; /* RLIMIT_NOFILE as we were started: children get it back */
    struct process_table *processes;
};

struct process_table *process_table_create(struct os *os);
void process_table_destroy(struct process_table *table); /* NULL is allowed */

/* Runs the program; see os_spawn().  The pid is set also for a detached one. */
int spawn_program(struct os *os, const struct os_spawn *spec, pid_t *ret, struct err *err);

/* A small file of /proc or /sys, zero-terminated; the number of bytes or -errno. */
ssize_t os_read_small(const char *path, char *buffer, size_t size);

#endif
