/* master/master.c - the daemon that starts the other daemons and keeps them running.
 *
 * Each daemon holds a lock file that contains its pid.  A master that starts, perhaps because the
 * last one was killed, looks at the locks first: a running daemon is adopted (watched by its pid)
 * and not started twice.  A daemon that ends without having been told to is started again, at once
 * the first time, later and later if it keeps ending.  To stop, all daemons are told to end, the
 * collector last; a daemon that does not end in time is killed.  SIGTERM (a restart) and SIGINT
 * (the machine's work ends) are passed on as they came.  Nothing is stored: the locks are the
 * state.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "master/master.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/daemon/daemon_checking.h"
#include "base/daemon/daemon_complaint.h"
#include "base/daemon/daemon_down.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/node_groups.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "master/master_ad.h"
#include "master/master_plan.h"
#include "user_maps/user_world.h"

#define DAEMONS_SAID_MAX 64   /* daemons of DAEMON_LIST that our ad shows */
#define KILL_AFTER_MS    5000 /* between the order to end at once and SIGKILL */

struct master;

struct keeper { /* a daemon that the master runs */
    struct master *master;
    char name[64]; /* lower case: "collector" */
    pid_t pid;     /* 0: not running */
    bool adopted;
    bool down;  /* the daemon wants to stay down (base/daemon/daemon_down.h) */
    bool asked; /* ... but somebody wants it: its note counts no more */
    char why_down[DAEMON_DOWN_WHY_MAX];
    bool wanted; /* in DAEMON_LIST */
    uint64_t started_ms;
    int64_t restarts;
    unsigned failures;
    char why_ended[DAEMON_COMPLAINT_MAX]; /* what the daemon said when it last failed */
    struct loop_timer *restart;
};

struct master {
    struct daemon_env env;
    struct vec keepers;
    struct master_ad *ad;
    bool ad_there; /* while it is being taken back */
    struct loop_timer *stop_timer;
    bool all;     /* -all: nothing stays down */
    int stopping; /* 0 no, 1 all but the last, 2 the last too, 3 killing */
};

static void start_daemon(void *arg);
static void stop_more(struct master *master);

static struct master_backoff backoff_of(const struct master *master)
{
    const struct config *config = master->env.config;
    return (struct master_backoff){
        .constant_ms = (uint64_t)config_duration_ms(config, "MASTER_BACKOFF_CONSTANT"),
        .factor = config_real(config, "MASTER_BACKOFF_FACTOR"),
        .ceiling_ms = (uint64_t)config_duration_ms(config, "MASTER_BACKOFF_CEILING"),
        .recover_ms = (uint64_t)config_duration_ms(config, "MASTER_RECOVER_FACTOR"),
    };
}

/* Returns whether the daemon left a note that it wants to stay down, and nobody has asked for it
 * since. */
static bool stays_down(struct keeper *keeper)
{
    struct master *master = keeper->master;
    bool same_boot;
    char why[DAEMON_DOWN_WHY_MAX];
    if (!daemon_down_read(master->env.os, master->env.config, keeper->name, &same_boot, why)) {
        keeper->asked = false; /* it is started as ever, should it leave another one */
        keeper->down = false;
        return false;
    }
    bool stays = same_boot && !keeper->asked;
    if (stays && !keeper->down) {
        log_info(master->env.log, "daemon.stays_down", why, LOG_TEXT("name", keeper->name));
        (void)snprintf(keeper->why_down, sizeof keeper->why_down, "%s", why);
        master_ad_changed(master->ad);
    }
    keeper->down = stays;
    return stays;
}

/* Finds out what the daemon said at its end, and leaves that for `roost start` to read. */
static void note_end(const struct keeper *keeper, const struct os_exit *how,
                     char why[DAEMON_COMPLAINT_MAX])
{
    const struct master *master = keeper->master;
    const char *lock_dir = config_path(master->env.config, "LOCK");
    if (daemon_complaint_read(master->env.os, lock_dir, keeper->name, why) || how->unknown) {
        return;
    }
    if (how->signal != 0) {
        (void)snprintf(why, DAEMON_COMPLAINT_MAX, "it was ended by signal %d", how->signal);
    } else {
        (void)snprintf(why, DAEMON_COMPLAINT_MAX, "it ended with status %d", how->status);
    }
    daemon_complaint_write(master->env.os, lock_dir, keeper->name, why);
}

