/* cli/arrivals.c - see arrivals.h.
 *
 * A daemon that has ended left its last words beside its lock (base/daemon/daemon_complaint.h), and
 * so does one that runs, but that the collector refuses: to wait for it is useless.  The master
 * itself is not needed in the pool.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/arrivals.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/daemon/daemon_complaint.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/text.h"
#include "cli/cli.h"

/* So long a daemon must be down to count as failed: the master has tried again once or twice. */
#define FAILED_MS   500
#define NAMES_MAX   64
#define NAME_BYTES  64
#define MASTER_NAME "master"

struct arrival {
    char name[NAME_BYTES]; /* lower case */
    uint64_t failed_ms;    /* when it was first seen to have failed, in loop time; 0: it has not */
    int64_t said_s;        /* when it had last said something as the command began */
};

struct arrivals {
    struct cli *cli;
    struct arrival daemons[NAMES_MAX];
    size_t count;
};

/* Returns when a daemon of this host last said something, seconds since 1970; 0: never. */
static int64_t said_at_s(struct cli *cli, const char *daemon)
{
    char path[4200];
    struct os_stat stat;
    daemon_complaint_path(config_path(cli->config, "LOCK"), daemon, path, sizeof path);
    return os_stat(cli->os, path, &stat) == 0 ? stat.mtime_s : 0;
}

static void add_daemon(struct arrivals *arrivals, const char *name)
{
    size_t length = strlen(name);
    if (length >= NAME_BYTES || arrivals->count == NAMES_MAX) {
        return;
    }
    struct arrival *daemon = &arrivals->daemons[arrivals->count];
    for (size_t i = 0; i <= length; i++) {
        daemon->name[i] = text_lower(name[i]);
    }
    daemon->said_s = said_at_s(arrivals->cli, daemon->name);
    arrivals->count++;
}

int arrivals_open(struct cli *cli, struct arrivals **ret, struct err *err)
{
    struct config *config = NULL;
    struct config_options how = {.tables = knob_tables, .subsystem = "MASTER", .only_title = ""};
    while (knob_tables[how.table_count] != NULL) {
        how.table_count++;
    }
    int rc = cli_config_load(cli, &how, &config, err);
    if (rc != 0) {
        return rc;
    }
    struct arrivals *arrivals = mem_zalloc(sizeof *arrivals);
    arrivals->cli = cli;
    add_daemon(arrivals, MASTER_NAME);
    size_t count;
    const char *const *names = config_list(config, "DAEMON_LIST", &count);
    for (size_t i = 0; i < count; i++) {
        if (!text_equal_nocase(names[i], MASTER_NAME)) {
            add_daemon(arrivals, names[i]);
        }
    }
    config_destroy(config);
    *ret = arrivals;
    return 0;
}

void arrivals_close(struct arrivals *arrivals)
{
    mem_free(arrivals);
}

const char *arrivals_name(const struct arrivals *arrivals, size_t index)
{
    return index < arrivals->count ? arrivals->daemons[index].name : NULL;
}

bool arrivals_has(const struct arrivals *arrivals, const char *name)
{
    for (size_t i = 0; i < arrivals->count; i++) {
        if (text_equal_nocase(arrivals->daemons[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* Reads what a daemon of this host said last, without its program's name. */
static bool read_complaint(struct cli *cli, const char *daemon, char why[DAEMON_COMPLAINT_MAX])
{
    char prefix[NAME_BYTES + 16];
    if (!daemon_complaint_read(cli->os, config_path(cli->config, "LOCK"), daemon, why)) {
        return false;
    }
    (void)snprintf(prefix, sizeof prefix, "roost-%s: ", daemon);
    size_t skip = strncmp(why, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
    memmove(why, why + skip, strlen(why + skip) + 1);
    return true;
}

static bool is_running(struct cli *cli, const char *daemon)
{
    return cli_lock_holder(cli, config_path(cli->config, "LOCK"), daemon) != 0;
}

bool arrivals_failed(struct cli *cli, const char *daemon, char why[DAEMON_COMPLAINT_MAX])
{
    return !is_running(cli, daemon) && read_complaint(cli, daemon, why);
}

/* Returns whether a daemon runs, but is refused by the collector, and what it said.  What it said
 * before this command may be mended: it says so again when it is refused again. */
static bool is_refused(struct cli *cli, const struct arrival *daemon,
                       char why[DAEMON_COMPLAINT_MAX])
{
    return is_running(cli, daemon->name) && said_at_s(cli, daemon->name) > daemon->said_s &&
           read_complaint(cli, daemon->name, why) &&
           strncmp(why, DAEMON_CANNOT_JOIN, strlen(DAEMON_CANNOT_JOIN)) == 0;
}

int arrivals_look(struct arrivals *arrivals, struct err *err)
{
    uint64_t now_ms = loop_now_ms(arrivals->cli->loop);
    for (size_t i = 0; i < arrivals->count; i++) {
        struct arrival *daemon = &arrivals->daemons[i];
        char why[DAEMON_COMPLAINT_MAX];
        bool refused = i > 0 && is_refused(arrivals->cli, daemon, why);
        if (!refused && !arrivals_failed(arrivals->cli, daemon->name, why)) {
            daemon->failed_ms = 0;
        } else if (daemon->failed_ms == 0) {
            daemon->failed_ms = now_ms;
        } else if (now_ms - daemon->failed_ms >= FAILED_MS) {
            return err_set(err, -ECHILD, "the %s %s%s", daemon->name,
                           refused ? "" : "does not start: ", why);
        }
    }
    return 0;
}

void arrivals_retry(struct arrivals *arrivals)
{
    struct cli *cli = arrivals->cli;
    char why[DAEMON_COMPLAINT_MAX];
    pid_t master = cli_lock_holder(cli, config_path(cli->config, "LOCK"), MASTER_NAME);
    for (size_t i = 1; i < arrivals->count && master > 0; i++) {
        if (arrivals_failed(cli, arrivals->daemons[i].name, why)) {
            (void)os_kill(cli->os, master, SIGHUP); /* gone: another master is started */
            return;
        }
    }
}
