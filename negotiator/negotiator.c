/* negotiator/negotiator.c - the matchmaker: wiring.
 *
 * It keeps live copies of the collector's machine and request ads, and acts on changes (cycle.c,
 * act.c; negotiator_plan.c decides).  One negotiator leads at a time, by a lease in the collector.
 * Only the use of users is durable here; which jobs wait for which sleeping machine is in the
 * offline ads, so a killed negotiator forgets nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/negotiator.h"

#include <errno.h>
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
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"
#include "classad/ad.h"
#include "negotiator/groups.h"
#include "negotiator/significant_plan.h"
#include "negotiator/limit_plan.h"
#include "offline_ads/offline_ads.h"
#include "offline_ads/offline_holds.h"
#include "store/store.h"
#include "user_maps/user_world.h"
#include "wire/pool.h"
#include "wire/revocations.h"
#include "wire/settings.h"
#include "wire/watch.h"
#include "wire/wire.h"

#define LEASE_S     20
#define LEASE_ASK_S 2  /* how often it is asked for by one who does not have it */
#define RENEW_S     12 /* after that it is renewed, or earlier, with what else goes on then */
/* Renewals are answered within that, or we count as one who has lost it, before it is over. */
#define RENEW_ANSWER_S 7
_Static_assert(RENEW_S + RENEW_ANSWER_S < LEASE_S, "else two would lead for a while");
#define TRIM_ADS 1000 /* so many slots and requests have left: their memory is given back */

#define PUBLISH_S 60 /* Accounting ads; what is changed is published at once */

static void submitter_changed(void *arg, const char *key, const struct ad *ad)
{
    update_prio_submitter(arg, key, ad);
}

static void submitter_gone(void *arg, const char *key)
{
    update_prio_submitter_gone(arg, key);
}

static void do_nothing(void *arg)
{
    (void)arg;
}

static void cycle_needed(void *arg)
{
    negotiator_cycle_soon(arg);
}

static void watch_refused(void *arg, int status, const char *why)
{
    struct negotiator *negotiator = arg;
    log_error(negotiator->env.log, "watch.refused", why, LOG_INT("status", status));
}

/* ---- the lease */

/* Logs who leads instead of us, once for each other leader. */
static void another_leads(struct negotiator *negotiator, const struct wire_reply *reply)
{
    const char *holder = reply->args != NULL ? ad_string_or(reply->args, "Holder", "") : "";
    if (reply->args != NULL && strcmp(holder, negotiator->lease.leader) != 0) {
        (void)snprintf(negotiator->lease.leader, sizeof negotiator->lease.leader, "%s", holder);
        log_info(negotiator->env.log, "lease",
                 "another negotiator has the lease, so this one does not match jobs",
                 LOG_TEXT("holder", holder),
                 LOG_TEXT("identity", ad_string_or(reply->args, "HolderIdentity", "")),
                 LOG_INT("remaining_s", ad_int_or(reply->args, "Remaining", 0)));
    }
}

static void lease_answered(void *arg, struct wire_reply *reply)
{
    struct negotiator *negotiator = arg;
    bool led = negotiator->lease.leads;
    negotiator->lease.asking = false;
    negotiator->lease.leads = reply->status == 0;
    if (negotiator->lease.leads && !led) {
        negotiator->lease.leader[0] = '\0';
        log_info(negotiator->env.log, "lease", "this negotiator has the lease and matches jobs",
                 LOG_TEXT("holder", negotiator->lease.holder));
        usage_leads(negotiator);
        negotiator_cycle_soon(negotiator);
    } else if (reply->status == -EBUSY) {
        another_leads(negotiator, reply);
    } else if (led && !negotiator->lease.leads) {
        log_warn(negotiator->env.log, "lease",
                 "the lease was not renewed, so this negotiator does not match jobs",
                 LOG_TEXT("why", reply->text));
    }
    if (led && !negotiator->lease.leads) {
        loop_timer_set(negotiator->lease.timer, LEASE_ASK_S * 1000);
    }
}

