/* base/daemon/daemon_guard.c - see daemon_guard.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/daemon/daemon_guard.h"

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/random.h"
#include "base/strbuf.h"

struct daemon_guard {
    struct loop *loop;
    struct os *os;
    struct log *log;
    char *lock;      /* path of master.lock */
    char *program;   /* path of roost-master */
    pid_t watched;   /* the master, 0 when there is none */
    unsigned starts; /* since the last master was seen */
    struct loop_timer *timer;
};

static void look_for_master(void *arg);

static void wait_a_little(struct daemon_guard *guard)
{
    uint64_t most_ms = GUARD_WAIT_MAX_MS;
    for (unsigned i = 0; i < guard->starts && most_ms < GUARD_RETRY_MAX_MS; i++) {
        most_ms *= 2;
    }
    most_ms = most_ms < GUARD_RETRY_MAX_MS ? most_ms : GUARD_RETRY_MAX_MS;
    uint64_t spread_ms = most_ms - GUARD_WAIT_MIN_MS;
    loop_timer_set(guard->timer, GUARD_WAIT_MIN_MS + rng_below(loop_rng(guard->loop), spread_ms));
}

static void master_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    (void)how;
    struct daemon_guard *guard = arg;
    guard->watched = 0;
    log_warn(guard->log, "master.gone", "the master ended without stopping this daemon",
             LOG_INT("pid", pid));
    wait_a_little(guard);
}

static void start_master(struct daemon_guard *guard)
{
    struct os_stat st;
    struct err err;
    pid_t pid;
    if (os_stat(guard->os, guard->lock, &st) == 0 && st.uid != os_uid(guard->os)) {
        log_debug(guard->log, "master.not_ours",
                  "the master belongs to another user and cannot be started from here",
                  LOG_INT("uid", st.uid));
        return;
    }
    const char *const argv[] = {guard->program, NULL};
    const struct os_spawn spec = {.argv = argv,
                                  .cwd = "/",
                                  .new_session = true,
                                  .kin = OS_DETACHED};
    guard->starts++;
    if (os_spawn(guard->os, &spec, NULL, NULL, &pid, &err) != 0) {
        log_error(guard->log, "master.start", err.text, LOG_INT("attempt", guard->starts));
    } else {
        log_info(guard->log, "master.start", "started a new master", LOG_INT("pid", pid),
                 LOG_INT("attempt", guard->starts));
    }
}

/* Looks whether there is a master, and then watches it; else starts one and looks again later. */
static void look_for_master(void *arg)
{
    struct daemon_guard *guard = arg;
    struct err err;
    pid_t pid = os_lock_holder(guard->os, guard->lock);
    if (pid > 0) {
        if (os_watch(guard->os, pid, os_start_time(guard->os, pid), master_ended, guard, &err) ==
            0) {
            guard->watched = pid;
            guard->starts = 0;
            return;
        }
        log_warn(guard->log, "master.watch", err.text);
    } else if (pid == 0) {
        start_master(guard);
    }
    wait_a_little(guard);
}

static char *path_of(const struct config *config, const char *knob, const char *name)
{
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/%s", config_path(config, knob), name);
    return strbuf_take(&path);
}

struct daemon_guard *daemon_guard_create(struct loop *loop, struct os *os, struct log *log,
                                         const struct config *config)
{
    const char *by_master = os_getenv(os, "ROOST_MASTER_PID");
    if (by_master == NULL || by_master[0] == '\0' || !config_bool(config, "RESURRECT_MASTER")) {
        return NULL;
    }
    struct daemon_guard *guard = mem_zalloc(sizeof(*guard));
    guard->loop = loop;
    guard->os = os;
    guard->log = log;
    guard->lock = path_of(config, "LOCK", "master.lock");
    guard->program = path_of(config, "SBIN", "roost-master");
    guard->timer = loop_timer_create(loop, look_for_master, guard);
    pid_t pid = os_lock_holder(os, guard->lock);
    if (pid > 0) {
        look_for_master(guard);
    } else {
        wait_a_little(guard);
    }
    return guard;
}

void daemon_guard_destroy(struct daemon_guard *guard)
{
    if (guard != NULL) {
        if (guard->watched != 0) {
            os_forget(guard->os, guard->watched);
        }
        loop_timer_destroy(guard->timer);
        mem_free(guard->lock);
        mem_free(guard->program);
        mem_free(guard);
    }
}