static void daemon_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct keeper *keeper = arg;
    struct master *master = keeper->master;
    if (pid != keeper->pid) {
        return;
    }
    uint64_t now_ms = loop_now_ms(master->env.loop);
    keeper->pid = 0;
    master_ad_changed(master->ad);
    if (master->stopping != 0 || !keeper->wanted) {
        log_info(master->env.log, "daemon.stopped", "the daemon has ended because it was told to",
                 LOG_TEXT("name", keeper->name));
        if (master->stopping != 0) {
            stop_more(master);
        }
        return;
    }
    if (stays_down(keeper)) {
        return;
    }
    struct master_backoff backoff = backoff_of(master);
    keeper->restarts++;
    keeper->failures =
        master_plan_failures(&backoff, keeper->failures, now_ms - keeper->started_ms);
    uint64_t delay_ms = master_plan_delay_ms(&backoff, keeper->failures);
    char why[DAEMON_COMPLAINT_MAX];
    note_end(keeper, how, why);
    (void)snprintf(keeper->why_ended, sizeof keeper->why_ended, "%s", why);
    log_warn(master->env.log, "daemon.ended", "the daemon ended unexpectedly and will be restarted",
             LOG_TEXT("name", keeper->name), LOG_INT("pid", pid), LOG_INT("status", how->status),
             LOG_INT("signal", how->signal), LOG_INT("delay_ms", delay_ms), LOG_TEXT("said", why));
    loop_timer_set(keeper->restart, delay_ms);
}

/* Adopts a daemon that an earlier master started.  Returns whether it runs and is watched now. */
static bool adopt_daemon(struct keeper *keeper)
{
    struct master *master = keeper->master;
    char path[4096];
    struct err err;
    (void)snprintf(path, sizeof path, "%s/%s.lock", config_path(master->env.config, "LOCK"),
                   keeper->name);
    pid_t pid = os_lock_holder(master->env.os, path);
    if (pid <= 0) {
        return false;
    }
    keeper->pid = pid;
    if (os_watch(master->env.os, pid, os_start_time(master->env.os, pid), daemon_ended, keeper,
                 &err) != 0) {
        keeper->pid = 0;
        return false;
    }
    keeper->adopted = true;
    log_info(master->env.log, "daemon.adopted", "the daemon is running already",
             LOG_TEXT("name", keeper->name), LOG_INT("pid", pid));
    return true;
}

static void start_daemon(void *arg)
{
    struct keeper *keeper = arg;
    struct master *master = keeper->master;
    if (master->stopping != 0 || !keeper->wanted || keeper->pid != 0) {
        return;
    }
    keeper->started_ms = loop_now_ms(master->env.loop);
    if (adopt_daemon(keeper)) {
        master_ad_changed(master->ad);
        return;
    }
    if (stays_down(keeper)) {
        return;
    }
    master_ad_changed(master->ad);
    char program[4096], pid_text[64], complaint[4200];
    struct err err;
    const char *lock_dir = config_path(master->env.config, "LOCK");
    daemon_complaint_path(lock_dir, keeper->name, complaint, sizeof complaint);
    (void)snprintf(program, sizeof program, "%s/roost-%s", config_path(master->env.config, "SBIN"),
                   keeper->name);
    (void)snprintf(pid_text, sizeof pid_text, "ROOST_MASTER_PID=%d", (int)os_pid(master->env.os));
    const char *argv[] = {program, NULL};
    const char *env_add[] = {pid_text, NULL};
    const struct os_spawn spec = {.argv = argv,
                                  .env_add = env_add,
                                  .cwd = "/",
                                  .stderr_path = complaint,
                                  .truncate_output = true};
    keeper->adopted = false;
    int rc = os_spawn(master->env.os, &spec, daemon_ended, keeper, &keeper->pid, &err);
    if (rc != 0) {
        struct master_backoff backoff = backoff_of(master);
        keeper->pid = 0;
        keeper->failures++;
        log_error(master->env.log, "daemon.start", err.text, LOG_TEXT("name", keeper->name));
        daemon_complaint_write(master->env.os, lock_dir, keeper->name, err.text);
        (void)snprintf(keeper->why_ended, sizeof keeper->why_ended, "%s", err.text);
        loop_timer_set(keeper->restart, master_plan_delay_ms(&backoff, keeper->failures));
        return;
    }
    log_info(master->env.log, "daemon.started", "started", LOG_TEXT("name", keeper->name),
             LOG_INT("pid", keeper->pid));
}

