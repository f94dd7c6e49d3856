/* master/master_ad.c - see master_ad.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "master/master_ad.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "wire/daemon_ad.h"
#include "wire/pool.h"
#include "wire/revocations.h"
#include "wire/settings.h"
#include "wire/wire.h"

#define TAKE_BACK_MS 2000
#define GATHER_MS    200 /* several daemons that start at once are one change */

struct master_ad {
    struct daemon_env env;
    const struct master_ad_events *events;
    void *arg;
    char name[256];
    int64_t started_ms, epoch, sequence; /* started_ms: loop_now_ms() */
    struct wire_context *wires;          /* NULL: there is no token yet */
    struct uplink *uplink;
    struct loop_timer *timer;
    void (*gone)(void *arg);
    bool stopping;
    bool was_down, was_refused; /* said in the log */
};

static uint64_t interval_ms(const struct master_ad *self)
{
    return (uint64_t)config_duration_s(self->env.config, "MASTER_UPDATE_INTERVAL") * 1000;
}

static void ad_answered(void *arg, struct wire_reply *reply)
{
    struct master_ad *self = arg;
    const char *why = reply->status < 0 ? reply->text
                      : reply->args != NULL && ad_int_or(reply->args, "Rejected", 0) > 0
                          ? ad_string_or(reply->args, "ErrorString", "")
                          : NULL;
    if (why != NULL && reply->status != -ECONNRESET && !self->was_refused) {
        log_warn(self->env.log, "ad.refused", why, LOG_TEXT("name", self->name));
    }
    self->was_refused = why != NULL;
}

static void send_ad(struct master_ad *self, struct wire *wire)
{
    struct os_machine machine;
    struct ad *args = ad_create(), *ad = ad_create();
    ad_set_int(args, "Epoch", self->epoch);
    ad_set_int(args, "Sequence", ++self->sequence);
    ad_set_bool(args, "Full", true);
    daemon_ad_put(ad, self->env.os, "DaemonMaster", self->name,
                  loop_wall_of_s(self->env.loop, self->started_ms));
    ad_set_string(ad, "Machine", self->name); /* as its startd calls it */
    ad_set_int(ad, "MyCurrentTime", loop_wall_s(self->env.loop));
    ad_set_int(ad, "UpdateSequenceNumber", self->sequence);
    if (os_machine(self->env.os, &machine, NULL) == 0) {
        ad_set_string(ad, "Arch", machine.arch);
        ad_set_string(ad, "OpSys", machine.opsys);
        ad_set_int(ad, "DetectedCpus", machine.cpus);
        ad_set_int(ad, "DetectedMemory", machine.memory_mib);
        ad_set_string(ad, "BootId", machine.boot_id);
    }
    settings_put(ad, self->env.config);
    self->events->fill(self->arg, ad);
    const struct ad *ads[1] = {ad};
    const struct wire_body body = {.args = args, .ads = ads, .ad_count = 1};
    (void)wire_call(wire, VERB_UPDATE, &body, 0, ad_answered, self); /* else: the next time */
    ad_destroy(args);
    ad_destroy(ad);
}

static void uplink_up(void *arg, struct wire *wire)
{
    struct master_ad *self = arg;
    self->was_down = false;
    revocations_watch(self->wires, wire);
    if (self->stopping) {
        return;
    }
    send_ad(self, wire);
    loop_timer_set(self->timer, interval_ms(self));
}

static void uplink_down(void *arg, const char *why)
{
    struct master_ad *self = arg;
    if (!self->was_down) {
        log_info(self->env.log, "uplink.down", why);
    }
    self->was_down = true;
}

static void turn_on(struct master_ad *self, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *daemon = ad_string_or(args, "Daemon", "");
    struct vec names = {0};
    int rc = self->events->turn_on(self->arg, daemon[0] != '\0' ? daemon : NULL, &names);
    if (self->stopping) {
        wire_reply_error(request, -ESHUTDOWN, "%s: the master is stopping", self->name);
    } else if (rc != 0) {
        wire_reply_error(request, rc, "the master of %s does not run %s", self->name, daemon);
    } else {
        struct ad *reply = ad_create();
        const struct wire_body body = {.args = reply};
        log_info(self->env.log, "daemon.on", "starting daemons that stayed down",
                 LOG_TEXT("by", wire_request_peer(request)->identity),
                 LOG_INT("count", names.count));
        ad_set_strings(reply, "Daemons", (const char *const *)names.items, names.count);
        wire_reply_ok(request, &body);
        ad_destroy(reply);
    }
    vec_fini(&names, NULL);
}

