/* schedd/schedd.c - puts the parts of the schedd together: settings, store, listeners, and which
 * part answers on which route.
 *
 * Order of the start: durable state is loaded before anything listens, and the collector is dialled
 * last, so that whatever comes in finds the whole queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/schedd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon.h"
#include "base/daemon/daemon_checking.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/server_role.h"
#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "base/slices.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/claim/claim_peer.h"
#include "schedd/job_access.h"
#include "schedd/job_act.h"
#include "schedd/job_checkpoints.h"
#include "schedd/queue/event_rows.h"
#include "schedd/policy/job_charge.h"
#include "schedd/claim/claims_load.h"
#include "schedd/claim/job_claims.h"
#include "schedd/job_edit.h"
#include "schedd/claim/job_match.h"
#include "schedd/job_owner.h"
#include "schedd/policy/job_policy.h"
#include "schedd/questions/job_query.h"
#include "schedd/shadows/job_results.h"
#include "schedd/questions/job_select.h"
#include "schedd/submission/job_spool.h"
#include "schedd/submission/job_submit.h"
#include "schedd/questions/job_watch.h"
#include "schedd/knobs.h"
#include "schedd/claim/machine_trouble.h"
#include "schedd/queue/old_rows.h"
#include "schedd/queue/queue_load.h"
#include "schedd/queue/queue_table.h"
#include "schedd/requests/request_ads.h"
#include "schedd/requests/request_news.h"
#include "schedd/revoked.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadow_hello.h"
#include "schedd/shadows/shadow_runs.h"
#include "schedd/requests/significant.h"
#include "schedd/shadows/shadows.h"
#include "schedd/shadows/transfer_turns.h"
#include "schedd/submission/factory_kick.h"
#include "schedd/spool_room.h"
#include "store/store.h"
#include "wire/door.h"
#include "wire/pool.h"
#include "wire/revocations.h"
#include "wire/settings.h"
#include "wire/watch.h"
#include "wire/remote_attrs.h"
#include "wire/wire.h"

#define PEERS_MAX         20000
#define STOP_POLL_MS      20
#define SAY_AGAIN_MS      500
#define ADDRESS_BYTES_MAX 1024
#define STOP_MAX_MS       5000
#define DEFAULT_PRIO      "(UserPrio * 10) + Expanded - (QDate / 1000000000.0)"
#define SHADOW_PREFIX     REMOTE_SHADOW_PREFIX
#define DEFAULT_DOMAIN    "localhost"

/* ---- settings -------------------------------------------------------------------------------- */

/* Sets the settings that point into the configuration. */
static void borrow_settings(struct schedd_settings *settings, const struct config *config)
{
    site_log_settings_borrow(config, &settings->site_log);
    settings->machine_attrs = config_list(config, "SYSTEM_JOB_MACHINE_ATTRS", NULL);
    settings->significant = config_list(config, "SIGNIFICANT_ATTRIBUTES", NULL);
    settings->shadow_path = config_path(config, "SHADOW");
    settings->submit_root_as = config_string(config, "SUBMIT_ROOT_AS");
    settings->super_users = config_list(config, "QUEUE_SUPER_USERS", NULL);
    settings->immutable = config_list(config, "IMMUTABLE_JOB_ATTRS", NULL);
    settings->system_immutable = config_list(config, "SYSTEM_IMMUTABLE_JOB_ATTRS", NULL);
    settings->protected = config_list(config, "PROTECTED_JOB_ATTRS", NULL);
    settings->system_protected = config_list(config, "SYSTEM_PROTECTED_JOB_ATTRS", NULL);
}

