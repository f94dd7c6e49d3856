/* base/daemon/daemon.h - what every daemon has in common: arguments, configuration, log, lock,
 * signals, its master.
 *
 * A daemon is a table (struct daemon); its main.c is one call of daemon_main().  The simulator runs
 * the same tables on its own loop.  Exit statuses: 0 told to stop, 1 could not start (bad
 * configuration; the reason was logged), 3 another instance holds the lock, 4 a commit failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_DAEMON_DAEMON_H
#define BASE_DAEMON_DAEMON_H

#include <stdbool.h>
#include <stddef.h>

struct config;
struct config_section;
struct daemon_checking; /* base/daemon/daemon_checking.h */
struct daemon_run;
struct err;
struct knob_table; /* defined in base/knob.h */
struct log;
struct loop;
struct os;
struct strbuf;

/* What a daemon gets from its process.  Valid until the daemon's callback destroy() returns. */
struct daemon_env {
    struct loop *loop;
    struct os *os;
    struct log *log;
    const struct config *config; /* the configuration in force; a reload replaces this pointer */
    /* such as "collector"; used in log lines and in the names of lock and log files */
    const char *name;
    /* number of entries of argv: the arguments after the common options, for a shadow "-owner" and
     * "alice" */
    int argc;
    char *const *argv;
    /* the running daemon that daemon_reload() and daemon_set() change; NULL: these functions return
     * -ENOTSUP */
    struct daemon_run *run;
};

/* What distinguishes one daemon from others: its name, knobs and callbacks. */
struct daemon {
    const char *name;
    /* table_count tables of the knobs that the daemon reads: its own, knobs_common (base/knob.h),
     * and those of its libraries. */
    const struct knob_table *const *tables;
    size_t table_count;
    /* Sets the daemon up and returns 0, with *state as the argument of the other callbacks; or
     * -errno: the process ends with status 1. */
    int (*start)(const struct daemon_env *env, void **state, struct err *err);
    /* Takes over a new, checked configuration; the old one is valid until the callback returns.
     * NULL: a new configuration needs a restart of the daemon. */
    void (*reload)(void *state, const struct config *config);
    /* Called for SIGTERM: must bring the daemon's own work to an end and call loop_stop() within
     * SHUTDOWN_GRACEFUL_TIMEOUT.  NULL: the process stops at once. */
    void (*stop)(void *state);
    /* Called for SIGINT, which says that the daemon is not started again soon (`roost stop`): as
     * stop(), and what would outlive the daemon must end, too.  NULL: stop() is called. */
    void (*stop_all)(void *state);
    /* Called for SIGPWR, which says that this machine goes down: as stop_all(), and the pool is to
     * know that the machine is off.  NULL: stop_all() is called. */
    void (*stop_host)(void *state);
    void (*destroy)(void *state);
    /* Checks the text of a KNOB_EXPR when a configuration is loaded.  Returns 0 or -errno. context:
     * not used.  NULL instead of a function: any text is accepted. */
    int (*check_expr)(void *context, const char *text, struct err *err);
    /* A KNOB_STRING of these tables, by default the host's name: the daemon reads only the section
     * with that title, of each kind.  NULL: it reads all. */
    const char *only_title;
    bool gather_texts; /* see config_text_at(); root's daemons gather none */
    /* Checks a section of a configuration as a whole when the configuration is loaded, as
     * config_options.check_section.  NULL: any section is accepted. */
    int (*check_section)(void *context, const struct config_section *section, struct err *err);
    /* Tries what start() and reload() will read, so that a configuration that the daemon cannot use
     * is refused before it is in force, at the start, too.  Changes nothing; may say doubts.
     * Returns 0, or -errno with err, which begins with the knob's name.  NULL: the tables say
     * everything. */
    int (*check)(const struct daemon_checking *checking, struct err *err);
    /* All tables of knobs that a file may use, ended by NULL; other names are logged as unknown.
     * NULL: nothing is logged. */
    const struct knob_table *const *known;
};

/* Loads the configuration again, as SIGHUP does.  Appends the names that differ to `changed`, and
 * also to `restart` when their change takes effect only after a restart of the daemon.  Returns 0,
 * or -errno with the old configuration in force, err set and nothing appended.  -ENOTSUP: the
 * daemon must be restarted for a new configuration. */
int daemon_reload(const struct daemon_env *env, struct strbuf *changed, struct strbuf *restart,
                  struct err *err);
/* Sets a knob of this daemon at run time: first durably, then in the running daemon. value NULL:
 * removes the setting.  The caller must have checked who asks.  Appends the names that
 * differ to `changed`, and also to `restart` when their change takes effect only after a restart of
 * the daemon.  Returns 0; -EPERM: ENABLE_PERSISTENT_CONFIG is off; -ENOTSUP: the daemon must be
 * restarted for a new configuration; or errors of config_settings_may_name(),
 * config_settings_edit(), config_load() with the new value, or writing.  On failure nothing has
 * changed. */
int daemon_set(const struct daemon_env *env, const char *name, const char *value,
               struct strbuf *changed, struct strbuf *restart, struct err *err);

/* Runs the daemon until it is told to stop, and returns its exit status.  Command line:
 *
 *     DAEMON [-config FILE] [-log FILE] [-pidfile FILE] [-instance NAME] [-noresurrect] [ARGUMENTS]
 *     DAEMON -check [-config FILE]: loads and checks the configuration, and ends with status 0 or 1
 *
 * Reads ROOST_CONFIG.  Holds $(LOCK)/<name>.lock while it runs; with an instance the name is
 * "<name>.<instance>" (shadow.alice) in lock, log and env.  Logs to a file in $(LOG), named
 * CollectorLog, NegotiatorLog, SchedLog, StartLog, MasterLog, RoosterLog, StarterLog.slot1,
 * ShadowLog.alice, unless -log names another one ("-": stderr).  Both directories are made.
 *
 * The lock file's lines are the pid, the pid's start time (os_start_time()), and "ready" once
 * start() has returned 0; then a byte is also written to the descriptor ROOST_READY_FD, if that is
 * set, and the descriptor closed.
 *
 * SIGTERM calls stop(), SIGINT calls stop_all(), SIGPWR calls stop_host().  SIGQUIT or a second one
 * of these signals end the loop at once.  SIGHUP loads the configuration again and calls reload()
 * if it is valid.
 *
 * A daemon that a master started (ROOST_MASTER_PID is set) watches the holder of
 * $(LOCK)/master.lock.  If that process dies without telling it to stop, and nobody holds the lock
 * 200-1000 ms later, the daemon starts $(SBIN)/roost-master, unless RESURRECT_MASTER is false or
 * the lock file belongs to another user (daemon_guard.h). */
int daemon_main(const struct daemon *daemon, int argc, char **argv);

/* Calls prepared_main() and then does what daemon_main() does: for a program that may be started as
 * a copy of a prepared process (base/daemon/prepared.h). */
int daemon_main_prepared(const struct daemon *daemon, int argc, char **argv);

#endif
