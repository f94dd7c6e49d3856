/* cli/cmd_stop.c - `roost stop`: the nodes of a personal pool, then its daemons; `roost master`: in
 * the foreground.
 *
 * Whoever holds a master's lock is told to end, and waited for.  Daemons whose master is gone are
 * told one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/os.h"
#include "cli/cli.h"

#define STOP_MS  60000
#define RETRY_MS 20

static const char *const NAMES[] = {"master",     "startd", "rooster",
                                    "negotiator", "schedd", "collector"};

/* Tells every daemon of one LOCK directory to end, its master first; returns whether any is left.
 */
static bool tell(struct cli *cli, const char *lock_dir, int signal_number)
{
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        pid_t pid = cli_lock_holder(cli, lock_dir, NAMES[i]);
        if (pid > 0) {
            if (signal_number != 0) {
                (void)os_kill(cli->os, pid,
                              signal_number); /* gone meanwhile: the caller looks again */
            }
            return true; /* the others are its master's business, if it is one */
        }
    }
    return false;
}

static bool is_any_left(struct cli *cli, const char *lock_dir)
{
    return tell(cli, lock_dir, 0);
}

/* -ETIMEDOUT when some are left. */
static int stop_all(struct cli *cli, const char *lock_dir, uint64_t end_ms)
{
    pid_t told = 0;
    while (is_any_left(cli, lock_dir)) {
        for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
            pid_t pid = cli_lock_holder(cli, lock_dir, NAMES[i]);
            if (pid > 0) {
                if (pid != told) {
                    (void)tell(cli, lock_dir, SIGTERM);
                    told = pid;
                }
                break;
            }
        }
        if (loop_now_ms(cli->loop) >= end_ms) {
            return -ETIMEDOUT;
        }
        cli_pause(cli, RETRY_MS);
    }
    return 0;
}

int cmd_stop(struct cli *cli)
{
    struct err err;
    if (cli->argc > 1) {
        return cli_usage(cli, "'%s' is not understood", cli->argv[1]);
    }
    if (cli_config(cli, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    uint64_t end_ms = loop_now_ms(cli->loop) + STOP_MS;
    struct cli_node node;
    const char *lock_dir = config_path(cli->config, "LOCK");
    bool ran = is_any_left(cli, lock_dir);
    for (size_t i = 0; i < cli_node_count(cli); i++) { /* all at once ... */
        if (cli_node_at(cli, i, &node)) {
            ran = tell(cli, node.lock_dir, SIGTERM) || ran;
        }
    }
    for (size_t i = 0; i < cli_node_count(cli); i++) { /* ... then one after the other */
        if (cli_node_at(cli, i, &node) && stop_all(cli, node.lock_dir, end_ms) != 0) {
            return cli_fail(cli, "node %s did not stop in %d s", node.name, STOP_MS / 1000);
        }
    }
    if (stop_all(cli, lock_dir, end_ms) != 0) {
        return cli_fail(cli, "the daemons did not stop in %d s", STOP_MS / 1000);
    }
    (void)printf("The pool %s.\n", ran ? "is stopped" : "was not running");
    return CLI_OK;
}

struct foreground {
    struct cli *cli;
    pid_t pid;
    bool ended;
    int status;
};

static void master_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct foreground *foreground = arg;
    (void)pid;
    foreground->status = how->signal != 0 ? CLI_FAILED : how->status;
    foreground->ended = true;
}

static void pass_on(void *arg)
{
    struct foreground *foreground = arg;
    (void)os_kill(foreground->cli->os, foreground->pid, SIGTERM); /* gone: master_ended() follows */
}

int cmd_master(struct cli *cli)
{
    struct err err;
    char program[4200];
    if (cli_config(cli, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    (void)snprintf(program, sizeof program, "%s/roost-master", config_path(cli->config, "SBIN"));
    struct foreground foreground = {.cli = cli};
    const char *argv[] = {program, NULL};
    const struct os_spawn spec = {.argv = argv, .stdout_path = "-", .stderr_path = "-"};
    if (os_spawn(cli->os, &spec, master_ended, &foreground, &foreground.pid, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    loop_on_signal(cli->loop, SIGTERM, pass_on, &foreground);
    loop_on_signal(cli->loop, SIGINT, pass_on, &foreground);
    loop_run_until(cli->loop, &foreground.ended);
    return foreground.status;
}