static int read_settings(struct schedd_settings *settings, const struct config *config,
                         struct err *err)
{
    struct schedd_settings new = {
        .jobs_max = config_int(config, "MAX_JOBS_SUBMITTED"),
        .constraint_steps_max = (uint64_t)config_int(config, "MAX_CONSTRAINT_STEPS"),
        .policy_steps_max = (uint64_t)config_int(config, "MAX_PERIODIC_EXPR_STEPS"),
        .jobs_owner_max = config_int(config, "MAX_JOBS_PER_OWNER"),
        .jobs_submit_max = config_int(config, "MAX_JOBS_PER_SUBMISSION"),
        .running_max = config_int(config, "MAX_JOBS_RUNNING"),
        .history_max = config_int(config, "MAX_HISTORY_JOBS"),
        .spool_reserve = config_bytes(config, "SPOOL_RESERVE"),
        .spool_timeout_s = config_duration_s(config, "SPOOL_TIMEOUT"),
        .checkpoint_patience_s = config_duration_s(config, "CHECKPOINT_PATIENCE"),
        .job_lease_s = config_duration_s(config, "JOB_DEFAULT_LEASE_DURATION"),
        .claim_lease_ms = (uint64_t)config_duration_ms(config, "CLAIM_LEASE_DURATION"),
        .lease_margin_ms = (uint64_t)config_duration_ms(config, "LEASE_MARGIN"),
        .match_timeout_ms = (uint64_t)config_duration_ms(config, "SCHEDD_MATCH_TIMEOUT"),
        .starter_failures_max = config_int(config, "MAX_STARTER_FAILURES"),
        .starter_backoff_ms = (uint64_t)config_duration_ms(config, "STARTER_FAILURE_BACKOFF"),
        .start_delay_max_s = config_duration_s(config, "MAX_NEXT_JOB_START_DELAY"),
        .claim_worklife_ms = (uint64_t)config_duration_ms(config, "CLAIM_WORKLIFE"),
        .claim_idle_ms = (uint64_t)config_duration_ms(config, "CLAIM_WORKLIFE_IDLE"),
        .shadow_linger_ms = (uint64_t)config_duration_ms(config, "SHADOW_LINGER"),
        .publish_gather_ms = (uint64_t)config_duration_ms(config, "REQUEST_AD_GATHER"),
        .publish_full_ms = (uint64_t)config_duration_ms(config, "SCHEDD_INTERVAL"),
        .policy_interval_ms = (uint64_t)config_duration_ms(config, "PERIODIC_EXPR_INTERVAL"),
        .policy_interval_max_ms =
            (uint64_t)config_duration_ms(config, "MAX_PERIODIC_EXPR_INTERVAL"),
        .policy_timeslice = config_real(config, "PERIODIC_EXPR_TIMESLICE"),
    };
    borrow_settings(&new, config);
    const char *domain = config_string(config, "UID_DOMAIN");
    int result =
        caller_check_super_users(new.super_users, domain != NULL ? domain : DEFAULT_DOMAIN, err);
    if (result == 0) {
        result = owner_check_root_as(new.submit_root_as, err);
    }
    if (result == 0) {
        result = charge_check_settings(config, err);
    }
    if (result != 0) {
        return result;
    }
    const char *words = config_string(config, "DEFAULT_USERLOG_FORMAT_OPTIONS");
    result = event_format_parse(words, &new.event_format, err);
    if (result != 0) {
        return err_prefix(err, result, "DEFAULT_USERLOG_FORMAT_OPTIONS");
    }
    result = site_log_settings_read(config, &new.site_log, err);
    if (result != 0) {
        return result;
    }
    const char *prio = config_expr(config, "PRIO");
    /* The default needs no evaluation. */
    if (prio != NULL && strcmp(prio, DEFAULT_PRIO) != 0) {
        result = ad_expr_parse(prio, strlen(prio), AD_OLD, &new.prio, err);
        if (result != 0) {
            return err_prefix(err, result, "PRIO");
        }
    }
    ad_expr_destroy(settings->prio);
    *settings = new;
    return 0;
}

/* ---- connections of clients and shadows ------------------------------------------------------ */

struct peer {
    struct schedd *schedd;
    struct wire *wire;
    bool is_shadow; /* it came on the route of shadows */
};

static void peer_destroy(struct peer *peer)
{
    struct vec *peers = &peer->schedd->peers;
    for (size_t i = 0; i < peers->count; i++) {
        if (peers->items[i] == peer) {
            vec_remove_at(peers, i);
            break;
        }
    }
    struct wire *wire = peer->wire;
    mem_free(peer);
    wire_close(wire);
}

