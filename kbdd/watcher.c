/* kbdd/watcher.c - watches one X display: asks when it was last used, and tells the startd.
 *
 * The connection to the startd is made first, as the account that started us, by which the startd
 * knows us.  Then root's rights are given up for good: to the user who owns the X server (only he
 * can be harmed by what his server sends), or, for a server of root, to KBDD_USER after the cookie
 * was read.  Only then is anything read from X.  When the display or the startd goes away, the
 * process ends and kbdd.c starts another one, which finds a restarted X server or startd.
 *
 * The startd is told at once when somebody comes back, otherwise every KBDD_TELL_S seconds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "kbdd/display_plan.h"
#include "kbdd/kbdd.h"
#include "kbdd/x_idle.h"
#include "wire/pool.h"
#include "wire/wire.h"

#define KBDD_TELL_MS   10000
#define AUTH_BYTES_MAX 65536

struct watcher {
    struct daemon_env env;
    const char *display, *auth;
    uid_t uid; /* user who owns the X server */
    unsigned char cookie[DISPLAY_COOKIE_MAX];
    size_t cookie_length;
    struct wire_context *wires;
    struct uplink *startd;
    struct loop_lane *lane;
    struct loop_timer *timer;
    struct x_idle *x; /* the lane's, once it works */
    struct err err;
    int64_t idle_ms; /* the lane's answer */
    int64_t told_ms; /* idle as told last, grown since */
    uint64_t told_at_ms;
    bool inside; /* the startd knows us; our rights may be less since */
    bool told, open;
};

static const char *option_value(const struct daemon_env *env, const char *name)
{
    for (int i = 0; i + 1 < env->argc; i++) {
        if (strcmp(env->argv[i], name) == 0) {
            return env->argv[i + 1];
        }
    }
    return NULL;
}

bool watcher_is_wanted(const struct daemon_env *env)
{
    return option_value(env, "-display") != NULL;
}

static void give_up(struct watcher *watcher, const char *why)
{
    log_warn(watcher->env.log, "display.lost", why, LOG_TEXT("display", watcher->display));
    loop_stop(watcher->env.loop, 1);
}

/* ---- on the lane */

static int ask_idle(void *arg)
{
    struct watcher *watcher = arg;
    int rc = 0;
    if (watcher->x == NULL) {
        rc = x_idle_open(watcher->display, watcher->cookie, watcher->cookie_length, &watcher->x,
                         &watcher->err);
    }
    watcher->idle_ms = rc == 0 ? x_idle_ms(watcher->x) : rc;
    return watcher->idle_ms < 0 ? (int)watcher->idle_ms : 0;
}

/* ---- on the loop */

static void ignore_reply(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* the next one comes soon */
}

