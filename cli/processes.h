/* cli/processes.h - data from /proc about daemons and jobs of this host; for `roost top -daemons`
 * and `who`.
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
    double cpu_s; /* CPU seconds used so far */
    double age_s;
    int64_t memory_kib; /* resident memory */
    int64_t threads;
    pid_t first_child; /* pid of the first child; 0: none, or not known */
};

/* Reads the data of process pid.  False: no such process. */
bool process_look(struct cli *cli, pid_t pid, struct process *ret);

/* Receives one running daemon: its node (the name of a node of a personal pool; "": this host's own
 * configuration), its name such as "schedd", and its pid. */
typedef void (*process_daemon_f)(void *arg, const char *node, const char *daemon, pid_t pid);
/* Calls `each` for every daemon whose lock file is held, of this host's configuration and of the
 * nodes of a personal pool. */
void process_daemons(struct cli *cli, process_daemon_f each, void *arg);

#endif
