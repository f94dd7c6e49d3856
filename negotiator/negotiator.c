/* negotiator/negotiator.c - the matchmaker: wiring.
 *
 * It keeps live copies of the collector's machine and request ads, and acts on changes (cycle.c,
 * act.c; decisions in negotiator_plan.c).  One negotiator leads at a time, by a lease in the
 * collector.  Durable here is only what users have used; who waits for which sleeping machine is in
 * the offline ads, so a negotiator that is killed forgets nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/negotiator.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "negotiator/groups.h"
#include "offline_ads/offline_ads.h"
#include "offline_ads/offline_holds.h"
#include "store/store.h"
#include "wire/pool.h"
#include "wire/watch.h"
#include "wire/wire.h"

#define LEASE_S   20
#define PUBLISH_S 60 /* Accounting ads; what is changed is published at once */

/* ---- the copies */

static void slot_destroy(void *value)
{
    struct pool_slot *slot = value;
    offline_holds_destroy(slot->holds);
    offline_holds_destroy(slot->pending);
    mem_free(slot->use.submitter);
    mem_free(slot->name);
    mem_free(slot);
}

static void request_destroy(void *value)
{
    struct pool_request *request = value;
    mem_free(request->facts.judged);
    mem_free(request->kind);
    mem_free(request->name);
    mem_free(request);
}

static bool is_text(const struct ad *ad, const char *name, const char *value)
{
    return strcmp(ad_string_or(ad, name, ""), value) == 0;
}

/* A cycle looks at all slots, an ad changes now and then: so it is read here. */
static void read_slot(struct negotiator *negotiator, struct pool_slot *slot, const struct ad *ad)
{
    bool offline = offline_ads_is(ad);
    slot->claim_id = ad_string_or(ad, "ClaimId", "");
    offline_holds_destroy(slot->holds);
    slot->holds = offline && ad_has(ad, "OfflineMatches") ? offline_holds_read(ad) : NULL;
    slot->facts =
        (struct plan_slot){.name = slot->name,
                           .machine = ad_string_or(ad, "Machine", ""),
                           .ad = ad,
                           .serial = ++negotiator->next_serial,
                           .number = slot->facts.number,
                           .offline = offline,
                           .free = offline ||
                                   (is_text(ad, "State", "Unclaimed") && slot->claim_id[0] != '\0'),
                           .waking = offline && is_text(ad, "PowerState", "Waking"),
                           .barred = offline && (is_text(ad, "PowerState", "WakeFailed") ||
                                                 is_text(ad, "PowerState", "Unknown"))};
}

static uint32_t take_number(struct negotiator *negotiator)
{
    if (negotiator->free_numbers.count == 0) {
        return negotiator->number_count++;
    }
    struct vec *free_numbers = &negotiator->free_numbers;
    return (uint32_t)(uintptr_t)free_numbers->items[--free_numbers->count];
}

static void slot_changed(void *arg, const char *key, const struct ad *ad)
{
    struct negotiator *negotiator = arg;
    struct pool_slot *slot = strmap_get(negotiator->slots, key);
    bool is_new = slot == NULL;
    if (is_new) {
        slot = mem_zalloc(sizeof *slot);
        slot->negotiator = negotiator;
        slot->name = mem_strdup(key);
        slot->facts.number = take_number(negotiator);
        (void)strmap_set(negotiator->slots, key, slot); /* was absent */
    }
    read_slot(negotiator, slot, ad);
    usage_slot(negotiator, slot, ad, is_new);
    cycle_soon(negotiator);
}

static void slot_gone(void *arg, const char *key)
{
    struct negotiator *negotiator = arg;
    struct pool_slot *slot = strmap_remove(negotiator->slots, key);
    if (slot != NULL) {
        usage_slot_gone(negotiator, slot);
        vec_push(&negotiator->free_numbers, (void *)(uintptr_t)slot->facts.number);
        slot_destroy(slot);
    }
    cycle_soon(negotiator);
}

static void forget_judgements(struct pool_request *request)
{
    mem_free(request->facts.judged);
    request->facts.judged = NULL;
    request->facts.judged_count = 0;
    request->facts.barren = 0;
}

/* What was judged holds as long as the ad says the same, but for how many there are: a schedd that
 * lost its numbers gives the name of one autocluster to another. */
