/* rooster/serve.c - answers requests: POWER_ON, POWER_STATUS, and QUERY of the ledger and of
 * energy.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "power/power.h"
#include "rooster/energy.h"
#include "rooster/ledger.h"
#include "rooster/nodes.h"
#include "rooster/outside.h"
#include "rooster/rooster.h"
#include "rooster/wakes.h"
#include "rooster/ways.h"
#include "wire/settings.h"
#include "wire/wire.h"

static void reply_ads(struct wire_request *request, struct vec *ads)
{
    size_t at = 0;
    for (; ads->count - at > WIRE_ADS_MAX; at += WIRE_ADS_MAX) {
        const struct wire_body part = {.ads = (const struct ad *const *)ads->items + at,
                                       .ad_count = WIRE_ADS_MAX};
        (void)wire_reply_part(request, &part); /* bounded by the number of machines */
    }
    const struct wire_body body = {.ads = (const struct ad *const *)ads->items + at,
                                   .ad_count = ads->count - at};
    wire_reply_ok(request, &body);
    vec_fini(ads, ad_destroy_item);
}

/* Makes nodes for configured machines that have no ads yet. */
static void add_configured(struct rooster *rooster)
{
    const struct config *config = rooster->env.config;
    for (size_t i = 0; i < config_section_count(config, "node"); i++) {
        (void)node_of(rooster, section_title(config_section_at(config, "node", i)));
    }
}

/* Sets the state of a machine without ads: what its method reports, if it reports anything. */
static void put_adless(const struct node *node, struct ad *ad)
{
    const char *why = node->state == WAKE_UP ? "the machine was on, and its ads are gone"
                                             : "the machine has no ad";
    const char *text = NULL;
    char reason[ROOSTER_TEXT_MAX];
    bool is_off = outside_has(node, POWER_OFF, &text);
    if (is_off || outside_has(node, POWER_ON, &text) || outside_has(node, POWER_UNKNOWN, &text)) {
        (void)snprintf(reason, sizeof reason, "%s; its power method says: %s", why, text);
        why = reason;
    }
    ad_set_string(ad, "PowerState", is_off ? "Off" : "Unknown");
    ad_set_string(ad, "PowerStateReason", why);
}

static void power_status_all(struct rooster *rooster, struct wire_request *request)
{
    struct vec ads = {0};
    size_t at = 0;
    void *value;
    add_configured(rooster);
    while (strmap_next(rooster->nodes, &at, NULL, &value)) {
        const struct node *node = value;
        if (!node->listed) {
            continue; /* only the ledger knows it */
        }
        struct ad *ad = node_to_ad(node);
        if (!node->awake.has_ads && !node->asleep.has_ads) {
            if (node->state == WAKE_OFF || node->state == WAKE_UP) {
                put_adless(node, ad);
            }
        }
        vec_push(&ads, ad);
    }
    reply_ads(request, &ads);
}

/* Returns whether and how the machine would be woken, without waking it. */
static const char *try_order(const struct node *node, struct err *err)
{
    struct power_node power;
    if (node->awake.has_ads && !node_is_silent(node)) {
        return "AlreadyOn";
    }
    if (node->state == WAKE_WAKING) {
        return "Waking";
    }
    if (node_power(node, &power, err) != 0) {
        return "Refused";
    }
    (void)err_set(err, -EPERM, "by method %s, in at most %lld s", power.method,
                  (long long)(node_deadline_ms(node) / 1000));
    return "WouldWake";
}

static const char *order_wake(struct node *node, const struct wire_peer *peer,
                              const struct ad *args, struct err *err)
{
    struct rooster *rooster = node->rooster;
    const char *reason = ad_string_or(args, "Reason", "");
    bool test = ad_bool_or(args, "Test", false);
    struct power_node power;
    if (node->awake.has_ads && !node_is_silent(node)) {
        return "AlreadyOn";
    }
    if (node->state == WAKE_WAKING) {
        return "Waking";
    }
    if (node_power(node, &power, err) != 0) {
        return "Refused";
    }
    if (config_bool(rooster->env.config, "ROOSTER_DRY_RUN")) {
        (void)err_set(err, -EPERM,
                      "the machine would be woken by method %s without ROOSTER_DRY_RUN",
                      power.method);
        return "Refused";
    }
    if (node->state == WAKE_UP) { /* it went without a word: only its own ads made it that */
        node_move(node, WAKE_OFF,
                  node->awake.has_ads ? "the machine does not respond" : "the machine has no ad");
    }
    char asked_by[ROOSTER_TEXT_MAX];
    (void)snprintf(asked_by, sizeof asked_by, "%.120s%s%.120s", peer->identity,
                   reason[0] != '\0' ? ": " : "", reason);
    node_order(node, asked_by, test);
    log_info(rooster->env.log, "wake.ordered", reason, LOG_TEXT("machine", node->name),
             LOG_TEXT("by", peer->identity));
    return "Ordered";
}

static void power_on(struct rooster *rooster, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct ad_value list;
    struct vec ads = {0};
    if (ad_eval_attr(args, NULL, "Nodes", NULL, &list) != 0 || list.type != AD_TYPE_LIST) {
        ad_value_fini(&list);
        wire_reply_error(request, -EINVAL, "POWER_ON needs Nodes, a list of machine names");
        return;
    }
    bool dry = ad_bool_or(args, "DryRun", false);
    add_configured(rooster);
    for (size_t i = 0; i < ad_value_count(&list); i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        const char *name = item.type == AD_TYPE_STRING ? item.string.text : "";
        struct node *node = strmap_get(rooster->nodes, name);
        struct ad *ad = ad_create();
        struct err err = {.text = ""};
        ad_set_string(ad, "Name", name);
        if (node == NULL || !node->listed) {
            ad_set_string(ad, "Result", "Unknown");
            ad_set_string(ad, "ErrorString", "no ad and no 'node' section has this name");
        } else {
            ad_set_string(ad, "Result",
                          dry ? try_order(node, &err)
                              : order_wake(node, wire_request_peer(request), args, &err));
            if (err.text[0] != '\0') {
                ad_set_string(ad, "ErrorString", err.text);
            }
        }
        vec_push(&ads, ad);
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    reply_ads(request, &ads);
}

void rooster_serve(void *arg, struct wire_request *request)
{
    struct rooster *rooster = arg;
    switch (wire_request_verb(request)) {
    case VERB_POWER_ON:
        power_on(rooster, request);
        break;
    case VERB_POWER_DOWN_ASK:
        guards_ask(rooster, request);
        break;
    case VERB_POWER_STATUS:
        power_status_all(rooster, request);
        break;
    case VERB_QUERY:
        if (strcmp(ad_string_or(wire_request_args(request), "Type", ""), "Energy") == 0) {
            energy_query(rooster->energy, request);
        } else {
            ledger_query(rooster->ledger, request);
        }
        break;
    case VERB_CONFIG:
        settings_serve(&rooster->env, request);
        break;
    case VERB_PING:
        wire_reply_ok(request, NULL);
        break;
    default:
        wire_reply_error(request, -ENOSYS, "a rooster does not support %s",
                         wire_verb_name(wire_request_verb(request)));
    }
}
