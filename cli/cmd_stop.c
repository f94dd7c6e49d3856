/* cli/cmd_stop.c - `roost stop` ends the nodes of a personal pool, then its daemons; `roost master`
 * runs a master in the foreground.
 *
 * --for-shutdown is for the system that shuts the machine down: the startds then leave offline ads,
 * so that jobs can wake the machine (SIGPWR instead of SIGINT).
 *
 * The process that holds a master's lock is told to end, and waited for.  Daemons whose master is
 * gone are told one by one.  Starters are left to their startd; those whose startd is gone, as
 * after a restart that was not finished, are told here.  A schedd ends the shadows that it knows.
 * But a schedd that was killed a moment ago, or that has not found its owner's shadow yet, leaves
 * that shadow waiting for the next schedd.  The shadow of our own account is ended here.  Shadows
 * of other accounts end by SHADOW_ORPHAN_TIMEOUT, because we do not trust the process ids in those
 * accounts' lock files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/loop.h"
#include "base/loop_run.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "cli/cli.h"

#define STOP_MS  60000
#define RETRY_MS 20
#define TELL_MS  5000

static const char *const NAMES[] = {"master",     "startd", "rooster",  "factory",
                                    "negotiator", "schedd", "collector"};

/* Returns the process to signal next: the master or, without one, one of its daemons; 0: all have
 * ended. */
static pid_t first_holder(struct cli *cli, const char *lock_dir)
{
    pid_t pid = 0;
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0] && pid <= 0; i++) {
        pid = cli_lock_holder(cli, lock_dir, NAMES[i]);
    }
    return pid > 0 ? pid : 0;
}

/* signal_number: SIGINT or SIGPWR; not SIGTERM, by which a startd leaves its jobs to the next
 * startd. */
static pid_t tell_master(struct cli *cli, const char *lock_dir, int signal_number)
{
    pid_t pid = first_holder(cli, lock_dir);
    if (pid > 0) {
        (void)os_kill(cli->os, pid, signal_number); /* gone meanwhile: the caller looks again */
    }
    return pid;
}

/* Ends all daemons below lock_dir. told is the process that was signalled already: none is
 * signalled twice, because a second signal ends a daemon at once, without its starters.
 * -ETIMEDOUT: some have not ended at end_ms. */
static int stop_all(struct cli *cli, const char *lock_dir, int signal_number, pid_t told,
                    uint64_t end_ms)
{
    pid_t pid;
    while ((pid = first_holder(cli, lock_dir)) != 0) {
        if (pid != told) {
            told = tell_master(cli, lock_dir, signal_number);
        }
        if (loop_now_ms(cli->loop) >= end_ms) {
            return -ETIMEDOUT;
        }
        cli_pause(cli, RETRY_MS);
    }
    return 0;
}

/* Starters, by their locks: starter.<slot>.lock. */
struct starters {
    struct cli *cli;
    const char *lock_dir;
    bool tell;
    size_t count;
};

static void count_starter(void *arg, const char *file)
{
    struct starters *starters = arg;
    const char *end = strrchr(file, '.');
    char name[256];
    if (strncmp(file, "starter.", strlen("starter.")) != 0 || strcmp(end, ".lock") != 0 ||
        snprintf(name, sizeof name, "%.*s", (int)(end - file), file) >= (int)sizeof name) {
        return;
    }
    pid_t pid = cli_lock_holder(starters->cli, starters->lock_dir, name);
    if (pid == 0) {
        return;
    }
    starters->count++;
    if (starters->tell && pid > 0) {
        (void)os_kill(starters->cli->os, pid, SIGTERM); /* gone meanwhile: counted again */
    }
}

static size_t count_starters(struct cli *cli, const char *lock_dir, bool tell)
{
    struct starters starters = {.cli = cli, .lock_dir = lock_dir, .tell = tell};
    (void)os_list(cli->os, lock_dir, count_starter, &starters,
                  NULL); /* no directory: nothing runs */
    return starters.count;
}

/* Ends the starters below lock_dir, with their jobs, if no startd does it.  Adds their number to
 * *ended. -ETIMEDOUT: some have not ended at end_ms. */
static int stop_starters(struct cli *cli, const char *lock_dir, uint64_t end_ms, size_t *ended)
{
    if (cli_lock_holder(cli, lock_dir, "startd") != 0) {
        return 0;
    }
    *ended += count_starters(cli, lock_dir, true);
    while (count_starters(cli, lock_dir, false) > 0) {
        if (loop_now_ms(cli->loop) >= end_ms) {
            return -ETIMEDOUT;
        }
        cli_pause(cli, RETRY_MS);
    }
    return 0;
}

/* Sends SIGTERM to a shadow with the rights of the shadow's account.  That account wrote the pid
 * into the lock file, so with root's rights the signal could hit a process of somebody else. */