/* ---- the list */

static struct keeper *keeper_find(struct master *master, const char *name)
{
    for (size_t i = 0; i < master->keepers.count; i++) {
        struct keeper *keeper = master->keepers.items[i];
        if (strcmp(keeper->name, name) == 0) {
            return keeper;
        }
    }
    return NULL;
}

/* Makes the keepers match DAEMON_LIST: starts new daemons, stops those that are not in it any
 * more. */
static void follow_list(struct master *master)
{
    size_t count;
    const char *const *names = config_list(master->env.config, "DAEMON_LIST", &count);
    for (size_t i = 0; i < master->keepers.count; i++) {
        ((struct keeper *)master->keepers.items[i])->wanted = false;
    }
    for (size_t i = 0; i < count; i++) {
        char name[64];
        size_t length = strlen(names[i]);
        if (length >= sizeof name || text_equal_nocase(names[i], "MASTER")) {
            continue; /* HTCondor's lists name the master itself, too */
        }
        for (size_t j = 0; j <= length; j++) {
            name[j] = text_lower(names[i][j]);
        }
        struct keeper *keeper = keeper_find(master, name);
        if (keeper == NULL) {
            keeper = mem_zalloc(sizeof *keeper);
            keeper->master = master;
            keeper->asked = master->all;
            (void)snprintf(keeper->name, sizeof keeper->name, "%s", name);
            keeper->restart = loop_timer_create(master->env.loop, start_daemon, keeper);
            vec_push(&master->keepers, keeper);
        }
        keeper->wanted = true;
        if (keeper->pid == 0 && !loop_timer_is_set(keeper->restart)) {
            start_daemon(keeper);
        }
    }
    for (size_t i = 0; i < master->keepers.count; i++) {
        const struct keeper *keeper = master->keepers.items[i];
        if (!keeper->wanted && keeper->pid != 0) {
            (void)os_kill(master->env.os, keeper->pid, SIGINT); /* gone: daemon_ended() follows */
        }
    }
}

/* ---- stopping */

static size_t count_running(const struct master *master, bool last)
{
    size_t count = 0;
    for (size_t i = 0; i < master->keepers.count; i++) {
        const struct keeper *keeper = master->keepers.items[i];
        count += keeper->pid != 0 && master_plan_stops_last(keeper->name) == last ? 1 : 0;
    }
    return count;
}

static void signal_all(struct master *master, bool last, int signal_number)
{
    for (size_t i = 0; i < master->keepers.count; i++) {
        struct keeper *keeper = master->keepers.items[i];
        loop_timer_stop(keeper->restart);
        if (keeper->pid != 0 && master_plan_stops_last(keeper->name) == last) {
            (void)os_kill(master->env.os, keeper->pid,
                          signal_number); /* gone: daemon_ended() follows */
        }
    }
}

static void stop_more(struct master *master)
{
    if (master->stopping == 1 && count_running(master, false) == 0) {
        master->stopping = 2;
        signal_all(master, true, SIGTERM);
    }
    if (count_running(master, false) + count_running(master, true) == 0 && !master->ad_there) {
        loop_stop(master->env.loop, 0);
    }
}

