/* base/daemon/daemon.h - what every daemon has in common: arguments, configuration, log, lock,
 * signals, its master.
 *
 * A daemon folder's main.c is a table (struct daemon) and one call of daemon_main().  The simulator
 * runs the same tables on its own loop. Exit statuses: 0 told to stop, 1 could not start (bad
 * configuration; said why), 3 another instance holds the lock, 4 a commit failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_DAEMON_DAEMON_H
#define BASE_DAEMON_DAEMON_H

#include <stddef.h>

struct config;
struct daemon_run;
struct err;
struct knob_table; /* base/knob.h */
struct log;
struct loop;
struct os;
struct strbuf;

/* What a daemon is given by its process; valid until destroy() returns. */
struct daemon_env {
    struct loop *loop;
    struct os *os;
    struct log *log;
    const struct config *config; /* replaced by reload() */
    const char *name;            /* "collector": in log lines, lock and log file names */
    /* what follows the common options: "-owner", "alice" of a shadow */
    int argc;
    char *const *argv;
    struct daemon_run *run; /* for daemon_reload() and daemon_set(); NULL: they are refused */
};

struct daemon {
    const char *name;
    const struct knob_table *const *tables; /* its knobs, the common ones, those of its libraries */
    size_t table_count;
    /* Wires everything up; returns with *state set, or an error: the process ends with 1. */
    int (*start)(const struct daemon_env *env, void **state, struct err *err);
    /* A new, already checked configuration; the old one stays valid until this returns.  NULL:
     * needs a restart. */
    void (*reload)(void *state, const struct config *config);
    /* Told to stop (SIGTERM, SIGINT): finish up and call loop_stop() within the time of
     * SHUTDOWN_GRACEFUL_TIMEOUT.  NULL: stop at once. */
    void (*stop)(void *state);
    void (*destroy)(void *state);
    /* Checks the text of a KNOB_EXPR, at start and reload; NULL: any text. */
    int (*check_expr)(void *context, const char *text, struct err *err);
    /* All knobs that a file may hold, ended by NULL: names that are none of them are logged.  NULL:
     * nothing is said of unknown names. */
    const struct knob_table *const *known;
};

/* Loads the configuration anew, as at SIGHUP, and appends what is other than before as
 * config_compare() does.  On failure the old one stays, err tells why, and nothing was appended.
 * -ENOTSUP: the daemon takes a new configuration at a restart only. */
int daemon_reload(const struct daemon_env *env, struct strbuf *changed, struct strbuf *restart,
                  struct err *err);
/* Sets a knob of this daemon at run time: durably, and then in the running daemon; value NULL:
 * takes that back.  Who may is the caller's business, what can be set is checked here: -EPERM
 * without ENABLE_PERSISTENT_CONFIG, else errors of config_settings_may_name(),
 * config_settings_edit(), config_load() with the value in its place, and of writing; then all is as
 * before. */
int daemon_set(const struct daemon_env *env, const char *name, const char *value,
               struct strbuf *changed, struct strbuf *restart, struct err *err);

/* Runs the daemon: DAEMON [-config FILE] [-log FILE] [-pidfile FILE] [-instance NAME]
 * [-noresurrect] [its own arguments].  Reads ROOST_CONFIG.  Holds $(LOCK)/<name>.lock for its life;
 * with an instance the name is "<name>.<instance>" (shadow.alice) in lock, log and env.  Logs to
 * $(LOG)/CollectorLog, NegotiatorLog, SchedLog, StartLog, MasterLog, RoosterLog, StarterLog.slot1,
 * ShadowLog.alice, unless -log says otherwise ("-": stderr).  Both directories are made.
 *
 * The lock file's lines are the pid, the pid's start time (os_start_time()), and "ready" once
 * start() has returned 0; then a byte is also written to the descriptor ROOST_READY_FD, if that is
 * set, and the descriptor closed.
 *
 * SIGTERM and SIGINT call stop(), SIGQUIT or a second SIGTERM end the loop at once, SIGHUP loads
 * the configuration anew and calls reload() if it is good.
 *
 * When it was started by a master (ROOST_MASTER_PID is set) and the holder of $(LOCK)/master.lock
 * dies without telling it to stop, and nobody holds that lock 200-1000 ms later, it starts
 * $(SBIN)/roost-master, unless RESURRECT_MASTER is false or the lock file is another user's
 * (docs/decisions/ says why). */
int daemon_main(const struct daemon *daemon, int argc, char **argv);

/* The same for a daemon whose process may be a copy of a prepared one (base/daemon/prepared.h). */
int daemon_main_prepared(const struct daemon *daemon, int argc, char **argv);

#endif
