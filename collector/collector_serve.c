/* collector/collector_serve.c - see collector_serve.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_serve.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/server_role.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "collector/collector_ads.h"
#include "collector/collector_lease.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "wire/door.h"
#include "wire/pool.h"
#include "wire/settings.h"
#include "wire/watch.h"
#include "wire/wire.h"

/* ---- requests -------------------------------------------------------------------------------- */

static void answer_lease(struct session *session, struct wire_request *request)
{
    struct collector *collector = session->collector;
    const struct ad *args = wire_request_args(request);
    const struct lease_wish wish = {.role = ad_string_or(args, "Role", ""),
                                    .holder = ad_string_or(args, "Holder", ""),
                                    .identity = wire_request_peer(request)->identity,
                                    .duration_s = ad_int_or(args, "Duration", -1),
                                    .session = session->number};
    struct err err = {""};
    uint64_t now_ms = loop_now_ms(collector->env.loop);
    int code = collector_leases_take(collector->leases, &wish, now_ms, &err);
    struct lease_holder has = {wish.holder, wish.identity, wish.duration_s};
    struct ad *reply = ad_create();
    if (!code ||
        (code == -EBUSY && collector_leases_holder(collector->leases, wish.role, now_ms, &has))) {
        ad_set_string(reply, "Role", wish.role);
        ad_set_string(reply, "Holder", has.holder);
        ad_set_string(reply, "HolderIdentity", has.identity);
        ad_set_int(reply, "Remaining", has.remaining_s);
    }
    if (code) {
        wire_reply_refusal(request, reply, code, err.text);
    } else {
        struct wire_body body = {.args = reply};
        wire_reply_ok(request, &body);
    }
    ad_destroy(reply);
}

static void answer_ping(struct wire_request *request)
{
    size_t length;
    struct wire_body body = {.args = wire_request_args(request)};
    body.blob = wire_request_blob(request, &length);
    body.blob_length = length;
    wire_reply_ok(request, &body);
}

static void on_request(void *arg, struct wire_request *request)
{
    struct session *session = arg;
    struct collector *collector = session->collector;
    enum wire_verb verb = wire_request_verb(request);
    switch ((int)verb) {
    case VERB_UPDATE:
        collector_update(session, request);
        break;
    case VERB_MERGE:
        collector_merge(session, request);
        break;
    case VERB_INVALIDATE:
        collector_invalidate(session, request);
        break;
    case VERB_QUERY:
        collector_query(collector, request);
        break;
    case VERB_WATCH:
        watch_server_add(collector->watches, request);
        break;
    case VERB_RELAY:
        hub_relay(collector->hub, request);
        break;
    case VERB_LEASE:
        answer_lease(session, request);
        break;
    case VERB_REVOKE:
        collector_revoke(session, request);
        break;
    case VERB_POWER_LOCK:
        collector_power_lock(collector, request);
        break;
    case VERB_CONFIG:
        settings_serve(&collector->env, request);
        break;
    case VERB_PING:
        answer_ping(request);
        break;
    default:
        wire_reply_error(request, -ENOSYS, "a collector does not support %s", wire_verb_name(verb));
        break;
    }
}

/* ---- connections ----------------------------------------------------------------------------- */

static void session_destroy(struct session *session)
{
    *session->link = session->next;
    if (session->next) {
        session->next->link = session->link;
    }
    ad_given_destroy(session->address);
    mem_free(session->machine);
    mem_free(session);
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct session *session = arg;
    struct collector *collector = session->collector;
    log_debug(collector->env.log, "connection.closed", why,
              LOG_TEXT("peer", wire_peer(wire)->address), LOG_INT("status", status));
    hub_remove(collector->hub, wire);
    collector_leases_session_over(collector->leases, session->number);
    collector_session_lost(session);
    wire_close(wire);
    session_destroy(session);
}

static void on_ready(void *arg, struct wire *wire)
{
    struct session *session = arg;
    struct collector *collector = session->collector;
    const struct wire_peer *peer = wire_peer(wire);
    struct err err = {""};
    session->number = ++collector->last_session;
    collector->counts.connections++;
    if (hub_add(collector->hub, wire, &err) != 0) {
        log_warn(collector->env.log, "uplink.refused", err.text, LOG_TEXT("peer", peer->address),
                 LOG_TEXT("identity", peer->identity), LOG_TEXT("name", peer->name));
        wire_close(wire);
        session_destroy(session);
        return;
    }
    log_debug(collector->env.log, "connection.ready", "a peer has connected",
              LOG_TEXT("peer", peer->address), LOG_TEXT("identity", peer->identity),
              LOG_TEXT("name", peer->name));
}