static void stop_late(void *arg)
{
    struct master *master = arg;
    log_warn(master->env.log, "daemon.kill", "daemons did not stop in time");
    int signal_number = master->stopping < 3 ? SIGQUIT : SIGKILL;
    master->stopping = 3;
    signal_all(master, false, signal_number);
    signal_all(master, true, signal_number);
    loop_timer_set(master->stop_timer, KILL_AFTER_MS);
}

static void ad_is_gone(void *arg)
{
    struct master *master = arg;
    master->ad_there = false;
    stop_more(master);
}

static void begin_stop(struct master *master, int signal_number)
{
    if (master->stopping != 0) {
        return;
    }
    master->stopping = 1;
    master->ad_there = master_ad_stop(master->ad, ad_is_gone);
    loop_timer_set(master->stop_timer,
                   (uint64_t)config_duration_s(master->env.config, "SHUTDOWN_GRACEFUL_TIMEOUT") *
                       1000);
    signal_all(master, false, signal_number);
    stop_more(master);
}

static void master_stop(void *state)
{
    begin_stop(state, SIGTERM);
}

static void master_stop_all(void *state)
{
    begin_stop(state, SIGINT);
}

static void master_stop_host(void *state)
{
    begin_stop(state, SIGPWR);
}

/* ---- its ad */

/* most bytes of an attribute's name, with the terminating zero */
#define SAID_BYTES_MAX (sizeof(((struct keeper *)0)->name) + 32)

/* Makes the name of an attribute, "SCHEDD_Pid": the daemon's name in capitals, as in
 * DAEMON_LIST. */
static void name_attribute(const struct keeper *keeper, const char *what, char name[SAID_BYTES_MAX])
{
    (void)snprintf(name, SAID_BYTES_MAX, "%s_%s", keeper->name, what);
    for (char *c = name; *c != '_'; c++) {
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    }
}

static void say_number(const struct keeper *keeper, const char *what, int64_t value, struct ad *ad)
{
    char name[SAID_BYTES_MAX];
    name_attribute(keeper, what, name);
    ad_set_int(ad, name, value);
}

/* Says why the daemon does not run, if it is to run and has failed. */
static void say_problem(const struct keeper *keeper, struct strbuf *all, struct ad *ad)
{
    char name[SAID_BYTES_MAX];
    if (keeper->pid != 0 || keeper->down || keeper->why_ended[0] == '\0') {
        return;
    }
    name_attribute(keeper, "Problem", name);
    ad_set_string(ad, name, keeper->why_ended);
    strbuf_printf(all, "%sthe %s does not run: %s", all->length > 0 ? "; " : "", keeper->name,
                  keeper->why_ended);
}

static void say_daemons(void *arg, struct ad *ad)
{
    const struct master *master = arg;
    struct strbuf problems;
    strbuf_init(&problems, 0);
    const char *list[DAEMONS_SAID_MAX];
    char name[SAID_BYTES_MAX];
    size_t count = 0;
    int64_t runs = 0, restarts = 0;
    for (size_t i = 0; i < master->keepers.count; i++) {
        const struct keeper *keeper = master->keepers.items[i];
        restarts += keeper->restarts;
        if (!keeper->wanted || count == DAEMONS_SAID_MAX) {
            continue;
        }
        list[count++] = keeper->name;
        say_number(keeper, "Restarts", keeper->restarts, ad);
        if (keeper->down) {
            name_attribute(keeper, "Down", name);
            ad_set_string(ad, name, keeper->why_down);
        }
        say_problem(keeper, &problems, ad);
        if (keeper->pid != 0) {
            runs++;
            say_number(keeper, "Pid", keeper->pid, ad);
            say_number(keeper, "StartTime",
                       loop_wall_of_s(master->env.loop, (int64_t)keeper->started_ms), ad);
        }
    }
    ad_set_strings(ad, "DaemonList", list, count);
    ad_set_int(ad, "DaemonsRunning", runs);
    ad_set_int(ad, "DaemonRestarts", restarts);
    if (problems.length > 0) {
        ad_set_string(ad, "DaemonProblems", strbuf_text(&problems));
    }
    strbuf_fini(&problems);
}

