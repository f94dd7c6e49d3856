/* rooster/rooster.c - the daemon that wakes machines: wiring.
 *
 * A match wakes a machine.  The negotiator writes into an offline ad which jobs wait for it; the
 * rooster sees the change and wakes the machine (look.c, nodes.c; wake_plan.c chooses).  The wake
 * has succeeded when the machine's live ad comes.  Durable: the ledger.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/rooster.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon_checking.h"
#include "base/err.h"
#include "base/knob.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/os/os.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "power/power.h"
#include "power/power_doubts.h"
#include "power/power_section.h"
#include "rooster/clock.h"
#include "rooster/choose.h"
#include "rooster/energy.h"
#include "rooster/ledger.h"
#include "rooster/look.h"
#include "rooster/nodes.h"
#include "rooster/outside.h"
#include "rooster/queue_ask.h"
#include "rooster/relay.h"
#include "rooster/reserve_plan.h"
#include "rooster/seen.h"
#include "rooster/selftest.h"
#include "rooster/silence.h"
#include "rooster/sleep_record.h"
#include "rooster/still_up.h"
#include "rooster/wakes.h"
#include "store/store.h"
#include "wire/daemon_ad.h"
#include "wire/settings.h"
#include "wire/pool.h"
#include "wire/revocations.h"
#include "wire/watch.h"
#include "wire/wire.h"

static void ad_changed(void *arg, const char *key, const struct ad *ad)
{
    seen_changed(arg, key, ad);
}

static void ad_gone(void *arg, const char *key)
{
    seen_gone(arg, key);
}

static void ads_synced(void *arg)
{
    look_at_all(arg);
}

static void watch_refused(void *arg, int status, const char *why)
{
    struct rooster *rooster = arg;
    log_error(rooster->env.log, "watch.refused", why, LOG_INT("status", status));
}

/* ---- the uplink */

static void ad_answered(void *arg, struct wire_reply *reply)
{
    struct rooster *rooster = arg;
    if (reply->status != 0 && reply->status != -ECONNRESET) {
        log_debug(rooster->env.log, "update.refused", reply->text);
    }
}

/* Says what is wrong with the stores, of which there are two. */
static void put_stores(struct rooster *rooster, struct ad *ad)
{
    const struct store *const stores[] = {ledger_store(rooster->ledger),
                                          energy_store(rooster->energy)};
    struct strbuf text;
    size_t rows = 0;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < 2; i++) {
        const char *problem = store_problem(stores[i]);
        strbuf_printf(&text, "%s%s", text.length > 0 && problem[0] != '\0' ? "; " : "", problem);
        rows += store_damaged_rows(stores[i]);
    }
    daemon_ad_put_store(ad, strbuf_text(&text), rows);
    strbuf_fini(&text);
}

static void send_ad(struct rooster *rooster)
{
    struct wire *wire = uplink_wire(rooster->uplink);
    if (wire == NULL) {
        return;
    }
    struct ad *args = ad_create(), *ad = ad_create();
    ad_set_int(args, "Epoch", (int64_t)rooster->epoch);
    ad_set_int(args, "Sequence", (int64_t)++rooster->sequence);
    ad_set_bool(args, "Full", true);
    daemon_ad_put(ad, rooster->env.os, "Rooster", rooster->name,
                  loop_wall_of_s(rooster->env.loop, rooster->started_ms));
    settings_put(ad, rooster->env.config);
    ad_set_int(ad, "MyCurrentTime", rooster_now_s(rooster));
    int64_t under_way = 0;
    size_t at = 0;
    void *node;
    while (strmap_next(rooster->nodes, &at, NULL, &node)) {
        under_way += ((const struct node *)node)->state == WAKE_WAKING ? 1 : 0;
    }
    ad_set_int(ad, "WakesUnderWay", under_way);
    ad_set_int(ad, "WakesTotal", rooster->wakes);
    ad_set_int(ad, "WakesFailed", rooster->failures);
    guards_write(rooster, ad);
    put_stores(rooster, ad);
    char uplink[300];
    (void)snprintf(uplink, sizeof uplink, "rooster/%s", rooster->name);
    ad_set_string(ad, "RoosterUplink", uplink);
    const struct ad *ads[1] = {ad};
    const struct wire_body body = {.args = args, .ads = ads, .ad_count = 1};
    (void)wire_call(wire, VERB_UPDATE, &body, 0, ad_answered, rooster); /* else: the next time */
    ad_destroy(args);
    ad_destroy(ad);
}

