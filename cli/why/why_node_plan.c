/* cli/why/why_node_plan.c - see why_node_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why/why_node_plan.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "base/strbuf.h"
#include "classad/ad.h"
#include "cli/power_show_plan.h"
#include "cli/table_plan.h"
#include "offline_ads/offline_ads.h"

static bool is_awake(const struct ad *slot)
{
    return !ad_bool_or(slot, "Offline", false) && !ad_bool_or(slot, "Absent", false) &&
           !offline_ads_is_silent(slot);
}

/* Returns one of the machine's ads, an awake slot's if there is one; NULL: it has no ad. */
static const struct ad *any_slot(const struct why_node *node)
{
    const struct ad *found = NULL;
    for (size_t i = 0; i < node->slot_count; i++) {
        found = found == NULL || is_awake(node->slots[i]) ? node->slots[i] : found;
    }
    return found;
}

static bool is_up(const struct why_node *node)
{
    const struct ad *slot = any_slot(node);
    return slot != NULL && is_awake(slot);
}

/* ---- why it is up */

/* Returns the ledger's record of the wake that began the current boot; NULL: not among the known
 * records. */
static const struct ad *its_wake(const struct why_node *node)
{
    const struct ad *slot = any_slot(node);
    const char *boot = slot != NULL ? ad_string_or(slot, "BootId", "") : "";
    for (size_t i = 0; i < node->record_count && boot[0] != '\0'; i++) {
        const struct ad *record = node->records[i];
        if (strcmp(ad_string_or(record, "Kind", ""), "Wake") == 0 &&
            strcmp(ad_string_or(record, "Outcome", ""), "Up") == 0 &&
            strcmp(ad_string_or(record, "BootId", ""), boot) == 0) {
            return record;
        }
    }
    return NULL;
}

/* Appends, for example, "woken 11/20 09:15 by method wol for 3 jobs, 45.0 s until the machine
 * joined the pool". */
static void put_wake(const struct ad *wake, const struct ad_context *context, struct strbuf *out)
{
    const char *who = ad_string_or(wake, "AskedBy", "?");
    int64_t jobs = ad_int_or(wake, "JobsWaiting", 0);
    double seconds;
    strbuf_puts(out, "woken ");
    table_plan_date(ad_int_or(wake, "StartTime", 0), context, out);
    strbuf_printf(out, " by method %s for ", ad_string_or(wake, "Method", "?"));
    if (strcmp(who, "negotiator") != 0) {
        strbuf_puts(out, who);
    } else {
        strbuf_printf(out, jobs == 1 ? "%lld job" : "%lld jobs", (long long)jobs);
    }
    if (ad_get_real(wake, "Seconds", &seconds) == 0) {
        strbuf_printf(out, ", %.1f s until the machine joined the pool", seconds);
    }
}

static void put_up_because(const struct why_node *node, const struct ad_context *context,
                           struct strbuf *out)
{
    const struct ad *wake = its_wake(node);
    int64_t boot_s = ad_int_or(any_slot(node), "BootTime", 0);
    if (wake != NULL) {
        put_wake(wake, context, out);
        return;
    }
    strbuf_puts(out, node->silence != NULL ? "the cause of the last start is not known"
                                           : "the rooster did not wake the machine");
    if (boot_s > 0) {
        strbuf_puts(out, "; the machine booted ");
        table_plan_date(boot_s, context, out);
    }
}

/* Appends, for example, "taken back 11/20 09:15: 2 jobs of alice wait; it was drained by
 * cron@pool". */
static void put_reclaim(const struct why_node *node, const struct ad_context *context,
                        const char *before, struct strbuf *out)
{
    const struct ad *slot = is_up(node) ? any_slot(node) : NULL;
    int64_t at_s;
    if (slot != NULL && ad_get_int(slot, "LastReclaimTime", &at_s) == 0) {
        strbuf_printf(out, "%staken back ", before);
        table_plan_date(at_s, context, out);
        strbuf_printf(out, ": %s", ad_string_or(slot, "LastReclaimReason", "jobs waited"));
    }
}

