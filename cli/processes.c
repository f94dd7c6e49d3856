/* cli/processes.c - see processes.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/processes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config/config.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "cli/cli.h"

#define PROC_BYTES_MAX ((size_t)64 << 10)
#define LOCK           ".lock"

static char *read_proc(struct cli *cli, pid_t pid, const char *what)
{
    char path[80];
    char *text = NULL;
    size_t length;
    (void)snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, what);
    return os_read_file(cli->os, path, PROC_BYTES_MAX, &text, &length, NULL) == 0 ? text : NULL;
}

static double uptime_s(struct cli *cli)
{
    char *text = NULL;
    size_t length;
    double seconds = 0;
    if (os_read_file(cli->os, "/proc/uptime", PROC_BYTES_MAX, &text, &length, NULL) == 0) {
        seconds = strtod(text, NULL);
        mem_free(text);
    }
    return seconds;
}

bool process_look(struct cli *cli, pid_t pid, struct process *ret)
{
    char *stat = read_proc(cli, pid, "stat"), children_of[40];
    const char *at = stat != NULL ? strrchr(stat, ')') : NULL; /* the name may hold anything */
    unsigned long long user = 0, system = 0, began = 0;
    long threads = 0, pages = 0;
    int got = at == NULL ? 0
                         : sscanf(at + 1,
                                  " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d"
                                  " %*d %*d %ld %*d %llu %*u %ld",
                                  &user, &system, &threads, &began, &pages);
    mem_free(stat);
    if (got != 5) {
        return false;
    }
    double tick = (double)sysconf(_SC_CLK_TCK);
    *ret = (struct process){.cpu_s = (double)(user + system) / tick,
                            .age_s = uptime_s(cli) - (double)began / tick,
                            .memory_kib = (int64_t)pages * (sysconf(_SC_PAGESIZE) / 1024),
                            .threads = threads};
    (void)snprintf(children_of, sizeof children_of, "task/%ld/children", (long)pid);
    char *children = read_proc(cli, pid, children_of);
    if (children != NULL) {
        ret->first_child = (pid_t)strtol(children, NULL, 10);
        mem_free(children);
    }
    return true;
}

static void add_name(void *arg, const char *name)
{
    size_t length = strlen(name), end = sizeof LOCK - 1;
    if (length > end && strcmp(name + length - end, LOCK) == 0) {
        vec_push(arg, mem_strndup(name, length - end));
    }
}

static void look_below(struct cli *cli, const char *node, const char *lock_dir,
                       process_daemon_f each, void *arg)
{
    struct vec names = {0};
    (void)os_list(cli->os, lock_dir, add_name, &names, NULL); /* none: no daemon ever ran */
    for (size_t i = 0; i < names.count; i++) {
        pid_t pid = cli_lock_holder(cli, lock_dir, names.items[i]);
        if (pid > 0) {
            each(arg, node, names.items[i], pid);
        }
    }
    vec_fini(&names, mem_free);
}

void process_daemons(struct cli *cli, process_daemon_f each, void *arg)
{
    struct cli_node node;
    look_below(cli, "", config_path(cli->config, "LOCK"), each, arg);
    for (size_t i = 0; i < cli_node_count(cli); i++) {
        if (cli_node_at(cli, i, &node)) {
            look_below(cli, node.name, node.lock_dir, each, arg);
        }
    }
}