static void ask_lease(void *arg)
{
    struct negotiator *negotiator = arg;
    struct wire *wire = uplink_wire(negotiator->uplink);
    uint64_t now_ms = loop_now_ms(negotiator->env.loop);
    loop_timer_set(negotiator->lease.timer, negotiator->lease.leads
                                                ? loop_grid_delay_ms(now_ms, RENEW_S * 1000)
                                                : LEASE_ASK_S * 1000);
    if (wire == NULL || negotiator->lease.asking) {
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Role", "negotiator");
    ad_set_string(args, "Holder", negotiator->lease.holder);
    ad_set_int(args, "Duration", LEASE_S);
    const struct wire_body body = {.args = args};
    negotiator->lease.asking =
        wire_call(wire, VERB_LEASE, &body, RENEW_ANSWER_S * 1000, lease_answered, negotiator) > 0;
    ad_destroy(args);
}

/* ---- the uplink */

static void uplink_up(void *arg, struct wire *wire)
{
    struct negotiator *negotiator = arg;
    log_info(negotiator->env.log, "uplink.up", "connected to the collector");
    revocations_watch(negotiator->wires, wire);
    negotiator->lease.asking = false;
    ask_lease(negotiator);
    int rc = watch_start(negotiator->watches.slots, wire);
    rc = rc != 0 ? rc : watch_start(negotiator->watches.requests, wire);
    rc = rc != 0 ? rc : watch_start(negotiator->watches.submitters, wire);
    if (rc != 0) {
        log_warn(negotiator->env.log, "watch.start", err_code_text(rc));
    }
    negotiator_ad_send(negotiator);
}

static void uplink_down(void *arg, const char *why)
{
    struct negotiator *negotiator = arg;
    negotiator->lease.leads = false;
    log_warn(negotiator->env.log, "uplink.down", why);
}

static void on_request(void *arg, struct wire_request *request)
{
    switch (wire_request_verb(request)) {
    case VERB_CONFIG:
        settings_serve(&((struct negotiator *)arg)->env, request);
        break;
    case VERB_PING:
        wire_reply_ok(request, NULL);
        break;
    case VERB_QUERY:
        userprio_query(arg, request);
        break;
    case VERB_USERPRIO:
        userprio_change(arg, request);
        break;
    case VERB_POOL_FIGURES:
        queue_figures_answer(arg, request);
        break;
    default:
        wire_reply_error(request, -ENOSYS, "a negotiator does not support %s",
                         wire_verb_name(wire_request_verb(request)));
    }
}

/* ---- timers */

/* Starts a cycle that judges again what depends on the clock. */
static void full_cycle(void *arg)
{
    struct negotiator *negotiator = arg;
    shares_forget(negotiator);
    negotiator->cycle.full = true;
    negotiator_cycle_soon(negotiator);
    negotiator_ad_send(negotiator);
    loop_timer_set(negotiator->cycle.full_timer,
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

static void publish_accounts(void *arg)
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

static int parse_expr(struct negotiator *negotiator, const char *knob, struct ad_expr **ret,
                      struct err *err)
{
    const char *text = config_expr(negotiator->env.config, knob);
    *ret = NULL;
    return text != NULL && text[0] != '\0' ? ad_expr_parse(text, strlen(text), AD_OLD, ret, err)
                                           : 0;
}

static void destroy_exprs(struct negotiator *negotiator)
{
    ad_expr_destroy(negotiator->exprs.pre_job);
    ad_expr_destroy(negotiator->exprs.post_job);
    ad_expr_destroy(negotiator->exprs.preemption_requirements);
    ad_expr_destroy(negotiator->exprs.preemption_rank);
    negotiator->exprs.pre_job = negotiator->exprs.post_job = NULL;
    negotiator->exprs.preemption_requirements = negotiator->exprs.preemption_rank = NULL;
}

static int set_policy(struct negotiator *negotiator, struct err *err)
{
    const struct config *config = negotiator->env.config;
    negotiator_plan_set_policy(negotiator->plan, &(struct plan_policy){.offline_last = true});
    destroy_exprs(negotiator);
    int rc = parse_expr(negotiator, "NEGOTIATOR_PRE_JOB_RANK", &negotiator->exprs.pre_job, err);
    rc = rc != 0
             ? rc
             : parse_expr(negotiator, "NEGOTIATOR_POST_JOB_RANK", &negotiator->exprs.post_job, err);
    rc = rc != 0 ? rc
                 : parse_expr(negotiator, "PREEMPTION_REQUIREMENTS",
                              &negotiator->exprs.preemption_requirements, err);
    rc = rc != 0
             ? rc
             : parse_expr(negotiator, "PREEMPTION_RANK", &negotiator->exprs.preemption_rank, err);
    const struct plan_policy policy = {
        .pre_job = negotiator->exprs.pre_job,
        .post_job = negotiator->exprs.post_job,
        .preemption_requirements = negotiator->exprs.preemption_requirements,
        .preemption_rank = negotiator->exprs.preemption_rank,
        .consider_preemption = config_bool(config, "NEGOTIATOR_CONSIDER_PREEMPTION"),
        .offline_last = config_bool(config, "NEGOTIATOR_OFFLINE_LAST")};
    negotiator_plan_set_policy(negotiator->plan, &policy);
    const struct ad_expr *const exprs[] = {policy.pre_job, policy.post_job,
                                           policy.preemption_requirements, policy.preemption_rank};
    bool more = false;
    for (size_t i = 0; i < ARRAY_COUNT(exprs); i++) {
        more = significant_expr(negotiator->significant, exprs[i]) || more;
    }
    if (more && negotiator->uplink != NULL) {
        negotiator_ad_send(negotiator);
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
    (void)snprintf(negotiator->lease.holder, sizeof negotiator->lease.holder, "%.200s-%s",
                   negotiator->name, hex);
}

static void negotiator_destroy(void *state)
{
    struct negotiator *negotiator = state;
    watch_destroy(negotiator->watches.slots);
    watch_destroy(negotiator->watches.requests);
    watch_destroy(negotiator->watches.submitters);
    uplink_destroy(negotiator->uplink);
    loop_timer_destroy(negotiator->cycle.timer);
    loop_timer_destroy(negotiator->cycle.full_timer);
    loop_timer_destroy(negotiator->lease.timer);
    loop_timer_destroy(negotiator->usage_timer);
    loop_timer_destroy(negotiator->rest_timer);
    loop_timer_destroy(negotiator->given.timer);
    trimmer_fini(&negotiator->watches.trimmer);
    loop_timer_destroy(negotiator->start.timer);
    loop_timer_destroy(negotiator->publish_timer);
    loop_timer_destroy(negotiator->cycle.rules_timer);
    store_close(negotiator->store); /* nothing calls back any more */
    userprio_fini(negotiator);
    update_prio_fini(negotiator);
    accountant_destroy(negotiator->accountant);
    shares_fini(negotiator);
    wire_context_destroy(negotiator->wires);
    copies_destroy(negotiator);
    strmap_destroy(negotiator->given.ids, given_gift_destroy);
    significant_destroy(negotiator->significant);
    strmap_destroy(negotiator->unseen, mem_free);
    groups_destroy(negotiator->groups);
    limit_plan_destroy(negotiator->limits);
    destroy_exprs(negotiator);
    user_world_destroy(negotiator->users);
    mem_free(negotiator);
}

static int negotiator_start(const struct daemon_env *env, void **state, struct err *err)
{
    static const struct watch_spec SLOTS = {.type = "Machine", .with_secrets = true};
    static const struct watch_spec REQUESTS = {.type = "Request"};
    static const struct watch_spec SUBMITTERS = {.type = "Submitter"};
    static const struct watch_events SUBMITTER_EVENTS = {.changed = submitter_changed,
                                                         .gone = submitter_gone,
                                                         .synced = do_nothing,
                                                         .refused = watch_refused};
    static const struct watch_events SLOT_EVENTS = {.changed = copies_slot_changed,
                                                    .gone = copies_slot_gone,
                                                    .synced = cycle_needed,
                                                    .refused = watch_refused};
    static const struct watch_events REQUEST_EVENTS = {.changed = copies_request_changed,
                                                       .gone = copies_request_gone,
                                                       .synced = cycle_needed,
                                                       .refused = watch_refused};
    struct negotiator *negotiator = mem_zalloc(sizeof *negotiator);
    negotiator->env = *env;
    negotiator->users = user_world_create(env->os, env->config);
    negotiator->epoch = (uint64_t)loop_wall_ms(env->loop);
    negotiator->started_ms = (int64_t)loop_now_ms(env->loop);
    loop_secret(env->loop, &negotiator->random_state, sizeof negotiator->random_state);
    set_names(negotiator);
    copies_create(negotiator);
    negotiator->given.ids = strmap_create(STRMAP_CASE_SENSITIVE);
    negotiator->significant = significant_create();
    negotiator->unseen = strmap_create(STRMAP_CASE_IGNORED);
    negotiator->charges = strmap_create(STRMAP_CASE_SENSITIVE);
    negotiator->limits = limit_plan_create();
    negotiator->cycle.timer = loop_timer_create(env->loop, cycle_run, negotiator);
    trimmer_init(&negotiator->watches.trimmer, env->loop, TRIM_ADS);
    negotiator->cycle.full_timer = loop_timer_create(env->loop, full_cycle, negotiator);
    negotiator->lease.timer = loop_timer_create(env->loop, ask_lease, negotiator);
    negotiator->start.timer = loop_timer_create(env->loop, prompt_look, negotiator);
    negotiator->rest_timer = loop_timer_create(env->loop, cycle_needed, negotiator);
    negotiator->given.timer = loop_timer_create(env->loop, given_forget_old, negotiator);
    negotiator->publish_timer = loop_timer_create(env->loop, publish_accounts, negotiator);
    negotiator->cycle.rules_timer = loop_timer_create(env->loop, wake_rules_look, negotiator);
    negotiator->watches.submitters =
        watch_create(env->loop, &SUBMITTERS, &SUBMITTER_EVENTS, negotiator);
    negotiator->usage_timer = loop_timer_create(env->loop, settle_usage, negotiator);
    negotiator->watches.slots = watch_create(env->loop, &SLOTS, &SLOT_EVENTS, negotiator);
    negotiator->watches.requests = watch_create(env->loop, &REQUESTS, &REQUEST_EVENTS, negotiator);
    int rc = set_policy(negotiator, err);
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
    ask_lease(negotiator);
    settle_usage(negotiator);
    publish_accounts(negotiator);
    *state = negotiator;
    return 0;
}

static void negotiator_reload(void *state, const struct config *config)
{
    struct negotiator *negotiator = state;
    struct err err;
    negotiator->env.config = config;
    user_world_destroy(negotiator->users);
    negotiator->users = user_world_create(negotiator->env.os, config);
    pool_context_reload(negotiator->wires, config, negotiator->env.log);
    pool_uplink_reload(negotiator->uplink, config, negotiator->env.log);
    if (set_policy(negotiator, &err) != 0) {
        log_error(negotiator->env.log, "config.expr", err.text);
    }
    usage_configure(negotiator);
    update_prio_configure(negotiator);
    full_cycle(negotiator);
}

static int negotiator_check(const struct daemon_checking *checking, struct err *err)
{
    (void)err;
    groups_check(checking);
    return 0;
}

static const struct knob_table *const TABLES[] = {&negotiator_knobs, &knobs_common};

const struct daemon negotiator_daemon = {
    .name = "negotiator",
    .check_expr = ad_expr_check,
    .check = negotiator_check,
    .tables = TABLES,
    .table_count = ARRAY_COUNT(TABLES),
    .start = negotiator_start,
    .reload = negotiator_reload,
    .destroy = negotiator_destroy,
};