static void handle_client(struct schedd *schedd, struct wire_request *request)
{
    switch (wire_request_verb(request)) {
    case VERB_SUBMIT:
        submit_handle(schedd, request);
        break;
    case VERB_ACT:
        act_handle(schedd, request);
        break;
    case VERB_JOB_CHECKPOINT:
        checkpoints_now(schedd, request);
        break;
    case VERB_EDIT:
        edit_handle(schedd, request);
        break;
    case VERB_JOB_ACCESS:
        access_handle(schedd, request);
        break;
    case VERB_QUERY:
        query_handle(schedd, request);
        break;
    case VERB_WATCH:
        watch_handle(schedd, request);
        break;
    case VERB_CONFIG:
        settings_serve(&schedd->env, request);
        break;
    case VERB_PING:
        wire_reply_ok(request, NULL);
        break;
    default:
        wire_reply_error(request, -ENOSYS, "a schedd does not support %s here",
                         wire_verb_name(wire_request_verb(request)));
        break;
    }
}

static void handle_shadow(struct schedd *schedd, struct wire_request *request)
{
    if (wire_request_verb(request) == VERB_SHADOW_HELLO) {
        shadow_hello_handle(schedd, request);
        return;
    }
    struct wire *wire = wire_request_wire(request);
    struct owner *owner = wire != NULL ? shadows_owner(schedd, wire) : NULL;
    if (owner == NULL) {
        wire_reply_error(request, -EACCES, "only a shadow that has sent SHADOW_HELLO may send %s",
                         wire_verb_name(wire_request_verb(request)));
        return;
    }
    if (wire_request_verb(request) == VERB_TRANSFER_TURN) {
        turns_handle(schedd, owner, request);
        return;
    }
    results_handle(schedd, owner, request);
}

static void on_request(void *arg, struct wire_request *request)
{
    struct peer *peer = arg;
    if (peer->is_shadow) {
        handle_shadow(peer->schedd, request);
    } else {
        handle_client(peer->schedd, request);
    }
}

static void on_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct peer *peer = arg;
    if (status != 0) {
        log_debug(peer->schedd->log, "peer.closed", why);
    }
    if (peer->is_shadow) {
        shadows_gone(peer->schedd, wire);
    }
    peer_destroy(peer);
}

static void accept_peer(struct schedd *schedd, struct incoming *incoming, bool local,
                        bool is_shadow)
{
    static const struct wire_events EVENTS = {.request = on_request, .closed = on_closed};
    if (schedd->peers.count >= PEERS_MAX) {
        log_error(schedd->log, "peer.too_many", "too many connections");
        incoming_refuse(incoming);
        return;
    }
    const struct wire_accept how = {.identity = local ? NULL : door_identity(schedd->door)};
    struct peer *peer = mem_zalloc(sizeof(*peer));
    peer->schedd = schedd;
    peer->is_shadow = is_shadow;
    struct err err;
    if (wire_accept(schedd->context, incoming, &how, &EVENTS, peer, &peer->wire, &err) != 0) {
        log_warn(schedd->log, "peer.not_accepted", err.text);
        mem_free(peer);
        return;
    }
    vec_push(&schedd->peers, peer);
}

static void incoming_tcp(void *arg, struct incoming *incoming)
{
    struct schedd *schedd = arg;
    const char *route = incoming_route(incoming);
    if (strcmp(route, "claim") == 0) {
        claim_peers_accept(schedd, incoming);
    } else if (strcmp(route, "schedd") == 0) {
        accept_peer(schedd, incoming, false, false);
    } else if (strncmp(route, SHADOW_PREFIX, strlen(SHADOW_PREFIX)) == 0) {
        shadows_incoming(schedd, incoming, route + strlen(SHADOW_PREFIX));
    } else if (strncmp(route, REMOTE_ROUTE_PREFIX, strlen(REMOTE_ROUTE_PREFIX)) == 0) {
        shadows_incoming(schedd, incoming, route + strlen(REMOTE_ROUTE_PREFIX));
    } else {
        incoming_refuse(incoming);
    }
}

