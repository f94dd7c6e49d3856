/* rooster/nodes.c - the machines: how each is switched, and the life of a wake.
 *
 * A wake: ledger record durable (Started), order by the power method, then waiting for the live ad
 * until the deadline.  An order that fails or a machine that does not come is tried again with
 * back-off, then left alone (WakeFailed) for a while.  The state is shown in the machine's offline
 * ads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "offline_ads/offline_ads.h"
#include "power/power.h"
#include "rooster/ledger.h"
#include "rooster/rooster.h"
#include "wire/wire.h"

static void no_show(void *arg);

struct node *node_of(struct rooster *rooster, const char *machine)
{
    struct node *node = strmap_get(rooster->nodes, machine);
    if (node == NULL) {
        node = mem_zalloc(sizeof *node);
        node->rooster = rooster;
        node->name = mem_strdup(machine);
        node->state = WAKE_OFF;
        node->since_s = loop_wall_s(rooster->env.loop);
        node->deadline = loop_timer_create(rooster->env.loop, no_show, node);
        (void)strmap_set(rooster->nodes, machine, node); /* was absent */
    }
    node->listed = true;
    return node;
}

static void node_destroy(void *value)
{
    struct node *node = value;
    loop_timer_destroy(node->deadline);
    ad_destroy(node->promise);
    vec_fini(&node->ads, NULL);
    mem_free(node->name);
    mem_free(node);
}

void nodes_destroy(struct rooster *rooster)
{
    strmap_destroy(rooster->nodes, node_destroy);
}

static const char *or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

static void read_section(const struct config_section *section, struct power_node *power)
{
    power->method = section_string(section, "method");
    power->config = section_path(section, "config");
    power->lock_dir = section_path(section, "lock_dir");
    power->program = section_path(section, "program");
    power->wake_command = section_string(section, "wake_command");
    power->sleep_command = section_string(section, "sleep_command");
    power->status_command = section_string(section, "status_command");
    power->hardware_address = or_null(section_string(section, "hardware_address"));
    power->subnet = or_null(section_string(section, "subnet"));
    power->relay = section_string(section, "relay");
    power->password_file = section_path(section, "password_file");
    power->wake_port = section_int(section, "wake_port");
    power->wake_repeats = section_int(section, "wake_repeats");
    power->helper = section_path(section, "helper");
    power->uri = or_null(section_string(section, "uri"));
    power->domain = or_null(section_string(section, "domain"));
    power->domain_sleep = section_string(section, "domain_sleep");
    power->shutdown_timeout_s = section_duration_s(section, "shutdown_timeout");
}

/* What its ads say, where the configuration says nothing. */
static void add_adapter(const struct node *node, struct power_node *power)
{
    const struct node_adapter *adapter = &node->adapter;
    if (power->hardware_address == NULL) {
        power->hardware_address = or_null(adapter->hardware_address);
    }
    if (power->subnet == NULL) {
        power->subnet = or_null(adapter->subnet);
    }
    if (power->wake_port == 0) {
        power->wake_port = adapter->port;
    }
}

int node_power(const struct node *node, struct power_node *ret, struct err *err)
{
    const struct config *config = node->rooster->env.config;
    const struct config_section *section = config_section_find(config, "node", node->name);
    const char *command = config_string(config, "ROOSTER_WAKEUP_CMD");
    struct power_node power = {.name = node->name};
    if (section != NULL) {
        read_section(section, &power);
    } else if (command != NULL && command[0] != '\0') {
        power.method = "command";
        power.wake_command = command;
    } else if (node->adapter.wakes) {
        power.method = "wol";
    } else {
        return err_set(err, -ENOENT,
                       "%s: no 'node' section describes how to wake it, ROOSTER_WAKEUP_CMD is not "
                       "set, and its ads say of no network adapter that it would wake it",
                       node->name);
    }
    add_adapter(node, &power);
    int rc = power_check(&power, err);
    if (rc == 0) {
        *ret = power;
    }
    return rc;
}

/* ---- what others see */

static void merged(void *arg, struct wire_reply *reply)
{
    struct node *node = arg;
    node->showing--;
    if (reply->status != 0 && reply->status != -ENOENT && reply->status != -ECONNRESET) {
        log_warn(node->rooster->env.log, "state.merge", reply->text,
                 LOG_TEXT("machine", node->name), LOG_INT("status", reply->status));
    }
}

