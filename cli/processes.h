/* cli/processes.h - what /proc says of daemons and jobs of this host: `roost top -daemons`, `who`.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_PROCESSES_H
#define CLI_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct cli;

struct process {
    double cpu_s; /* used since it began */
    double age_s;
    int64_t memory_kib; /* resident */
    int64_t threads;
    pid_t first_child; /* 0: none, or it cannot be known */
};

/* False: there is no such process. */
bool process_look(struct cli *cli, pid_t pid, struct process *ret);

/* Calls each with what every daemon's lock file below a directory names: "schedd" and its pid, of
 * this host's configuration and of the nodes of a personal pool (node: their name, else ""). */
typedef void (*process_daemon_f)(void *arg, const char *node, const char *daemon, pid_t pid);
void process_daemons(struct cli *cli, process_daemon_f each, void *arg);

#endif