static void incoming_local(void *arg, struct incoming *incoming)
{
    struct schedd *schedd = arg;
    const char *route = incoming_route(incoming);
    if (strcmp(route, "schedd") == 0) {
        accept_peer(schedd, incoming, true, false);
    } else if (strcmp(route, "shadow") == 0) {
        accept_peer(schedd, incoming, true, true);
    } else {
        incoming_refuse(incoming);
    }
}

/* ---- uplink ---------------------------------------------------------------------------------- */

static void uplink_up(void *arg, struct wire *wire)
{
    struct schedd *schedd = arg;
    log_info(schedd->log, "uplink.up", "connected to the collector");
    revocations_watch(schedd->context, wire);
    request_ads_up(schedd, wire);
    significant_up(schedd, wire);
}

static void uplink_down(void *arg, const char *why)
{
    struct schedd *schedd = arg;
    log_warn(schedd->log, "uplink.down", why);
}

static void uplink_request(void *arg, struct wire_request *request)
{
    struct schedd *schedd = arg;
    if (wire_request_verb(request) == VERB_MATCH) {
        claims_match(schedd, request);
    } else if (wire_request_verb(request) == VERB_NO_MATCH) {
        claims_no_match(schedd, request);
    } else {
        handle_client(schedd, request);
    }
}

static int dial_collector(struct schedd *schedd, struct err *err)
{
    static const struct uplink_events EVENTS = {
        .up = uplink_up,
        .down = uplink_down,
        .request = uplink_request,
    };
    char addresses[POOL_ADDRESS_MAX];
    int result = pool_collector_addresses(schedd->config, addresses, sizeof(addresses), err);
    if (result != 0) {
        return result;
    }
    const struct wire_dial dial = {
        .address = addresses,
        .route = "collector",
        .name = schedd->self.uplink_name,
    };
    return uplink_create(schedd->context, &dial, &EVENTS, schedd, &schedd->uplink, err);
}

/* ---- start ----------------------------------------------------------------------------------- */

static char *join_texts(const char *a, const char *b)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "%s%s", a, b);
    return strbuf_take(&text);
}

static int name_ourselves(struct schedd *schedd, struct err *err)
{
    const char *name = config_string(schedd->config, "SCHEDD_NAME");
    const char *domain = config_string(schedd->config, "UID_DOMAIN");
    char account[OWNER_NAME_MAX + 1];
    if (name == NULL || name[0] == '\0' || strpbrk(name, "#/ \t") != NULL) {
        return err_set(err, -EINVAL, "SCHEDD_NAME '%s' is empty or has '#', '/' or blanks in it",
                       name != NULL ? name : "");
    }
    int result = os_user_name(schedd->os, os_uid(schedd->os), account, sizeof(account), err);
    if (result != 0) {
        return err_prefix(err, result, "cannot find the account that the schedd runs as");
    }
    struct os_machine machine = {0};
    schedd->self.name = mem_strdup(name);
    schedd->self.machine =
        mem_strdup(os_machine(schedd->os, &machine, NULL) == 0 ? machine.hostname : name);
    (void)snprintf(schedd->self.boot_id, sizeof(schedd->self.boot_id), "%s",
                   machine.boot_id); /* fits */
    schedd->self.uplink_name = join_texts("schedd/", name);
    schedd->self.uid_domain = mem_strdup(domain != NULL ? domain : DEFAULT_DOMAIN);
    schedd->self.account = mem_strdup(account);
    schedd->self.is_root = os_uid(schedd->os) == 0;
    schedd->self.spool = mem_strdup(config_path(schedd->config, "SPOOL"));
    return 0;
}

/* The store's problem is in the schedd's ad, and full disks stop factories. */
static void store_changed(void *arg)
{
    struct schedd *schedd = arg;
    if (schedd->request_ads != NULL) {
        request_news_changed(schedd);
        factory_kick_waiting(schedd);
    }
}