/* ---- told to start what stays down */

static int turn_on(void *arg, const char *daemon, struct vec *names)
{
    struct master *master = arg;
    bool found = daemon == NULL;
    for (size_t i = 0; i < master->keepers.count && master->stopping == 0; i++) {
        struct keeper *keeper = master->keepers.items[i];
        if (!keeper->wanted || (daemon != NULL && !text_equal_nocase(keeper->name, daemon))) {
            continue;
        }
        found = true;
        if (keeper->down && keeper->pid == 0) {
            keeper->asked = true;
            keeper->failures = 0;
            vec_push(names, keeper->name);
            start_daemon(keeper);
        }
    }
    return found ? 0 : -ENOENT;
}

/* ---- life */

static void master_destroy(void *state)
{
    struct master *master = state;
    for (size_t i = 0; i < master->keepers.count; i++) {
        struct keeper *keeper = master->keepers.items[i];
        if (keeper->pid != 0) {
            os_forget(master->env.os, keeper->pid);
        }
        loop_timer_destroy(keeper->restart);
    }
    vec_fini(&master->keepers, mem_free);
    master_ad_destroy(master->ad);
    loop_timer_destroy(master->stop_timer);
    mem_free(master);
}

/* Refuses lists with which no daemon, or not the right ones, would run.  Doubts what no daemon
 * or several daemons of a host read, because the host has one master. */
static int master_check(const struct daemon_checking *checking, struct err *err)
{
    size_t count, daemons = 0;
    const char *const *names = config_list(checking->config, "DAEMON_LIST", &count);
    node_groups_check(checking);
    user_world_check(checking);
    for (size_t i = 0; i < count; i++) {
        daemons += text_equal_nocase(names[i], "MASTER") ? 0 : 1;
        for (size_t j = 0; j < i; j++) {
            if (text_equal_nocase(names[i], names[j])) {
                return err_set(err, -EINVAL,
                               "DAEMON_LIST names %s twice; the master runs one of each daemon",
                               names[i]);
            }
        }
    }
    return daemons > 0 ? 0
                       : err_set(err, -EINVAL,
                                 "DAEMON_LIST is empty; name at least one daemon, such as "
                                 "STARTD");
}

static int master_start(const struct daemon_env *env, void **state, struct err *err)
{
    (void)err;
    static const struct master_ad_events EVENTS = {.fill = say_daemons, .turn_on = turn_on};
    struct master *master = mem_zalloc(sizeof *master);
    for (int i = 0; i < env->argc; i++) {
        master->all = master->all || strcmp(env->argv[i], "-all") == 0;
    }
    master->env = *env;
    master->stop_timer = loop_timer_create(env->loop, stop_late, master);
    master->ad = master_ad_create(env, &EVENTS, master);
    *state = master;
    follow_list(master);
    return 0;
}

static void master_reload(void *state, const struct config *config)
{
    struct master *master = state;
    master->env.config = config;
    for (size_t i = 0; i < master->keepers.count; i++) {
        struct keeper *keeper = master->keepers.items[i];
        if (keeper->pid != 0) {
            (void)os_kill(master->env.os, keeper->pid, SIGHUP); /* gone: daemon_ended() follows */
        } else { /* what kept it from starting may be mended: it is tried at once */
            loop_timer_stop(keeper->restart);
            keeper->failures = 0;
        }
    }
    follow_list(master);
    master_ad_reload(master->ad, config);
}

static const struct knob_table *const TABLES[] = {&master_knobs, &knobs_common};

const struct daemon master_daemon = {
    .name = "master",
    .tables = TABLES,
    .table_count = ARRAY_COUNT(TABLES),
    .check = master_check,
    .start = master_start,
    .reload = master_reload,
    .stop = master_stop,
    .stop_all = master_stop_all,
    .stop_host = master_stop_host,
    .destroy = master_destroy,
    .known = knob_tables, /* one daemon of a host says what no daemon knows */
};