static void tell_shadow(struct cli *cli, const char *user, pid_t pid)
{
    char command[64];
    uid_t uid = 0;
    gid_t gid = 0;
    if (os_uid(cli->os) != 0) {
        (void)os_kill(cli->os, pid, SIGTERM); /* gone meanwhile: looked at again */
        return;
    }
    if (os_user_find(cli->os, user, &uid, &gid, NULL) != 0 || uid == 0) {
        return;
    }
    (void)snprintf(command, sizeof command, "kill -TERM %d", (int)pid);
    const char *const argv[] = {"/bin/sh", "-c", command, NULL};
    const struct os_spawn spec = {
        .argv = argv, .new_session = true, .change_user = true, .uid = uid, .gid = gid};
    struct os_exit how;
    (void)os_run(cli->os, &spec, TELL_MS, &how, NULL); /* likewise */
}

/* Ends the caller's own shadow, if a schedd did not end it. -ETIMEDOUT: it has not ended at
 * end_ms. */
static int stop_shadow(struct cli *cli, uint64_t end_ms)
{
    char user[256], name[300], lock_dir[4200];
    struct err err;
    if (cli_owner_name(cli, user, sizeof user, &err) != 0) {
        return 0; /* nobody's account has a shadow */
    }
    (void)snprintf(name, sizeof name, "shadow.%s", user);
    (void)snprintf(lock_dir, sizeof lock_dir, "%s/owner/%s", config_path(cli->config, "SPOOL"),
                   user);
    pid_t told = 0, pid;
    while ((pid = cli_lock_holder(cli, lock_dir, name)) != 0) {
        if (pid > 0 && pid != told) {
            tell_shadow(cli, user, pid);
            told = pid;
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
    bool for_shutdown = cli->argc > 1 && (strcmp(cli->argv[1], "--for-shutdown") == 0 ||
                                          strcmp(cli->argv[1], "-for-shutdown") == 0);
    int signal_number = for_shutdown ? SIGPWR : SIGINT;
    if (cli->argc > (for_shutdown ? 2 : 1)) {
        return cli_unknown(cli, cli->argv[for_shutdown ? 2 : 1]);
    }
    if (cli_config_nodes(cli, &err) != 0) {
        return cli_fail(cli, "%s", err.text);
    }
    uint64_t end_ms = loop_now_ms(cli->loop) + STOP_MS;
    struct cli_node node;
    const char *lock_dir = config_path(cli->config, "LOCK");
    bool ran = first_holder(cli, lock_dir) != 0;
    size_t ended = 0; /* starters without a startd */
    size_t count = cli_node_count(cli);
    pid_t *told = mem_zalloc((count + 1) * sizeof *told);
    int rc = 0;
    for (size_t i = 0; i < count; i++) { /* all at once ... */
        if (cli_node_at(cli, i, &node)) {
            told[i] = tell_master(cli, node.lock_dir, signal_number);
            ran = ran || told[i] != 0;
        }
    }
    for (size_t i = 0; i < count && rc == 0; i++) { /* ... then one after the other */
        if (cli_node_at(cli, i, &node)) {
            rc = stop_all(cli, node.lock_dir, signal_number, told[i], end_ms);
            rc = rc != 0 ? rc : stop_starters(cli, node.lock_dir, end_ms, &ended);
        }
    }
    mem_free(told);
    if (rc != 0) {
        return cli_fail(cli, "node %s did not stop in %d s", node.name, STOP_MS / 1000);
    }
    /* Before the schedd, so that its shadows hear of their jobs' end. */
    if (stop_starters(cli, lock_dir, end_ms, &ended) != 0 ||
        stop_all(cli, lock_dir, signal_number, 0, end_ms) != 0 || stop_shadow(cli, end_ms) != 0) {
        return cli_fail(cli, "the daemons did not stop in %d s", STOP_MS / 1000);
    }
    if (ended > 0) {
        (void)printf("%zu job%s ended that ran on without a startd.\n", ended,
                     ended == 1 ? "" : "s");
    }
    (void)printf("The pool %s.\n", ran || ended > 0 ? "is stopped" : "was not running");
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

static void pass_on_term(void *arg)
{
    struct foreground *foreground = arg;
    (void)os_kill(foreground->cli->os, foreground->pid, SIGTERM); /* gone: master_ended() follows */
}

static void pass_on_int(void *arg)
{
    struct foreground *foreground = arg;
    (void)os_kill(foreground->cli->os, foreground->pid, SIGINT); /* likewise */
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
    loop_on_signal(cli->loop, SIGTERM, pass_on_term, &foreground);
    loop_on_signal(cli->loop, SIGINT, pass_on_int, &foreground);
    loop_run_until(cli->loop, &foreground.ended);
    return foreground.status;
}