static int open_store(struct schedd *schedd, struct err *err)
{
    static const char *const TABLES[] = {"counters", "clusters", "jobs",      "nonces", "claims",
                                         "history",  "finished", "factories", "events", NULL};
    static const struct store_schema SCHEMA = {
        .daemon = "schedd",
        .tables = TABLES,
        .migrations = OLD_ROWS,
        .version = SCHEDD_STORE_VERSION,
        .remains = "owner",
    };
    int result = os_mkdirs(schedd->os, schedd->self.spool, 0755, err);
    if (result != 0) {
        return result;
    }
    result = store_open(schedd->loop, schedd->os, config_path(schedd->config, "SCHEDD_STORE"),
                        &SCHEMA, schedd->log, &schedd->store, err);
    if (result == 0) {
        spool_room_init(schedd);
        store_on_problem(schedd->store, store_changed, schedd);
    }
    return result;
}

static bool is_loopback(const char *host)
{
    return strncmp(host, "127.", 4) == 0 || strcmp(host, "localhost") == 0 ||
           strcmp(host, "[::1]") == 0;
}

/* Finds the address where SCHEDD_HOST, SCHEDD_LISTEN and SCHEDD_PORT make us listen, and the
 * certificate. */
static int place_of_door(const struct schedd *schedd, struct strbuf *address,
                         struct door_place *ret, struct err *err)
{
    const struct config *config = schedd->config;
    const char *host = config_string(config, "SCHEDD_HOST");
    const char *on = config_string(config, "SCHEDD_LISTEN");
    if (host == NULL || host[0] == '\0') {
        return err_set(err, -EINVAL,
                       "SCHEDD_HOST is empty; name the host at which others reach this schedd");
    }
    if (on == NULL || on[0] == '\0') {
        on = is_loopback(host) ? host : "0.0.0.0";
    }
    strbuf_printf(address, "tcp:%s:%lld", on, (long long)config_int(config, "SCHEDD_PORT"));
    *ret = (struct door_place){.address = strbuf_text(address),
                               .cert = config_path(config, "SCHEDD_CERT"),
                               .key = config_path(config, "SCHEDD_KEY"),
                               .role = SERVER_ROLE_SCHEDD,
                               .name = schedd->self.name};
    return 0;
}

/* Writes our address to a file for tools on this host.  A disk that is full or takes no writes does
 * not end the schedd: the file is overwritten in place, or written as soon as there is room. */
static int write_address(struct schedd *schedd, struct err *err)
{
    char *path = join_texts(schedd->self.spool, "/schedd.address");
    char *line = join_texts(schedd->self.address, "\n"), *old = NULL;
    size_t length = 0;
    const bool is_said =
        os_read_file(schedd->os, path, ADDRESS_BYTES_MAX, &old, &length, NULL) == 0 &&
        strcmp(old, line) == 0;
    int result =
        is_said ? 0 : os_write_file(schedd->os, path, line, strlen(line), 0644, false, err);
    if (result == -ENOSPC || result == -EDQUOT) {
        result = os_rewrite_file(schedd->os, path, line, strlen(line), 0644, err);
    }
    mem_free(old);
    mem_free(line);
    mem_free(path);
    return result;
}

static bool is_of_disk(int result)
{
    return result == -ENOSPC || result == -EDQUOT || result == -EROFS;
}

static void say_again(void *arg)
{
    struct schedd *schedd = arg;
    if (write_address(schedd, NULL) != 0) {
        loop_timer_set(schedd->self.say_timer, SAY_AGAIN_MS);
    }
}

/* Notes our address as others reach us, for our ads and for tools on this host. */
static int say_address(struct schedd *schedd, struct err *err)
{
    struct err own = {""};
    struct strbuf text;
    const char *port = strrchr(door_address(schedd->door), ':');
    strbuf_init(&text, 0);
    strbuf_printf(&text, "tcp:%s%s", config_string(schedd->config, "SCHEDD_HOST"),
                  port != NULL ? port : "");
    mem_free(schedd->self.address);
    schedd->self.address = mem_strdup(strbuf_text(&text));
    strbuf_fini(&text);
    int result = write_address(schedd, &own);
    if (is_of_disk(result)) {
        log_warn(schedd->log, "address.unsaid", own.text,
                 LOG_TEXT("address", schedd->self.address));
        loop_timer_set(schedd->self.say_timer, SAY_AGAIN_MS);
        return 0;
    }
    return result == 0 ? 0 : err_set(err, result, "%s", own.text);
}

