/* kbdd/kbdd.c - finds the X displays of this machine and starts a process to watch each of them.
 *
 * A display is a socket below /tmp/.X11-unix.  Its server is found in /proc by its command line,
 * which also names the file with the cookie.  This process does not connect to an X server, because
 * it may be root.  A watcher that ended (with the server, or the startd) is restarted after a
 * while, as long as the socket exists.  Anybody can put a socket there and call a program Xorg; the
 * watcher then runs as that user, and the worst it can report is that somebody uses this machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kbdd/kbdd.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "kbdd/display_plan.h"

#define SOCKETS        "/tmp/.X11-unix"
#define LOOK_MS        2000
#define AGAIN_MS       5000 /* after a watcher ended */
#define LINE_BYTES_MAX 65536

struct display {
    int number;
    pid_t pid;         /* process id of its watcher; 0: none */
    uint64_t again_ms; /* not before */
    struct kbdd *kbdd;
};

struct kbdd {
    struct daemon_env env;
    struct loop_timer *timer;
    struct vec displays; /* struct display */
    struct watcher *watcher;
};

/* ---- servers */

struct search {
    struct kbdd *kbdd;
    int number;
    uid_t socket_uid;
    enum display_match match;
    uid_t uid;
    char auth[1024];
};

static void consider_process(void *arg, const char *name)
{
    struct search *search = arg;
    struct os *os = search->kbdd->env.os;
    char path[300], auth[sizeof search->auth], *line = NULL;
    size_t length;
    struct os_stat stat;
    if (name[0] < '1' || name[0] > '9') {
        return;
    }
    (void)snprintf(path, sizeof path, "/proc/%.20s/cmdline", name);
    if (os_read_file(os, path, LINE_BYTES_MAX, &line, &length, NULL) != 0) {
        return; /* it is gone */
    }
    enum display_match match = display_plan_server(line, length, search->number, auth, sizeof auth);
    mem_free(line);
    (void)snprintf(path, sizeof path, "/proc/%.20s", name);
    if (match == DISPLAY_OTHER || match <= search->match || os_stat(os, path, &stat) != 0 ||
        (match == DISPLAY_MAYBE && stat.uid != search->socket_uid)) {
        return;
    }
    search->match = match;
    search->uid = stat.uid;
    (void)snprintf(search->auth, sizeof search->auth, "%s", auth);
}

/* ---- watchers */

static void watcher_ended(void *arg, pid_t pid, const struct os_exit *how)
{
    struct display *display = arg;
    (void)pid;
    display->pid = 0;
    display->again_ms = loop_now_ms(display->kbdd->env.loop) + AGAIN_MS;
    log_info(display->kbdd->env.log, "display.unwatched",
             "the process that watched the display ended", LOG_INT("display", display->number),
             LOG_INT("status", how->status), LOG_INT("signal", how->signal));
}

static void watch_display(struct display *display, uid_t socket_uid)
{
    struct kbdd *kbdd = display->kbdd;
    struct os *os = kbdd->env.os;
    struct search search = {.kbdd = kbdd, .number = display->number, .socket_uid = socket_uid};
    struct err err;
    display->again_ms = loop_now_ms(kbdd->env.loop) + AGAIN_MS;
    (void)os_list(os, "/proc", consider_process, &search,
                  NULL); /* none found: search.match says so */
    if (search.match == DISPLAY_OTHER) {
        return;
    }
    const char *own = os_getenv(os, "XAUTHORITY");
    if (search.auth[0] == '\0' && own != NULL && os_uid(os) != 0) {
        (void)snprintf(search.auth, sizeof search.auth, "%s", own);
    }
    char name[16], instance[16], uid[16];
    (void)snprintf(name, sizeof name, ":%d", display->number);
    (void)snprintf(instance, sizeof instance, "X%d", display->number);
    (void)snprintf(uid, sizeof uid, "%u", (unsigned)search.uid);
    const char *argv[] = {config_path(kbdd->env.config, "KBDD"),
                          "-instance",
                          instance,
                          "-noresurrect",
                          "-display",
                          name,
                          "-auth",
                          search.auth,
                          "-uid",
                          uid,
                          NULL};
    const struct os_spawn spec = {.argv = argv};
    if (os_spawn(os, &spec, watcher_ended, display, &display->pid, &err) != 0) {
        display->pid = 0;
        log_error(kbdd->env.log, "display.spawn", err.text);
        return;
    }
    log_info(kbdd->env.log, "display.found", "watching an X display",
             LOG_INT("display", display->number), LOG_INT("uid", search.uid),
             LOG_INT("pid", display->pid));
}