const char *node_shown(struct node *node)
{
    struct power_node power;
    if (node->judged != node->rooster->configuration) {
        node->judged = node->rooster->configuration;
        node->no_way = node_power(node, &power, NULL) != 0;
    }
    return node->no_way && node->state != WAKE_UP ? "Unknown" : wake_state_name(node->state);
}

void node_show(struct node *node)
{
    struct rooster *rooster = node->rooster;
    struct wire *wire = node->state != WAKE_UP ? uplink_wire(rooster->uplink) : NULL;
    if (wire == NULL) {
        return;
    }
    struct ad *change = ad_create();
    const char *shown = node_shown(node), *reason = node->reason;
    struct power_node power;
    struct err err = {.text = ""};
    if (node->no_way && node_power(node, &power, &err) != 0) {
        reason = err.text;
    }
    ad_set_string(change, "PowerState", shown);
    ad_set_string(change, "PowerStateReason", reason);
    ad_set_int(change, "EnteredPowerState", node->since_s);
    past_put(&node->past, change);
    const struct ad *ads[1] = {change};
    for (size_t i = 0; i < node->ads.count; i++) {
        const struct seen *seen = node->ads.items[i];
        if (!offline_ads_is(seen->ad)) {
            continue;
        }
        struct ad *args = ad_create();
        ad_set_string(args, "Type", "Machine");
        ad_set_string(args, "Name", seen->key);
        const struct wire_body body = {.args = args, .ads = ads, .ad_count = 1};
        if (wire_call(wire, VERB_MERGE, &body, 0, merged, node) > 0) {
            node->showing++;
        } /* else: a look sees that it is not shown */
        ad_destroy(args);
    }
    ad_destroy(change);
}

void node_move(struct node *node, enum wake_state state, const char *reason)
{
    struct rooster *rooster = node->rooster;
    bool same = state == node->state;
    node->state = state;
    (void)snprintf(node->reason, sizeof node->reason, "%s", reason);
    if (!same) {
        node->since_s = loop_wall_s(rooster->env.loop);
        log_info(rooster->env.log, "node.state", reason, LOG_TEXT("machine", node->name),
                 LOG_TEXT("state", wake_state_name(state)));
    }
    node_show(node);
}

uint64_t node_deadline_ms(const struct node *node)
{
    const struct config *config = node->rooster->env.config;
    const struct boots_bounds bounds = {
        .unlearned_ms = config_duration_s(config, "ROOSTER_WAKE_DEADLINE") * 1000,
        .floor_ms = config_duration_s(config, "ROOSTER_WAKE_DEADLINE_MIN") * 1000,
        .ceiling_ms = config_duration_s(config, "ROOSTER_WAKE_DEADLINE_MAX") * 1000};
    return (uint64_t)boots_deadline_ms(&node->boots, &bounds);
}

struct ad *node_to_ad(const struct node *node)
{
    struct power_node power;
    struct err err;
    struct ad *ad = ad_create();
    ad_set_string(ad, "MyType", "Node");
    ad_set_string(ad, "Name", node->name);
    ad_set_string(ad, "Machine", node->name);
    ad_set_string(ad, "PowerState", wake_state_name(node->state));
    ad_set_string(ad, "PowerStateReason", node->reason);
    ad_set_int(ad, "EnteredPowerState", node->since_s);
    ad_set_int(ad, "JobsWaiting", node->jobs_waiting);
    ad_set_int(ad, "WakeAttempts", node->attempts);
    if (node->last_boot_ms > 0) {
        ad_set_real(ad, "LastWakeSeconds", (double)node->last_boot_ms / 1000.0);
    }
    ad_set_int(ad, "WakeDeadline", (int64_t)(node_deadline_ms(node) / 1000));
    ad_set_int(ad, "WakesToday", wake_day_count(&node->day, loop_wall_s(node->rooster->env.loop)));
    past_put(&node->past, ad);
    if (node->would_wake) {
        ad_set_bool(ad, "WouldWake", true);
    }
    if (node->live && node->live_boot_id[0] != '\0') {
        ad_set_string(ad, "BootId", node->live_boot_id);
        ad_set_int(ad, "BootTime", node->live_boot_s);
    }
    if (node_power(node, &power, &err) == 0) {
        ad_set_string(ad, "PowerMethod", power.method);
    } else {
        ad_set_string(ad, "PowerMethod", "none");
    }
    return ad;
}

/* ---- a wake */