/* ---- what keeps it from sleeping */

static bool may_sleep(const struct ad *slot, const struct ad_context *context)
{
    struct ad_value value;
    bool may = false;
    if (ad_eval_attr(slot, NULL, "Hibernate", context, &value) == 0) {
        may = (value.type == AD_TYPE_INT && value.integer >= 1) ||
              (value.type == AD_TYPE_STRING && value.string.length > 0 &&
               strcasecmp(value.string.text, "NONE") != 0 && strcmp(value.string.text, "0") != 0);
    }
    ad_value_fini(&value);
    return may;
}

static void put_between(struct strbuf *out, size_t begin, const char *text)
{
    strbuf_puts(out, out->length > begin ? text : "");
}

static void put_claims(const struct why_node *node, const char *separator, struct strbuf *out,
                       size_t begin)
{
    size_t slots = 0, claimed = 0;
    for (size_t i = 0; i < node->slot_count; i++) {
        const struct ad *slot = node->slots[i];
        bool pieces = ad_int_or(slot, "NumDynamicSlots", 0) > 0;
        slots += is_awake(slot) ? 1 : 0;
        claimed +=
            is_awake(slot) && (pieces || strcmp(ad_string_or(slot, "State", ""), "Claimed") == 0)
                ? 1
                : 0;
    }
    if (claimed > 0) {
        put_between(out, begin, separator);
        strbuf_printf(out, "%zu of its %zu %s claimed", claimed, slots,
                      slots == 1 ? "slots is" : "slots are");
    }
}

static void put_vetoes(const struct why_node *node, const struct ad_context *context,
                       const char *separator, struct strbuf *out, size_t begin)
{
    size_t vetoes = 0;
    for (size_t i = 0; i < node->slot_count; i++) {
        const struct ad *slot = node->slots[i];
        if (!is_awake(slot) || may_sleep(slot, context) || ++vetoes > WHY_NODE_VETOES) {
            continue;
        }
        put_between(out, begin, separator);
        strbuf_printf(out, "HIBERNATE of %s is not true now: ", ad_string_or(slot, "Name", "?"));
        if (ad_has(slot, "Hibernate")) {
            ad_expr_print(ad_lookup(slot, "Hibernate"), AD_OLD, out);
        } else {
            strbuf_puts(out, "not set");
        }
    }
    if (vetoes > WHY_NODE_VETOES) {
        put_between(out, begin, separator);
        strbuf_printf(out, "nor is HIBERNATE of %zu more slots", vetoes - WHY_NODE_VETOES);
    }
}

/* Appends what keeps the machine awake; nothing when no cause is known. */
static void put_holds(const struct why_node *node, const struct ad_context *context,
                      const char *separator, struct strbuf *out)
{
    size_t begin = out->length;
    const struct ad *slot = any_slot(node);
    if (slot == NULL) {
        return;
    }
    if (!is_up(node)) {
        power_show_holds(slot, context, separator, out);
        const char *held = node->node != NULL ? ad_string_or(node->node, "WakeHeldBy", "") : "";
        if (held[0] != '\0') { /* only the rooster knows */
            put_between(out, begin, separator);
            strbuf_printf(out, "is not woken yet: %s", held);
        }
        return;
    }
    if (ad_bool_or(slot, "Draining", false)) {
        const char *reason = ad_string_or(slot, "DrainReason", "");
        strbuf_printf(out, "the machine is draining%s%s", reason[0] != '\0' ? ": " : "", reason);
    }
    put_claims(node, separator, out, begin);
    put_vetoes(node, context, separator, out, begin);
    struct strbuf holds;
    strbuf_init(&holds, 0);
    power_show_holds(slot, context, separator, &holds);
    if (holds.length > 0) {
        put_between(out, begin, separator);
        strbuf_puts(out, strbuf_text(&holds));
    }
    strbuf_fini(&holds);
}

/* ---- all of it */

