/* rooster/nodes.c - the machines and their states.
 *
 * A machine's state is shown in its offline ads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/nodes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_time.h"
#include "offline_ads/offline_ads.h"
#include "power/power.h"
#include "rooster/clock.h"
#include "rooster/energy.h"
#include "rooster/outside.h"
#include "rooster/rooster.h"
#include "rooster/seen.h"
#include "rooster/sleep_record.h"
#include "rooster/ways.h"
#include "wire/wire.h"

struct node *node_of(struct rooster *rooster, const char *machine)
{
    struct node *node = strmap_get(rooster->nodes, machine);
    if (node == NULL) {
        node = mem_zalloc(sizeof *node);
        node->rooster = rooster;
        node->name = mem_strdup(machine);
        node->state = WAKE_OFF;
        node->since_s = rooster_now_s(rooster);
        node->deadline = loop_timer_create(rooster->env.loop, rooster->on_deadline, node);
        node->silence.timer = loop_timer_create(rooster->env.loop, rooster->on_silence, node);
        node->still_up.timer = loop_timer_create(rooster->env.loop, rooster->on_ask, node);
        (void)strmap_set(rooster->nodes, machine, node); /* was absent */
    }
    node->listed = true;
    return node;
}

static void node_destroy(void *value)
{
    struct node *node = value;
    loop_timer_destroy(node->deadline);
    loop_timer_destroy(node->still_up.timer);
    loop_timer_destroy(node->silence.timer);
    ad_destroy(node->promise);
    vec_fini(&node->ads, NULL);
    energy_forget(node);
    mem_free(node->name);
    mem_free(node);
}

void nodes_destroy(struct rooster *rooster)
{
    strmap_destroy(rooster->nodes, node_destroy);
}

/* ---- what others see */

static void state_merged(void *arg, struct wire_reply *reply)
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
    if (node->way.judged != node->rooster->configuration) {
        node->way.judged = node->rooster->configuration;
        node->way.is_none = node_power(node, &power, NULL) != 0;
    }
    char why[ROOSTER_TEXT_MAX];
    int64_t since_s;
    bool unknown = (node->way.is_none && node->state != WAKE_UP) ||
                   (node_is_silent(node) && node->state == WAKE_OFF) ||
                   outside_contradicts(node, why, sizeof why, &since_s);
    return unknown ? "Unknown" : wake_state_name(node->state);
}

bool node_is_silent(const struct node *node)
{
    return node->silence.marked && !node->silence.heard;
}

void node_silent_why(const struct node *node, char ret[ROOSTER_TEXT_MAX])
{
    struct ad_calendar at;
    const char *says = node->silence.says;
    ad_calendar_of(node->silence.since_s, &at);
    (void)snprintf(ret, ROOSTER_TEXT_MAX,
                   "not responding since %04lld-%02d-%02d %02d:%02d:%02d UTC: the collector does "
                   "not hear it%s%.190s",
                   (long long)at.year, at.month, at.day, at.hour, at.minute, at.second,
                   says[0] != '\0' ? "; its power method says: " : "", says);
}

int64_t node_quarantine_until_s(const struct node *node)
{
    struct loop *loop = node->rooster->env.loop;
    uint64_t now_ms = loop_now_ms(loop);
    uint64_t left_ms = node->wake.retry_at_ms > now_ms ? node->wake.retry_at_ms - now_ms : 0;
    return loop_wall_s(loop) + (int64_t)(left_ms / 1000);
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
    char why[ROOSTER_TEXT_MAX];
    int64_t since_s = node->since_s;
    struct power_node power;
    struct err err = {.text = ""};
    if (node->way.is_none && node_power(node, &power, &err) != 0) {
        reason = err.text;
    } else if (node_is_silent(node) && node->state == WAKE_OFF) {
        node_silent_why(node, why);
        since_s = node->silence.since_s;
        reason = why;
    } else if (outside_contradicts(node, why, sizeof why, &since_s)) {
        reason = why;
    }
    ad_set_string(change, "PowerState", shown);
    ad_set_string(change, "PowerStateReason", reason);
    ad_set_int(change, "EnteredPowerState", since_s);
    past_put(&node->history.past, change);
    int64_t down_s = sleep_record_down_max_s(node);
    if (down_s > 0) {
        ad_set_int(change, "PowerDownSeconds", down_s);
    }
    bool alone = node->state == WAKE_QUARANTINED;
    if (alone) {
        ad_set_int(change, "PowerQuarantineUntil", node_quarantine_until_s(node));
    }
    const struct ad *ads[1] = {change};
    for (size_t i = 0; i < node->ads.count; i++) {
        const struct seen *seen = node->ads.items[i];
        if (!offline_ads_is(seen->ad)) {
            continue;
        }
        struct ad *args = ad_create();
        ad_set_string(args, "Type", "Machine");
        ad_set_string(args, "Name", seen->key);
        const char *over[2];
        size_t over_count = 0;
        if (!alone && ad_has(seen->ad, "PowerQuarantineUntil")) {
            over[over_count++] = "PowerQuarantineUntil";
        }
        if (down_s == 0 && ad_has(seen->ad, "PowerDownSeconds")) {
            over[over_count++] = "PowerDownSeconds";
        }
        if (over_count > 0) {
            ad_set_strings(args, "Delete", over, over_count);
        }
        const struct wire_body body = {.args = args, .ads = ads, .ad_count = 1};
        if (wire_call(wire, VERB_MERGE, &body, 0, state_merged, node) > 0) {
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
        node->since_s = rooster_now_s(rooster);
    }
    if (!same && state == WAKE_QUARANTINED) { /* an operator must look at the machine */
        log_warn(rooster->env.log, "node.state", reason, LOG_TEXT("machine", node->name),
                 LOG_TEXT("state", wake_state_name(state)));
    } else if (!same) {
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
    return (uint64_t)boots_deadline_ms(&node->history.boots, &bounds);
}