static void put_record(struct node *node, const char *outcome, void (*done)(void *arg))
{
    struct rooster *rooster = node->rooster;
    struct power_node power = {0};
    struct ad *record = ad_create();
    (void)node_power(node, &power, NULL); /* else without a method */
    ad_set_string(record, "MyType", "Wake");
    ad_set_string(record, "Name", node->wake_id);
    ad_set_string(record, "WakeId", node->wake_id);
    ad_set_string(record, "Kind", "Wake");
    ad_set_string(record, "Machine", node->name);
    ad_set_string(record, "AskedBy", node->asked_by);
    ad_set_string(record, "Method", power.method != NULL ? power.method : "none");
    ad_set_int(record, "StartTime", node->wake_s);
    ad_set_int(record, "Attempts", node->attempts);
    ad_set_int(record, "JobsWaiting", node->jobs_waiting);
    ad_set_string(record, "Outcome", outcome);
    ad_set_string(record, "Reason", node->reason);
    if (strcmp(outcome, "Started") != 0) {
        ad_set_int(record, "EndTime", loop_wall_s(rooster->env.loop));
    }
    if (strcmp(outcome, "Up") == 0) {
        ad_set_real(record, "Seconds", (double)node->last_boot_ms / 1000.0);
        ad_set_string(record, "BootId", node->live_boot_id);
        ad_set_int(record, "BootTime", node->live_boot_s);
        if (node->past.is_compared) {
            ad_set_string(record, "Differed", node->past.differed);
        }
    }
    ledger_put(rooster->ledger, node->wake_id, record, done, node);
    ad_destroy(record);
}

void node_give_up(struct node *node)
{
    put_record(node, "Failed", NULL); /* with the last reason */
    node->wake_id[0] = '\0';
    node->attempts = 0;
}

static void failed(struct node *node, const char *why)
{
    struct rooster *rooster = node->rooster;
    const struct config *config = rooster->env.config;
    const struct wake_retry retry = {
        .attempts_max = config_int(config, "ROOSTER_WAKE_ATTEMPTS"),
        .backoff_ms = (uint64_t)config_duration_s(config, "ROOSTER_WAKE_BACKOFF") * 1000,
        .quarantine_ms = (uint64_t)config_duration_s(config, "ROOSTER_QUARANTINE") * 1000};
    loop_timer_stop(node->deadline);
    rooster->failures++;
    past_add(&node->past, false, 0);
    enum wake_state next =
        wake_plan_after_failure(&retry, node->attempts, loop_now_ms(rooster->env.loop),
                                &node->retry_at_ms);
    node_move(node, next, why);
    if (next == WAKE_QUARANTINED) {
        node->ordered = false;
        node_give_up(node);
    }
    look_at(node);
}

/* It does not answer, it does not boot, or it boots and does not join: who has a way to ask the
 * machine's state is told which. */
static void did_not_come(void *arg, enum power_state state, const char *text)
{
    static const char *const WHY[] = {
        [POWER_UNKNOWN] = "it was woken but did not join the pool in time",
        [POWER_ON] = "it is switched on but did not join the pool in time",
        [POWER_OFF] = "it was woken but is still switched off",
    };
    struct node *node = arg;
    node->ordering = false;
    log_debug(node->rooster->env.log, "wake.late", text, LOG_TEXT("machine", node->name));
    if (node->state == WAKE_WAKING) {
        failed(node, WHY[state]);
    }
    look_at(node); /* looks passed it over meanwhile */
}

static void ask_why(struct node *node)
{
    struct power_node power;
    if (node->ordering) { /* the order itself is not out yet: its end is waited for */
        loop_timer_set(node->deadline, 1000);
        return;
    }
    node->ordering = true;
    if (node_power(node, &power, NULL) != 0 ||
        power_status(node->rooster->power, &power, did_not_come, node, NULL) != 0) {
        did_not_come(node, POWER_UNKNOWN, "it cannot be asked");
    }
}

static void no_show(void *arg)
{
    struct node *node = arg;
    if (node->state == WAKE_WAKING) {
        ask_why(node);
    } else if (node->state == WAKE_STAYING) {
        node_move(node, WAKE_OFF, "it was not taken down, but its live ads did not come back");
        look_at(node);
    } else if (node->state == WAKE_GOING_DOWN) {
        look_at(node); /* asked again */
    }
}