/* Answers a request; the caller's rights are judged by the token that comes with it. */
static void on_request(void *arg, struct wire_request *request)
{
    struct master_ad *self = arg;
    switch (wire_request_verb(request)) {
    case VERB_CONFIG:
        settings_serve(&self->env, request);
        break;
    case VERB_DAEMON_ON:
        turn_on(self, request);
        break;
    case VERB_PING:
        wire_reply_ok(request, NULL);
        break;
    default:
        wire_reply_error(request, -ENOSYS, "a master does not support %s",
                         wire_verb_name(wire_request_verb(request)));
    }
}

/* Connects once there is a token.  After an error it is tried again at the next interval. */
static void dial_collector(struct master_ad *self)
{
    static const struct uplink_events EVENTS = {.up = uplink_up,
                                                .down = uplink_down,
                                                .request = on_request};
    struct os_stat token;
    char addresses[POOL_ADDRESS_MAX], name[sizeof(self->name) + 16];
    struct err err = {""};
    const char *path = config_path(self->env.config, "TOKEN_FILE");
    int rc = os_stat(self->env.os, path, &token);
    if (rc != 0) { /* it may still be asked for */
        rc = err_set(&err, rc,
                     "TOKEN_FILE: %s: %s; until it is there the pool hears nothing of "
                     "this master",
                     path, strerror(-rc));
    }
    rc = rc != 0 ? rc
                 : pool_collector_addresses(self->env.config, addresses, sizeof(addresses), &err);
    if (rc == 0 && self->wires == NULL) {
        rc = pool_context_create(&self->env, &self->wires, &err);
    }
    (void)snprintf(name, sizeof(name), "master/%s", self->name);
    const struct wire_dial how = {.address = addresses, .route = "collector", .name = name};
    if (rc == 0) {
        rc = uplink_create(self->wires, &how, &EVENTS, self, &self->uplink, &err);
    }
    if (rc != 0 && !self->was_down) {
        log_warn(self->env.log, "uplink.none", err.text);
        self->was_down = true;
    }
}

static void interval_over(void *arg)
{
    struct master_ad *self = arg;
    loop_timer_set(self->timer, interval_ms(self));
    if (self->uplink == NULL) {
        dial_collector(self);
    } else if (uplink_wire(self->uplink) != NULL) {
        send_ad(self, uplink_wire(self->uplink));
    }
}

static void set_name(struct master_ad *self)
{
    struct os_machine machine;
    const char *name = config_string(self->env.config, "MASTER_NAME");
    if (name == NULL || name[0] == '\0') {
        name = os_machine(self->env.os, &machine, NULL) == 0 ? machine.hostname : "master";
    }
    (void)snprintf(self->name, sizeof(self->name), "%s", name);
}

struct master_ad *master_ad_create(const struct daemon_env *env,
                                   const struct master_ad_events *events, void *arg)
{
    struct master_ad *self = mem_zalloc(sizeof(*self));
    self->env = *env;
    self->events = events;
    self->arg = arg;
    self->started_ms = (int64_t)loop_now_ms(env->loop);
    self->epoch = loop_wall_ms(env->loop);
    self->timer = loop_timer_create(env->loop, interval_over, self);
    set_name(self);
    loop_timer_set(self->timer, 0);
    return self;
}

void master_ad_destroy(struct master_ad *self)
{
    if (self == NULL) {
        return;
    }
    uplink_destroy(self->uplink);
    wire_context_destroy(self->wires);
    loop_timer_destroy(self->timer);
    mem_free(self);
}

void master_ad_reload(struct master_ad *self, const struct config *config)
{
    self->env.config = config;
    if (self->uplink != NULL) {
        pool_context_reload(self->wires, config, self->env.log);
        pool_uplink_reload(self->uplink, config, self->env.log);
    }
    loop_timer_set(self->timer, 0);
}

void master_ad_changed(struct master_ad *self)
{
    if (!self->stopping) {
        loop_timer_set(self->timer, GATHER_MS);
    }
}

static void taken_back(void *arg, struct wire_reply *reply)
{
    struct master_ad *self = arg;
    (void)reply; /* not taken back: it expires */
    self->gone(self->arg);
}

bool master_ad_stop(struct master_ad *self, void (*gone)(void *arg))
{
    struct wire *wire = self->uplink != NULL ? uplink_wire(self->uplink) : NULL;
    const char *const names[] = {self->name};
    self->stopping = true;
    loop_timer_stop(self->timer);
    self->gone = gone;
    if (wire == NULL) {
        return false;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Type", "DaemonMaster");
    ad_set_strings(args, "Names", names, 1);
    ad_set_int(args, "Epoch", self->epoch);
    ad_set_int(args, "Sequence", ++self->sequence);
    const struct wire_body body = {.args = args};
    int64_t call = wire_call(wire, VERB_INVALIDATE, &body, TAKE_BACK_MS, taken_back, self);
    ad_destroy(args);
    return call > 0;
}