static void tell_startd(struct watcher *watcher)
{
    struct wire *wire = uplink_wire(watcher->startd);
    if (wire == NULL) {
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Display", watcher->display);
    ad_set_int(args, "ConsoleIdle", watcher->idle_ms / 1000);
    struct wire_body body = {.args = args};
    if (wire_call(wire, VERB_CONSOLE_USED, &body, 0, ignore_reply, NULL) > 0) {
        watcher->told = true;
        watcher->told_ms = watcher->idle_ms;
        watcher->told_at_ms = loop_now_ms(watcher->env.loop);
    }
    ad_destroy(args);
}

static void idle_asked(void *arg, int result)
{
    struct watcher *watcher = arg;
    if (result != 0) {
        give_up(watcher,
                watcher->x == NULL ? watcher->err.text : "the display does not answer any more");
        return;
    }
    if (!watcher->open) {
        log_info(watcher->env.log, "display.open", "watching the display",
                 LOG_TEXT("display", watcher->display));
        watcher->open = true;
    }
    int64_t since_ms = (int64_t)(loop_now_ms(watcher->env.loop) - watcher->told_at_ms);
    bool used = watcher->idle_ms < watcher->told_ms + since_ms - 500;
    if (!watcher->told || used || since_ms >= KBDD_TELL_MS) {
        tell_startd(watcher);
    }
    loop_timer_set(watcher->timer,
                   (uint64_t)config_duration_s(watcher->env.config, "KBDD_INTERVAL") * 1000);
}

static void look_at_idle(void *arg)
{
    struct watcher *watcher = arg;
    loop_lane_run(watcher->lane, ask_idle, idle_asked, watcher);
}

/* ---- getting in */

static void read_cookie(struct watcher *watcher)
{
    char *data = NULL;
    size_t length;
    struct err err;
    if (watcher->auth == NULL || watcher->auth[0] == '\0') {
        return; /* the server knows us by our uid, or not at all */
    }
    char name[16];
    (void)snprintf(name, sizeof name, "X%.8s", watcher->display + 1); /* ":0" */
    int number = display_plan_number(name);
    int rc = os_read_file(watcher->env.os, watcher->auth, AUTH_BYTES_MAX, &data, &length, &err);
    if (rc == 0) {
        rc = display_plan_cookie(data, length, number, watcher->cookie);
        if (rc == -ENOENT) {
            (void)err_set(&err, rc, "%s has no cookie for display %s", watcher->auth,
                          watcher->display);
        } else if (rc < 0) {
            (void)err_set(&err, rc, "%s: not a whole Xauthority file", watcher->auth);
        }
        mem_free(data);
    }
    if (rc < 0) {
        log_warn(watcher->env.log, "display.cookie", err.text);
        return;
    }
    watcher->cookie_length = (size_t)rc;
}

static int become_user(struct watcher *watcher, struct err *err)
{
    struct os *os = watcher->env.os;
    uid_t uid;
    gid_t gid;
    char name[256];
    if (os_uid(os) != 0) {
        read_cookie(watcher);
        return 0;
    }
    int rc = 0;
    if (watcher->uid != 0) {
        rc = os_user_name(os, watcher->uid, name, sizeof name, err);
    } else {
        read_cookie(watcher); /* root's own */
        (void)snprintf(name, sizeof name, "%s", config_string(watcher->env.config, "KBDD_USER"));
    }
    rc = rc != 0 ? rc : os_user_find(os, name, &uid, &gid, err);
    if (rc == 0 && uid == 0) {
        rc = err_set(err, -EPERM, "KBDD_USER: kbdd never talks to X as root; name another account");
    }
    rc = rc != 0 ? rc : os_become(os, uid, gid, err);
    if (rc == 0 && watcher->uid != 0) {
        read_cookie(watcher); /* with his rights */
    }
    return rc;
}

static void on_up(void *arg, struct wire *wire)
{
    struct watcher *watcher = arg;
    struct err err;
    (void)wire;
    watcher->inside = true;
    if (become_user(watcher, &err) != 0) {
        give_up(watcher, err.text);
        return;
    }
    look_at_idle(watcher);
}

static void on_down(void *arg, const char *why)
{
    struct watcher *watcher = arg;
    if (watcher->inside) { /* we are another by now, whom the startd would not know */
        give_up(watcher, why);
    }
}

int watcher_create(const struct daemon_env *env, struct watcher **ret, struct err *err)
{
    static const struct uplink_events EVENTS = {.up = on_up, .down = on_down};
    struct watcher *watcher = mem_zalloc(sizeof *watcher);
    watcher->env = *env;
    watcher->display = option_value(env, "-display");
    watcher->auth = option_value(env, "-auth");
    int64_t uid = 0;
    const char *uid_text = option_value(env, "-uid");
    watcher->lane = loop_lane_create(env->loop);
    watcher->timer = loop_timer_create(env->loop, look_at_idle, watcher);
    int rc = uid_text != NULL ? text_parse_int64(uid_text, &uid, err) : 0;
    watcher->uid = (uid_t)uid;
    rc = rc != 0 ? rc : pool_client_context_create(env, &watcher->wires, err);
    if (rc == 0) {
        struct strbuf address;
        strbuf_init(&address, 0);
        strbuf_printf(&address, "unix:%s/startd.sock", config_path(env->config, "RUN"));
        const struct wire_dial how = {.address = strbuf_text(&address),
                                      .route = "kbdd",
                                      .name = "",
                                      .server_scopes = SCOPE_ADVERTISE};
        rc = uplink_create(watcher->wires, &how, &EVENTS, watcher, &watcher->startd, err);
        strbuf_fini(&address);
    }
    if (rc != 0) {
        watcher_destroy(watcher);
        return rc;
    }
    *ret = watcher;
    return 0;
}

void watcher_destroy(struct watcher *watcher)
{
    if (watcher == NULL) {
        return;
    }
    loop_lane_destroy(watcher->lane);
    loop_timer_destroy(watcher->timer);
    uplink_destroy(watcher->startd);
    wire_context_destroy(watcher->wires);
    x_idle_close(watcher->x);
    mem_free(watcher);
}