static int listen_tcp(struct schedd *schedd, struct err *err)
{
    struct door_place place;
    struct strbuf address;
    strbuf_init(&address, 0);
    int result = place_of_door(schedd, &address, &place, err);
    if (result == 0) {
        result = door_open(schedd->loop, schedd->os, schedd->log, &place, incoming_tcp, schedd,
                           &schedd->door, err);
    }
    strbuf_fini(&address);
    return result == 0 ? say_address(schedd, err) : result;
}

/* Listens where the present configuration says.  An error is logged, and the old place stays. */
static void listen_anew(struct schedd *schedd)
{
    struct door_place place;
    struct strbuf address;
    struct err err = {""};
    strbuf_init(&address, 0);
    int result = place_of_door(schedd, &address, &place, &err);
    if (result == 0) {
        result = door_change(schedd->door, &place, NULL, &err);
    }
    if (result == 0) {
        result = say_address(schedd, &err);
    }
    if (result != 0) {
        log_error(schedd->log, "config.refused", err.text,
                  LOG_TEXT("kept", "the old address and certificate"));
    }
    strbuf_fini(&address);
}

static int listen_local(struct schedd *schedd, struct err *err)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "unix:%s/schedd.sock", schedd->self.spool);
    int result = listener_create(schedd->loop, strbuf_text(&text), incoming_local, schedd,
                                 &schedd->local, err);
    strbuf_fini(&text);
    return result;
}

static int bring_up(struct schedd *schedd, const struct daemon_env *env, struct err *err)
{
    int result = read_settings(&schedd->settings, schedd->config, err);
    if (result == 0) {
        result = name_ourselves(schedd, err);
    }
    if (result == 0) {
        result = pool_context_create(env, &schedd->context, err);
    }
    if (result == 0) {
        result = open_store(schedd, err);
    }
    if (result == 0) {
        schedd->watchers = watchers_create(schedd);
        schedd->slices = slices_create(schedd->loop);
        charge_init(schedd);
        policies_init(schedd);
        checkpoints_init(schedd);
        result = policies_reload(schedd, err);
    }
    if (result == 0) {
        result = queue_init(schedd, err);
    }
    if (result == 0) {
        result = event_rows_init(schedd, err);
    }
    if (result == 0) {
        troubles_init(schedd);
        request_ads_init(schedd);
    }
    if (result == 0) {
        schedd->self.say_timer = loop_timer_create(schedd->loop, say_again, schedd);
        result = listen_tcp(schedd, err);
    }
    if (result == 0) {
        result = listen_local(schedd, err);
    }
    if (result == 0) {
        event_rows_start(schedd);
        claims_init(schedd);
        result = claims_load(schedd, err);
    }
    if (result == 0) {
        revoked_start(schedd);
        submit_take_back(schedd);
        owner_hold_jobs_of_root(schedd);
        policies_start(schedd);
        spool_start(schedd);
        spool_room_start(schedd);
        result = dial_collector(schedd, err);
    }
    return result;
}

static void destroy_schedd(void *state)
{
    struct schedd *schedd = state;
    schedd->stopping = true;
    if (schedd->door != NULL) {
        door_shut(schedd->door);
    }
    listener_destroy(schedd->local);
    loop_timer_destroy(schedd->stop_timer);
    loop_timer_destroy(schedd->self.say_timer);
    spool_room_stop(schedd);
    turns_end(schedd);
    spool_stop(schedd);
    if (schedd->queue.owners != NULL) {
        shadows_fini(schedd);
        shadow_runs_fini(schedd);
    }
    while (schedd->peers.count > 0) {
        peer_destroy(schedd->peers.items[schedd->peers.count - 1]);
    }
    vec_fini(&schedd->peers, NULL);
    claim_peers_fini(schedd);
    uplink_destroy(schedd->uplink);
    store_close(schedd->store);
    queries_fini(schedd);
    selections_fini(schedd);
    submissions_fini(schedd);
    acts_fini(schedd);
    edits_fini(schedd);
    if (schedd->claimed.by_id != NULL) {
        claims_fini(schedd);
    }
    event_rows_fini(schedd);
    if (schedd->queue.clusters != NULL) {
        queue_fini(schedd);
    }
    request_ads_fini(schedd);
    troubles_fini(schedd);
    policies_fini(schedd);
    charge_fini(schedd);
    checkpoints_fini(schedd);
    watch_server_destroy(schedd->watchers);
    wire_context_destroy(schedd->context);
    door_close(schedd->door);
    slices_destroy(schedd->slices);
    ad_expr_destroy(schedd->settings.prio);
    mem_free(schedd->self.name);
    mem_free(schedd->self.machine);
    mem_free(schedd->self.uplink_name);
    mem_free(schedd->self.account);
    mem_free(schedd->self.uid_domain);
    mem_free(schedd->self.spool);
    mem_free(schedd->self.address);
    mem_free(schedd);
}