static void stores_changed(void *arg)
{
    struct rooster *rooster = arg;
    if (rooster->uplink != NULL) {
        send_ad(rooster);
    }
}

static void uplink_up(void *arg, struct wire *wire)
{
    struct rooster *rooster = arg;
    log_info(rooster->env.log, "uplink.up", "connected to the collector");
    revocations_watch(rooster->wires, wire);
    int rc = watch_start(rooster->watch, wire);
    if (rc != 0) {
        log_warn(rooster->env.log, "watch.start", err_code_text(rc));
    }
    guards_connected(rooster->guards, wire);
    send_ad(rooster);
}

static void uplink_down(void *arg, const char *why)
{
    struct rooster *rooster = arg;
    log_warn(rooster->env.log, "uplink.down", why);
}

static void interval_over(void *arg)
{
    struct rooster *rooster = arg;
    look_at_all(rooster);
    selftest_look(rooster);
    energy_flush(rooster->energy);
    send_ad(rooster);
    loop_timer_set(rooster->interval_timer,
                   (uint64_t)config_duration_s(rooster->env.config, "ROOSTER_INTERVAL") * 1000);
}

/* ---- life */

/* Continues a wake whose outcome the previous rooster did not see.  Its order may have been given,
 * so no other is given before its deadline. */
static void resume_wake(struct node *node, const struct ad *record)
{
    struct rooster *rooster = node->rooster;
    int64_t now_s = rooster_now_s(rooster);
    int64_t deadline_s = (int64_t)(node_deadline_ms(node) / 1000);
    (void)snprintf(node->wake.id, sizeof node->wake.id, "%s", ad_string_or(record, "WakeId", ""));
    (void)snprintf(node->asked.by, sizeof node->asked.by, "%s",
                   ad_string_or(record, "AskedBy", ""));
    node->guard.reserve.reserving = strcmp(node->asked.by, ASKED_BY_RESERVE) == 0;
    node->asked.by_name =
        !node->guard.reserve.reserving && strcmp(node->asked.by, ASKED_BY_NEGOTIATOR) != 0;
    node->test.is_under_way = ad_bool_or(record, "Test", false);
    node->wake.began_s = ad_int_or(record, "StartTime", now_s);
    node->wake.attempts = ad_int_or(record, "Attempts", 1);
    node->wake.jobs = ad_int_or(record, "JobsWaiting", 0);
    node->state = WAKE_WAKING;
    (void)snprintf(node->reason, sizeof node->reason, "%s", ad_string_or(record, "Reason", ""));
    int64_t left_s = node->wake.began_s + deadline_s - now_s;
    left_s = left_s < 0 ? 0 : left_s > deadline_s ? deadline_s : left_s;
    loop_timer_set(node->deadline, (uint64_t)left_s * 1000 + 1000);
}

/* Remembers a failed wake, because the machine may still come. */
static void recall_failure(struct node *node, const struct ad *record)
{
    bool again = strcmp(ad_string_or(record, "Fault", ""), FAULT_AGAIN) == 0;
    node->history.quarantines = ad_int_or(record, "Quarantines", node->history.quarantines);
    if (again) {
        return; /* it was there */
    }
    (void)snprintf(node->history.last.wake_id, sizeof node->history.last.wake_id, "%s",
                   ad_string_or(record, "WakeId", ""));
    (void)snprintf(node->asked.by, sizeof node->asked.by, "%s",
                   ad_string_or(record, "AskedBy", ""));
    node->history.last.wake_s = ad_int_or(record, "StartTime", 0);
    node->history.last.attempts = ad_int_or(record, "Attempts", 1);
    node->history.last.boot_ms = 0;
    node->history.last.up_s = 0;
}

static const char *fault_of(const struct ad *record)
{
    static const char *const FAULTS[] = {FAULT_ORDER,   FAULT_SILENT, FAULT_OFF,
                                         FAULT_NO_JOIN, FAULT_LESS,   FAULT_AGAIN};
    const char *text = ad_string_or(record, "Fault", "");
    for (size_t i = 0; i < ARRAY_COUNT(FAULTS); i++) {
        if (strcmp(text, FAULTS[i]) == 0) {
            return FAULTS[i];
        }
    }
    return NULL;
}

/* Reads a record of the ledger: how long the machine's boot took, when it was woken, whether it
 * came, and whether its wake or sleep is still without an outcome. */