static void read_request(struct pool_request *request, const struct ad *ad)
{
    struct ad *kind = ad_copy(ad);
    struct strbuf bytes;
    ad_remove(kind, "JobCount");
    ad_remove(kind, "LastHeardFrom");
    strbuf_init(&bytes, 0);
    ad_encode(kind, false, &bytes);
    if (bytes.failed || bytes.length != request->kind_length ||
        memcmp(bytes.data, request->kind, bytes.length) != 0) {
        forget_judgements(request);
        mem_free(request->kind);
        request->kind = mem_dup(bytes.data, bytes.length);
        request->kind_length = bytes.length;
    }
    strbuf_fini(&bytes);
    ad_destroy(kind);
    struct plan_request *facts = &request->facts;
    facts->name = request->name;
    facts->schedd = ad_string_or(ad, "ScheddName", "");
    facts->user = ad_string_or(ad, "SubmitterName", ad_string_or(ad, "User", ""));
    facts->auto_cluster = ad_int_or(ad, "AutoClusterId", 0);
    facts->ad = ad;
    facts->count = ad_int_or(ad, "JobCount", 0);
    facts->prio = ad_int_or(ad, "JobPrio", 0);
    facts->qdate_s = ad_int_or(ad, "QDate", 0);
}

static void request_changed(void *arg, const char *key, const struct ad *ad)
{
    struct negotiator *negotiator = arg;
    struct pool_request *request = strmap_get(negotiator->requests, key);
    if (request == NULL) {
        request = mem_zalloc(sizeof *request);
        request->negotiator = negotiator;
        request->name = mem_strdup(key);
        (void)strmap_set(negotiator->requests, key, request); /* was absent */
    }
    read_request(request, ad);
    accountant_know(negotiator->accountant, request->facts.user);
    update_prio_know(negotiator, request->facts.schedd);
    request->rest_until_ms = 0; /* news from its schedd */
    cycle_soon(negotiator);
}

static void request_gone(void *arg, const char *key)
{
    struct negotiator *negotiator = arg;
    void *request = strmap_remove(negotiator->requests, key);
    if (request != NULL) {
        request_destroy(request);
    }
    cycle_soon(negotiator);
}

static void submitter_changed(void *arg, const char *key, const struct ad *ad)
{
    update_prio_submitter(arg, key, ad);
}

static void submitter_gone(void *arg, const char *key)
{
    update_prio_submitter_gone(arg, key);
}

static void nothing(void *arg)
{
    (void)arg;
}

static void synced(void *arg)
{
    cycle_soon(arg);
}

static void refused(void *arg, int status, const char *why)
{
    struct negotiator *negotiator = arg;
    log_error(negotiator->env.log, "watch.refused", why, LOG_INT("status", status));
}

/* ---- the lease */

static void leased(void *arg, struct wire_reply *reply)
{
    struct negotiator *negotiator = arg;
    bool led = negotiator->leads;
    negotiator->leasing = false;
    negotiator->leads = reply->status == 0;
    if (negotiator->leads != led) {
        log_info(negotiator->env.log, "lease",
                 negotiator->leads ? "this negotiator leads" : "another leads",
                 LOG_TEXT("holder",
                          reply->args != NULL ? ad_string_or(reply->args, "Holder", "") : ""));
    }
    if (negotiator->leads && !led) {
        cycle_soon(negotiator);
    }
}