static void put_state(const struct why_node *node, const struct ad_context *context,
                      struct strbuf *out)
{
    const struct ad *from = node->node != NULL ? node->node : any_slot(node);
    int64_t since_s;
    const char *reason = ad_string_or(from, "PowerStateReason", "");
    strbuf_printf(out, "%s: %s", node->name,
                  ad_string_or(from, "PowerState", is_up(node) ? "On" : "Unknown"));
    if (ad_get_int(from, "EnteredPowerState", &since_s) == 0) {
        strbuf_puts(out, " for ");
        table_plan_duration(context->now_s - since_s, out);
    }
    strbuf_printf(out, "%s%s.\n", reason[0] != '\0' ? ": " : "", reason);
}

static void put_method(const struct ad *node, struct strbuf *out)
{
    const char *method = ad_string_or(node, "PowerMethod", "none");
    if (strcmp(method, "none") == 0) {
        strbuf_puts(out, "  Cannot be woken: no 'node' section describes how.\n");
        return;
    }
    int64_t today = ad_int_or(node, "WakesToday", 0);
    strbuf_printf(out, "  Woken by method %s, in at most %lld s; %lld %s in the last 24 hours.\n",
                  method, (long long)ad_int_or(node, "WakeDeadline", 0), (long long)today,
                  today == 1 ? "wake" : "wakes");
}

void why_node_show(const struct why_node *node, const struct ad_context *context,
                   struct strbuf *out)
{
    if (node->node == NULL && node->slot_count == 0) {
        strbuf_printf(out, "%s: unknown to the collector and to the rooster.\n", node->name);
        return;
    }
    put_state(node, context, out);
    if (is_up(node)) {
        strbuf_puts(out, "  Up because: ");
        put_up_because(node, context, out);
        put_reclaim(node, context, ";\n    ", out);
        strbuf_puts(out, ".\n");
    }
    struct strbuf holds;
    strbuf_init(&holds, 0);
    put_holds(node, context, ";\n    ", &holds);
    if (is_up(node)) {
        strbuf_printf(
            out, "  Does not sleep because: %s.\n",
            holds.length > 0
                ? strbuf_text(&holds)
                : "no reason is known; HIBERNATE is evaluated each HIBERNATE_CHECK_INTERVAL");
    } else if (holds.length > 0) {
        strbuf_printf(out, "  The machine %s.\n", strbuf_text(&holds));
    }
    strbuf_fini(&holds);
    if (node->silence != NULL) {
        strbuf_printf(out, "  The rooster cannot be asked: %s\n", node->silence);
    } else if (node->node == NULL) {
        strbuf_puts(out, "  The rooster does not know this machine.\n");
    } else {
        put_method(node->node, out);
    }
    if (node->record_count > 0) {
        strbuf_puts(out, "\n");
        power_show_history((const struct ad *const *)node->records,
                           node->record_count < WHY_NODE_RECORDS ? node->record_count
                                                                 : WHY_NODE_RECORDS,
                           context, out);
    }
}

static void set_text(struct ad *ad, const char *name, struct strbuf *text)
{
    if (text->length > 0) {
        ad_set_string(ad, name, strbuf_text(text));
    }
    strbuf_fini(text);
}

struct ad *why_node_ad(const struct why_node *node, const struct ad_context *context)
{
    struct ad *ad = node->node != NULL ? ad_copy(node->node) : ad_create();
    struct strbuf up, holds, reclaim;
    ad_set_string(ad, "MyType", "Why");
    ad_set_string(ad, "Node", node->name);
    strbuf_init(&up, 0);
    strbuf_init(&reclaim, 0);
    strbuf_init(&holds, 0);
    if (is_up(node)) {
        put_up_because(node, context, &up);
        put_reclaim(node, context, "", &reclaim);
        put_holds(node, context, "; ", &holds);
    }
    set_text(ad, "UpBecause", &up);
    set_text(ad, "TakenBack", &reclaim);
    set_text(ad, "DoesNotSleep", &holds);
    return ad;
}