static void recall_record(void *arg, const struct ad *record)
{
    struct rooster *rooster = arg;
    const char *machine = ad_string_or(record, "Machine", "");
    const char *outcome = ad_string_or(record, "Outcome", "");
    bool sleep = strcmp(ad_string_or(record, "Kind", "Wake"), "Sleep") == 0;
    bool open = strcmp(outcome, "Started") == 0;
    if (machine[0] == '\0') {
        return;
    }
    const struct node *before = strmap_get(rooster->nodes, machine);
    bool listed = open || (before != NULL && before->listed);
    struct node *node = node_of(rooster, machine);
    node->listed = listed;
    guards_recall(node, record);
    if (sleep && !open && !ad_has(record, "Differed")) {
        return;
    }
    past_recall(&node->history.past, record);
    if (sleep) {
        if (open) {
            sleep_record_resume(node, record);
        }
        return;
    }
    wake_day_add(&node->history.day, ad_int_or(record, "StartTime", 0));
    node->history.last.wake_id[0] = '\0';
    node->wake.fault = open ? NULL : fault_of(record);
    if (!open && ad_bool_or(record, "Test", false)) {
        node->test.ended_s = ad_int_or(record, "EndTime", 0);
        node->test.is_passed = strcmp(outcome, "Up") == 0;
    }
    if (open) {
        resume_wake(node, record);
    } else if (strcmp(outcome, "Up") == 0) {
        node->history.quarantines = 0;
        node->history.last_boot_ms = (int64_t)(ad_real_or(record, "Seconds", 0) * 1000);
        boots_add(&node->history.boots, node->history.last_boot_ms);
    } else {
        recall_failure(node, record);
    }
}

static int parse_expressions(struct rooster *rooster, struct err *err)
{
    const char *unhibernate = config_expr(rooster->env.config, "ROOSTER_UNHIBERNATE");
    const char *rank = config_expr(rooster->env.config, "ROOSTER_UNHIBERNATE_RANK");
    struct ad_expr *first = NULL, *second = NULL;
    int rc = ad_expr_parse(unhibernate, strlen(unhibernate), AD_OLD, &first, err);
    if (rc == 0 && rank != NULL && rank[0] != '\0') {
        rc = ad_expr_parse(rank, strlen(rank), AD_OLD, &second, err);
    }
    if (rc != 0) {
        ad_expr_destroy(first);
        return rc;
    }
    ad_expr_destroy(rooster->unhibernate);
    ad_expr_destroy(rooster->rank);
    rooster->unhibernate = first;
    rooster->rank = second;
    return 0;
}

static int open_uplink(struct rooster *rooster, struct err *err)
{
    static const struct uplink_events EVENTS = {.up = uplink_up,
                                                .down = uplink_down,
                                                .request = rooster_serve};
    char address[POOL_ADDRESS_MAX], name[300];
    int rc = pool_collector_addresses(rooster->env.config, address, sizeof address, err);
    (void)snprintf(name, sizeof name, "rooster/%s", rooster->name);
    const struct wire_dial how = {.address = address, .route = "collector", .name = name};
    return rc != 0 ? rc
                   : uplink_create(rooster->wires, &how, &EVENTS, rooster, &rooster->uplink, err);
}

static void set_name(struct rooster *rooster)
{
    struct os_machine machine;
    const char *name = config_string(rooster->env.config, "ROOSTER_NAME");
    if (name == NULL || name[0] == '\0') {
        name = os_machine(rooster->env.os, &machine, NULL) == 0 ? machine.hostname : "rooster";
    }
    (void)snprintf(rooster->name, sizeof rooster->name, "%s", name);
}

static void rooster_destroy(void *state)
{
    struct rooster *rooster = state;
    outside_end_all(rooster);
    power_destroy(rooster->power);
    relays_destroy(rooster->relays);
    watch_destroy(rooster->watch);
    uplink_destroy(rooster->uplink);
    loop_timer_destroy(rooster->look_timer);
    loop_timer_destroy(rooster->interval_timer);
    ledger_close(rooster->ledger);
    energy_close(rooster->energy);
    guards_destroy(rooster->guards);
    queue_asks_destroy(rooster->queue_asks);
    wire_context_destroy(rooster->wires);
    seen_destroy_all(rooster);
    choose_fini(rooster);
    nodes_destroy(rooster);
    ad_expr_destroy(rooster->unhibernate);
    ad_expr_destroy(rooster->rank);
    mem_free(rooster);
}