static void lease(void *arg)
{
    struct negotiator *negotiator = arg;
    struct wire *wire = uplink_wire(negotiator->uplink);
    loop_timer_set(negotiator->lease_timer,
                   (uint64_t)LEASE_S * 1000 / (negotiator->leads ? 3U : 10U));
    if (wire == NULL || negotiator->leasing) {
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Role", "negotiator");
    ad_set_string(args, "Holder", negotiator->holder);
    ad_set_int(args, "Duration", LEASE_S);
    const struct wire_body body = {.args = args};
    negotiator->leasing = wire_call(wire, VERB_LEASE, &body, 0, leased, negotiator) > 0;
    ad_destroy(args);
}

/* ---- the uplink */

static void uplink_up(void *arg, struct wire *wire)
{
    struct negotiator *negotiator = arg;
    log_info(negotiator->env.log, "uplink.up", "connected to the collector");
    negotiator->leasing = false;
    lease(negotiator);
    int rc = watch_start(negotiator->slots_watch, wire);
    rc = rc != 0 ? rc : watch_start(negotiator->requests_watch, wire);
    rc = rc != 0 ? rc : watch_start(negotiator->submitters_watch, wire);
    if (rc != 0) {
        log_warn(negotiator->env.log, "watch.start", err_code_text(rc));
    }
    act_advertise(negotiator);
}

static void uplink_down(void *arg, const char *why)
{
    struct negotiator *negotiator = arg;
    negotiator->leads = false;
    log_warn(negotiator->env.log, "uplink.down", why);
}

static void on_request(void *arg, struct wire_request *request)
{
    switch (wire_request_verb(request)) {
    case VERB_PING:
        wire_reply_ok(request, NULL);
        break;
    case VERB_QUERY:
        userprio_query(arg, request);
        break;
    case VERB_USERPRIO:
        userprio_change(arg, request);
        break;
    default:
        wire_reply_error(request, -ENOSYS, "%s is not for a negotiator",
                         wire_verb_name(wire_request_verb(request)));
    }
}

/* ---- timers */

/* What looks at the clock is judged anew. */
static void full_cycle(void *arg)
{
    struct negotiator *negotiator = arg;
    act_forget_given(negotiator);
    negotiator->full = true;
    cycle_soon(negotiator);
    act_advertise(negotiator);
    loop_timer_set(negotiator->full_timer,
                   (uint64_t)config_duration_s(negotiator->env.config, "NEGOTIATOR_INTERVAL") *
                       1000);
}

static void settle_usage(void *arg)
{
    struct negotiator *negotiator = arg;
    loop_timer_set(negotiator->usage_timer,
                   (uint64_t)config_duration_ms(negotiator->env.config, "USAGE_INTERVAL"));
    usage_settle(negotiator);
}

static void publish(void *arg)
{
    struct negotiator *negotiator = arg;
    loop_timer_set(negotiator->publish_timer, PUBLISH_S * 1000);
    userprio_publish(negotiator, NULL);
}

/* ---- life */

static int open_store(struct negotiator *negotiator, struct err *err)
{
    static const char *const TABLES[] = {ACCOUNTANT_TABLES, NULL};
    static const struct store_schema SCHEMA = {.daemon = "negotiator",
                                               .tables = TABLES,
                                               .version = 1};
    const char *spool = config_path(negotiator->env.config, "SPOOL");
    struct strbuf path;
    strbuf_init(&path, 0);
    strbuf_printf(&path, "%s/negotiator.db", spool);
    int rc = os_mkdirs(negotiator->env.os, spool, 0755, err);
    rc = rc != 0 ? rc
                 : store_open(negotiator->env.loop, negotiator->env.os, strbuf_text(&path), &SCHEMA,
                              negotiator->env.log, &negotiator->store, err);
    rc = rc != 0 ? rc : accountant_create(negotiator->store, &negotiator->accountant, err);
    rc = rc != 0 ? rc : update_prio_create(negotiator, err);
    strbuf_fini(&path);
    return rc;
}

static int parse_ranks(struct negotiator *negotiator, struct err *err)
{
    const char *pre = config_expr(negotiator->env.config, "NEGOTIATOR_PRE_JOB_RANK");
    const char *post = config_expr(negotiator->env.config, "NEGOTIATOR_POST_JOB_RANK");
    int rc = 0;
    ad_expr_destroy(negotiator->pre_job);
    ad_expr_destroy(negotiator->post_job);
    negotiator->pre_job = negotiator->post_job = NULL;
    if (pre != NULL && pre[0] != '\0') {
        rc = ad_expr_parse(pre, strlen(pre), AD_OLD, &negotiator->pre_job, err);
    }
    if (rc == 0 && post != NULL && post[0] != '\0') {
        rc = ad_expr_parse(post, strlen(post), AD_OLD, &negotiator->post_job, err);
    }
    return rc;
}

static int open_uplink(struct negotiator *negotiator, struct err *err)
{
    static const struct uplink_events EVENTS = {.up = uplink_up,
                                                .down = uplink_down,
                                                .request = on_request};
    char address[POOL_ADDRESS_MAX], name[300];
    int rc = pool_collector_addresses(negotiator->env.config, address, sizeof address, err);
    (void)snprintf(name, sizeof name, "negotiator/%s", negotiator->name);
    const struct wire_dial how = {.address = address, .route = "collector", .name = name};
    return rc != 0 ? rc
                   : uplink_create(negotiator->wires, &how, &EVENTS, negotiator,
                                   &negotiator->uplink, err);
}

static void set_names(struct negotiator *negotiator)
{
    struct os_machine machine;
    unsigned char secret[8];
    char hex[17];
    const char *name = config_string(negotiator->env.config, "NEGOTIATOR_NAME");
    if (name == NULL || name[0] == '\0') {
        name =
            os_machine(negotiator->env.os, &machine, NULL) == 0 ? machine.hostname : "negotiator";
    }
    (void)snprintf(negotiator->name, sizeof negotiator->name, "%s", name);
    loop_secret(negotiator->env.loop, secret, sizeof secret);
    text_hex(secret, sizeof secret, hex);
    (void)snprintf(negotiator->holder, sizeof negotiator->holder, "negotiator-%s", hex);
}

static void negotiator_destroy(void *state)
{
    struct negotiator *negotiator = state;
    watch_destroy(negotiator->slots_watch);
    watch_destroy(negotiator->requests_watch);
    watch_destroy(negotiator->submitters_watch);
    uplink_destroy(negotiator->uplink);
    loop_timer_destroy(negotiator->cycle_timer);
    loop_timer_destroy(negotiator->full_timer);
    loop_timer_destroy(negotiator->lease_timer);
    loop_timer_destroy(negotiator->usage_timer);
    loop_timer_destroy(negotiator->rest_timer);
    loop_timer_destroy(negotiator->publish_timer);
    store_close(negotiator->store); /* nothing calls back any more */
    userprio_fini(negotiator);
    update_prio_fini(negotiator);
    accountant_destroy(negotiator->accountant);
    shares_fini(negotiator);
    wire_context_destroy(negotiator->wires);
    strmap_destroy(negotiator->slots, slot_destroy);
    strmap_destroy(negotiator->requests, request_destroy);
    vec_fini(&negotiator->free_numbers, NULL);
    strmap_destroy(negotiator->given, mem_free);
    strmap_destroy(negotiator->unseen, mem_free);
    groups_destroy(negotiator->groups);
    ad_expr_destroy(negotiator->pre_job);
    ad_expr_destroy(negotiator->post_job);
    mem_free(negotiator);
}

static int negotiator_start(const struct daemon_env *env, void **state, struct err *err)
{
    static const struct watch_spec SLOTS = {.type = "Machine", .with_private = true};
    static const struct watch_spec REQUESTS = {.type = "Request"};
    static const struct watch_spec SUBMITTERS = {.type = "Submitter"};
    static const struct watch_events SUBMITTER_EVENTS = {.changed = submitter_changed,
                                                         .gone = submitter_gone,
                                                         .synced = nothing,
                                                         .refused = refused};
    static const struct watch_events SLOT_EVENTS = {.changed = slot_changed,
                                                    .gone = slot_gone,
                                                    .synced = synced,
                                                    .refused = refused};
    static const struct watch_events REQUEST_EVENTS = {.changed = request_changed,
                                                       .gone = request_gone,
                                                       .synced = synced,
                                                       .refused = refused};
    struct negotiator *negotiator = mem_zalloc(sizeof *negotiator);
    negotiator->env = *env;
    negotiator->epoch = (uint64_t)loop_wall_ms(env->loop);
    loop_secret(env->loop, &negotiator->random_state, sizeof negotiator->random_state);
    set_names(negotiator);
    negotiator->slots = strmap_create(STRMAP_CASE_IGNORED);
    negotiator->requests = strmap_create(STRMAP_CASE_SENSITIVE);
    negotiator->given = strmap_create(STRMAP_CASE_SENSITIVE);
    negotiator->unseen = strmap_create(STRMAP_CASE_IGNORED);
    negotiator->pending = strmap_create(STRMAP_CASE_SENSITIVE);
    negotiator->cycle_timer = loop_timer_create(env->loop, cycle_run, negotiator);
    negotiator->full_timer = loop_timer_create(env->loop, full_cycle, negotiator);
    negotiator->lease_timer = loop_timer_create(env->loop, lease, negotiator);
    negotiator->rest_timer = loop_timer_create(env->loop, synced, negotiator);
    negotiator->publish_timer = loop_timer_create(env->loop, publish, negotiator);
    negotiator->submitters_watch =
        watch_create(env->loop, &SUBMITTERS, &SUBMITTER_EVENTS, negotiator);
    negotiator->usage_timer = loop_timer_create(env->loop, settle_usage, negotiator);
    negotiator->slots_watch = watch_create(env->loop, &SLOTS, &SLOT_EVENTS, negotiator);
    negotiator->requests_watch = watch_create(env->loop, &REQUESTS, &REQUEST_EVENTS, negotiator);
    int rc = parse_ranks(negotiator, err);
    rc = rc != 0 ? rc : pool_context_create(env, &negotiator->wires, err);
    rc = rc != 0 ? rc : open_store(negotiator, err);
    rc = rc != 0 ? rc : open_uplink(negotiator, err);
    if (rc == 0) {
        usage_configure(negotiator);
        update_prio_configure(negotiator);
    }
    if (rc != 0) {
        negotiator_destroy(negotiator);
        return rc;
    }
    full_cycle(negotiator);
    lease(negotiator);
    settle_usage(negotiator);
    publish(negotiator);
    *state = negotiator;
    return 0;
}

static void negotiator_reload(void *state, const struct config *config)
{
    struct negotiator *negotiator = state;
    struct err err;
    negotiator->env.config = config;
    if (parse_ranks(negotiator, &err) != 0) {
        log_error(negotiator->env.log, "config.expr", err.text);
    }
    usage_configure(negotiator);
    update_prio_configure(negotiator);
    full_cycle(negotiator);
}

static const struct knob_table *const TABLES[] = {&negotiator_knobs, &knobs_common};

const struct daemon negotiator_daemon = {
    .name = "negotiator",
    .check_expr = ad_expr_check,
    .tables = TABLES,
    .table_count = ARRAY_COUNT(TABLES),
    .start = negotiator_start,
    .reload = negotiator_reload,
    .destroy = negotiator_destroy,
};