static void order_given(void *arg, int status, const char *text)
{
    struct node *node = arg;
    node->ordering = false;
    log_info(node->rooster->env.log, status == 0 ? "wake.sent" : "wake.failed", text,
             LOG_TEXT("machine", node->name), LOG_INT("attempt", node->attempts));
    if (node->state == WAKE_WAKING && status != 0) {
        failed(node, text);
    }
    look_at(node); /* looks passed it over while the order was at work */
}

static void recorded(void *arg)
{
    struct node *node = arg;
    struct rooster *rooster = node->rooster;
    struct power_node power;
    struct strbuf text;
    struct err err;
    if (node->state != WAKE_WAKING) { /* it came up by itself meanwhile */
        node->ordering = false;
        look_at(node);
        return;
    }
    strbuf_init(&text, 65536); /* what a command's standard input takes */
    for (size_t i = 0; text.length == 0 && i < node->ads.count; i++) {
        const struct ad *ad = ((const struct seen *)node->ads.items[i])->ad;
        if (offline_ads_is(ad)) {
            ad_print_long(ad, &text);
        }
    }
    int rc = node_power(node, &power, &err);
    if (rc == 0) {
        power.ad_text = text.failed ? NULL : strbuf_text(&text);
        rc = power_wake(rooster->power, &power, order_given, node, &err);
    }
    strbuf_fini(&text);
    if (rc != 0) {
        node->ordering = false;
        failed(node, err.text);
        return;
    }
    /* After the order: what the collector commits for this would stand in the way of our own commit
     * on the same disk. */
    node_show(node);
}

void node_wake(struct node *node)
{
    struct rooster *rooster = node->rooster;
    if (node->ordering) {
        return;
    }
    node->ordering = true;
    node->would_wake = false;
    node->attempts++;
    rooster->wakes++;
    if (node->wake_id[0] == '\0') {
        ledger_new_id(rooster->ledger, node->wake_id);
        node->wake_s = loop_wall_s(rooster->env.loop);
        wake_day_add(&node->day, node->wake_s);
        node->wake_ms = loop_now_ms(rooster->env.loop);
        if (!node->ordered) {
            (void)snprintf(node->asked_by, sizeof node->asked_by, ASKED_BY_NEGOTIATOR);
        }
    }
    wake_minute_add(&rooster->minute, loop_now_ms(rooster->env.loop));
    loop_timer_set(node->deadline, node_deadline_ms(node));
    char reason[ROOSTER_TEXT_MAX];
    (void)snprintf(reason, sizeof reason,
                   node->ordered ? "switched on by %.200s" : "%.0s%lld jobs wait for it",
                   node->asked_by, (long long)node->jobs_waiting);
    node->state = WAKE_WAKING;
    node->since_s = loop_wall_s(rooster->env.loop);
    (void)snprintf(node->reason, sizeof node->reason, "%s", reason);
    log_info(rooster->env.log, "wake.begins", reason, LOG_TEXT("machine", node->name),
             LOG_INT("attempt", node->attempts));
    put_record(node, "Started", recorded); /* the order follows the commit */
}

/* What it promised is over; perhaps it was not kept. */
static void compare(struct node *node)
{
    for (size_t i = 0; node->promise != NULL && i < node->ads.count; i++) {
        const struct ad *ad = ((const struct seen *)node->ads.items[i])->ad;
        if (!offline_ads_is(ad)) {
            past_compare(&node->past, node->promise, ad);
            ad_destroy(node->promise);
            node->promise = NULL;
        }
    }
}

void node_is_up(struct node *node)
{
    struct rooster *rooster = node->rooster;
    loop_timer_stop(node->deadline);
    sleeps_over(node);
    compare(node);
    if (node->wake_id[0] != '\0') {
        int64_t took_ms = (loop_wall_s(rooster->env.loop) - node->wake_s) * 1000;
        node->last_boot_ms = node->wake_ms != 0
                                 ? (int64_t)(loop_now_ms(rooster->env.loop) - node->wake_ms)
                                 : took_ms;
        boots_add(&node->boots, node->last_boot_ms);
        past_add(&node->past, true, loop_wall_s(rooster->env.loop));
        node_move(node, WAKE_UP, "its live ad is there");
        put_record(node, "Up", NULL);
        node->wake_id[0] = '\0';
    } else {
        node_move(node, WAKE_UP, "it came up by itself");
    }
    node->attempts = 0;
    node->ordered = false;
}