static int rooster_start(const struct daemon_env *env, void **state, struct err *err)
{
    static const struct watch_spec SPEC = {.type = "Machine"};
    static const struct watch_events EVENTS = {.changed = ad_changed,
                                               .gone = ad_gone,
                                               .synced = ads_synced,
                                               .refused = watch_refused};
    struct rooster *rooster = mem_zalloc(sizeof *rooster);
    rooster->env = *env;
    rooster->epoch = (uint64_t)loop_wall_ms(env->loop);
    rooster->started_ms = (int64_t)loop_now_ms(env->loop);
    rooster->configuration = 1;
    loop_secret(env->loop, &rooster->random_state, sizeof rooster->random_state);
    set_name(rooster);
    rooster->on_deadline = node_no_show;
    rooster->on_ask = still_up_again;
    rooster->on_silence = silence_ask;
    rooster->nodes = strmap_create(STRMAP_CASE_IGNORED);
    rooster->seen = strmap_create(STRMAP_CASE_SENSITIVE);
    rooster->look_timer = loop_timer_create(env->loop, look, rooster);
    rooster->interval_timer = loop_timer_create(env->loop, interval_over, rooster);
    rooster->power = power_create(env->loop, env->os, env->log);
    rooster->relays = relays_create(rooster);
    rooster->guards = guards_create(rooster);
    rooster->queue_asks = queue_asks_create(rooster);
    rooster->watch = watch_create(env->loop, &SPEC, &EVENTS, rooster);
    int rc = parse_expressions(rooster, err);
    rc = rc != 0 ? rc : guards_configure(rooster->guards, err);
    rc = rc != 0 ? rc : ledger_open(env, &rooster->ledger, err);
    rc = rc != 0 ? rc : energy_open(rooster, &rooster->energy, err);
    rc = rc != 0 ? rc : ledger_load(rooster->ledger, recall_record, rooster, err);
    rc = rc != 0 ? rc : pool_context_create(env, &rooster->wires, err);
    rc = rc != 0 ? rc : open_uplink(rooster, err);
    if (rc != 0) {
        rooster_destroy(rooster);
        return rc;
    }
    store_on_problem(ledger_store(rooster->ledger), stores_changed, rooster);
    store_on_problem(energy_store(rooster->energy), stores_changed, rooster);
    outside_watch_all(rooster);
    interval_over(rooster);
    *state = rooster;
    return 0;
}

static void rooster_reload(void *state, const struct config *config)
{
    struct rooster *rooster = state;
    struct err err;
    rooster->env.config = config;
    pool_context_reload(rooster->wires, config, rooster->env.log);
    pool_uplink_reload(rooster->uplink, config, rooster->env.log);
    rooster->configuration++; /* perhaps there is a way to wake what could not be woken */
    if (parse_expressions(rooster, &err) != 0) {
        log_error(rooster->env.log, "config.expr", err.text);
    }
    if (guards_configure(rooster->guards, &err) != 0) {
        log_error(rooster->env.log, "config.reserve", err.text);
    }
    outside_watch_all(rooster);
    interval_over(rooster);
}

static int rooster_check(const struct daemon_checking *checking, struct err *err)
{
    const struct config *config = checking->config;
    const char *text = config_string(config, "ROOSTER_RESERVE");
    int64_t least_s = config_duration_s(config, "ROOSTER_WAKE_DEADLINE_MIN");
    int64_t most_s = config_duration_s(config, "ROOSTER_WAKE_DEADLINE_MAX");
    struct reserve reserve;
    struct err why;
    if (least_s > most_s) {
        return err_set(err, -ERANGE,
                       "ROOSTER_WAKE_DEADLINE_MIN: %lld s is more than ROOSTER_WAKE_DEADLINE_MAX, "
                       "%lld s",
                       (long long)least_s, (long long)most_s);
    }
    if (text != NULL && reserve_plan_parse(text, &reserve, NULL) == 0 &&
        reserve_plan_doubt(&reserve, &why)) {
        daemon_doubt(checking, "ROOSTER_RESERVE", "ROOSTER_RESERVE: %s", why.text);
    }
    daemon_doubt_command(checking, "ROOSTER_WAKEUP_CMD",
                         config_string(config, "ROOSTER_WAKEUP_CMD"));
    daemon_doubt_command(checking, "ROOSTER_TICKET_CMD",
                         config_string(config, "ROOSTER_TICKET_CMD"));
    power_doubts(checking);
    return 0;
}

static const struct knob_table *const TABLES[] = {&rooster_knobs, &power_knobs, &knobs_common};

const struct daemon rooster_daemon = {
    .name = "rooster",
    .check_expr = ad_expr_check,
    .check = rooster_check,
    .check_section = power_section_check,
    .tables = TABLES,
    .table_count = ARRAY_COUNT(TABLES),
    .start = rooster_start,
    .reload = rooster_reload,
    .destroy = rooster_destroy,
};