static int start_schedd(const struct daemon_env *env, void **state, struct err *err)
{
    struct schedd *schedd = mem_zalloc(sizeof(*schedd));
    schedd->loop = env->loop;
    schedd->os = env->os;
    schedd->log = env->log;
    schedd->config = env->config;
    schedd->env = *env;
    schedd->started_ms = (int64_t)loop_now_ms(env->loop);
    TAILQ_INIT(&schedd->under_way.turns);
    int result = bring_up(schedd, env, err);
    if (result != 0) {
        destroy_schedd(schedd);
        return result;
    }
    log_info(schedd->log, "schedd.started", "schedd is up", LOG_TEXT("name", schedd->self.name),
             LOG_TEXT("address", schedd->self.address));
    *state = schedd;
    return 0;
}

static void reload_schedd(void *state, const struct config *config)
{
    struct schedd *schedd = state;
    struct err err;
    schedd->config = config;
    schedd->env.config = config;
    if (read_settings(&schedd->settings, config, &err) != 0) {
        log_error(schedd->log, "config.refused", err.text); /* the old ones stay */
        borrow_settings(&schedd->settings, config);
    }
    charge_init(schedd);
    if (policies_reload(schedd, &err) != 0) {
        log_error(schedd->log, "config.refused", err.text, LOG_TEXT("kept", "the old policies"));
    }
    policies_start(schedd);
    turns_look(schedd);
    pool_context_reload(schedd->context, config, schedd->log);
    pool_uplink_reload(schedd->uplink, config, schedd->log);
    listen_anew(schedd);
    request_news_moved(schedd); /* they say where we are */
}

/* ---- stop: shadows first; claims and jobs stay, for the next start -----------------------------
 */

static void stop_poll(void *arg)
{
    struct schedd *schedd = arg;
    if ((shadows_are_gone(schedd) && store_is_idle(schedd->store)) ||
        loop_now_ms(schedd->loop) >= schedd->stop_by_ms) {
        loop_stop(schedd->loop, 0);
        return;
    }
    loop_timer_set(schedd->stop_timer, STOP_POLL_MS);
}

static void stop_schedd(void *state)
{
    struct schedd *schedd = state;
    schedd->stopping = true;
    schedd->stop_by_ms = loop_now_ms(schedd->loop) + STOP_MAX_MS;
    schedd->stop_timer = loop_timer_create(schedd->loop, stop_poll, schedd);
    shadows_stop(schedd);
    loop_timer_set(schedd->stop_timer, 0);
}

static int check_schedd(const struct daemon_checking *checking, struct err *err)
{
    struct schedd_settings settings = {0};
    int result = read_settings(&settings, checking->config, err);
    result = result != 0 ? result : policies_check(checking->config, err);
    ad_expr_destroy(settings.prio);
    return result;
}

static const struct knob_table *const TABLES[] = {&schedd_knobs, &knobs_common};

const struct daemon schedd_daemon = {
    .name = "schedd",
    .check_expr = ad_expr_check,
    .check = check_schedd,
    .tables = TABLES,
    .table_count = ARRAY_COUNT(TABLES),
    .start = start_schedd,
    .reload = reload_schedd,
    .stop = stop_schedd,
    .destroy = destroy_schedd,
};