/* ---- displays */

static struct display *display_of(struct kbdd *kbdd, int number)
{
    for (size_t i = 0; i < kbdd->displays.count; i++) {
        struct display *display = kbdd->displays.items[i];
        if (display->number == number) {
            return display;
        }
    }
    struct display *display = mem_zalloc(sizeof *display);
    display->number = number;
    display->kbdd = kbdd;
    vec_push(&kbdd->displays, display);
    return display;
}

static void socket_found(void *arg, const char *name)
{
    struct kbdd *kbdd = arg;
    int number = display_plan_number(name);
    char path[300];
    struct os_stat stat;
    (void)snprintf(path, sizeof path, SOCKETS "/%.200s", name);
    if (number < 0 || os_stat(kbdd->env.os, path, &stat) != 0 || stat.is_dir || stat.is_link ||
        stat.is_file || kbdd->displays.count >= KBDD_DISPLAYS_MAX) {
        return;
    }
    struct display *display = display_of(kbdd, number);
    if (display->pid == 0 && loop_now_ms(kbdd->env.loop) >= display->again_ms) {
        watch_display(display, stat.uid);
    }
}

static void look_for_displays(void *arg)
{
    struct kbdd *kbdd = arg;
    (void)os_list(kbdd->env.os, SOCKETS, socket_found, kbdd, NULL); /* no X, no directory */
    loop_timer_set(kbdd->timer, LOOK_MS);
}

/* ---- the daemon */

static void kbdd_destroy(void *state)
{
    struct kbdd *kbdd = state;
    loop_timer_destroy(kbdd->timer);
    watcher_destroy(kbdd->watcher);
    for (size_t i = 0; i < kbdd->displays.count; i++) {
        const struct display *display = kbdd->displays.items[i];
        if (display->pid > 0) {
            os_forget(kbdd->env.os, display->pid);
            (void)os_kill(kbdd->env.os, display->pid, SIGTERM); /* gone: fine */
        }
    }
    vec_fini(&kbdd->displays, mem_free);
    mem_free(kbdd);
}

static int kbdd_start(const struct daemon_env *env, void **state, struct err *err)
{
    struct kbdd *kbdd = mem_zalloc(sizeof *kbdd);
    kbdd->env = *env;
    int rc = 0;
    if (watcher_is_wanted(env)) {
        rc = watcher_create(env, &kbdd->watcher, err);
    } else {
        kbdd->timer = loop_timer_create(env->loop, look_for_displays, kbdd);
        loop_timer_set(kbdd->timer, 0);
    }
    if (rc != 0) {
        kbdd_destroy(kbdd);
        return rc;
    }
    *state = kbdd;
    return 0;
}

static void kbdd_reload(void *state, const struct config *config)
{
    struct kbdd *kbdd = state;
    kbdd->env.config = config;
}

static void kbdd_stop(void *state)
{
    const struct kbdd *kbdd = state;
    loop_stop(kbdd->env.loop, 0);
}

static const struct knob_table *const TABLES[] = {&kbdd_knobs, &knobs_common};

const struct daemon kbdd_daemon = {
    .name = "kbdd",
    .tables = TABLES,
    .table_count = ARRAY_COUNT(TABLES),
    .start = kbdd_start,
    .reload = kbdd_reload,
    .stop = kbdd_stop,
    .destroy = kbdd_destroy,
};