static const struct wire_events EVENTS = {.ready = on_ready,
                                          .request = on_request,
                                          .closed = on_closed,
                                          .silent = collector_on_silent};

static void on_incoming(struct collector *collector, struct incoming *incoming,
                        const struct tls_identity *identity)
{
    if (strcmp(incoming_route(incoming), COLLECTOR_ROUTE) != 0) {
        incoming_refuse(incoming);
        return;
    }
    struct session *session = mem_zalloc(sizeof(*session));
    session->collector = collector;
    session->next = collector->sessions;
    session->link = &collector->sessions;
    if (session->next) {
        session->next->link = &session->next;
    }
    collector->sessions = session;
    const struct wire_accept how = {.identity = identity};
    struct err err = {""};
    if (wire_accept(collector->context, incoming, &how, &EVENTS, session, &session->wire, &err) !=
        0) {
        log_warn(collector->env.log, "connection.refused", err.text);
        session_destroy(session);
    }
}

static void on_tcp(void *arg, struct incoming *incoming)
{
    struct collector *collector = arg;
    on_incoming(collector, incoming, door_identity(collector->door));
}

static void on_local(void *arg, struct incoming *incoming)
{
    on_incoming(arg, incoming, NULL);
}

/* ---- listening ------------------------------------------------------------------------------- */

/* Finds where to listen (COLLECTOR_LISTEN, or the first entry of COLLECTOR_HOST) as a stream
 * address, and the certificate. */
static int place_of_door(const struct config *config, char *address, size_t size,
                         struct door_place *ret, struct err *err)
{
    const char *listen = config_string(config, "COLLECTOR_LISTEN");
    int code = listen && *listen
                   ? pool_address("COLLECTOR_LISTEN", listen, config_int(config, "COLLECTOR_PORT"),
                                  address, size, err)
                   : pool_collector_addresses(config, address, size, err);
    if (code) {
        return code;
    }
    address[strcspn(address, ",")] = '\0';
    *ret = (struct door_place){.address = address,
                               .cert = config_path(config, "COLLECTOR_CERT"),
                               .key = config_path(config, "COLLECTOR_KEY"),
                               .role = SERVER_ROLE_COLLECTOR};
    return 0;
}

static int listen_local(struct collector *collector, struct err *err)
{
    const char *run = config_path(collector->env.config, "RUN");
    int code = os_mkdirs(collector->env.os, run, 0755, err);
    if (code) {
        return code;
    }
    struct strbuf address;
    strbuf_init(&address, 0);
    strbuf_printf(&address, "unix:%s/collector.sock", run);
    code = listener_create(collector->env.loop, strbuf_text(&address), on_local, collector,
                           &collector->local, err);
    strbuf_fini(&address);
    return code;
}

int collector_listen(struct collector *collector, struct err *err)
{
    const struct daemon_env *env = &collector->env;
    char address[POOL_ADDRESS_MAX];
    struct door_place place;
    int code = place_of_door(env->config, address, sizeof(address), &place, err);
    if (!code) {
        code = door_open(env->loop, env->os, env->log, &place, on_tcp, collector, &collector->door,
                         err);
    }
    if (!code) {
        code = listen_local(collector, err);
    }
    if (!code) {
        log_info(collector->env.log, "listening", "the collector listens",
                 LOG_TEXT("address", door_address(collector->door)),
                 LOG_TEXT("local", listener_address(collector->local)));
    }
    return code;
}

void collector_listen_anew(struct collector *collector)
{
    char address[POOL_ADDRESS_MAX];
    struct door_place place;
    struct err err = {""};
    int code = place_of_door(collector->env.config, address, sizeof(address), &place, &err);
    if (!code) {
        code = door_change(collector->door, &place, NULL, &err);
    }
    if (code) {
        log_error(collector->env.log, "config.refused", err.text,
                  LOG_TEXT("kept", "the old address and certificate"));
    }
}

void collector_hang_up(struct collector *collector)
{
    door_close(collector->door);
    listener_destroy(collector->local);
    collector->door = NULL;
    collector->local = NULL;
    while (collector->sessions) {
        struct session *session = collector->sessions;
        wire_close(session->wire);
        session_destroy(session);
    }
}
