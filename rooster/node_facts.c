/* rooster/node_facts.c - reads what the ads of a machine say now; changes no state.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "offline_ads/offline_ads.h"
#include "offline_ads/offline_holds.h"
#include "rooster/look.h"
#include "rooster/clock.h"
#include "rooster/nodes.h"
#include "rooster/queue_ask.h"
#include "rooster/relay.h"
#include "rooster/rooster.h"
#include "rooster/seen.h"
#include "rooster/sleep_record.h"

/* Returns how many jobs wait for that slot. */
static int64_t see_jobs(struct node *node, const struct ad *ad, int64_t now_s)
{
    if (!ad_has(ad, "OfflineMatches")) {
        return 0;
    }
    struct offline_holds *holds = offline_holds_read(ad);
    (void)offline_holds_prune(holds, now_s);
    int64_t jobs = offline_holds_total(holds), since_s = offline_holds_since_s(holds);
    node->jobs.waiting += jobs;
    node->jobs.since_s = since_s < node->jobs.since_s ? since_s : node->jobs.since_s;
    offline_holds_destroy(holds);
    return jobs;
}

static void see_adapter(struct node *node, const struct ad *ad)
{
    struct node_adapter adapter = {.port = ad_int_or(ad, "WakePort", 0),
                                   .wakes = ad_bool_or(ad, "IsWakeAble", false)};
    (void)snprintf(adapter.hardware_address, sizeof adapter.hardware_address, "%s",
                   ad_string_or(ad, "HardwareAddress", ""));
    (void)snprintf(adapter.subnet, sizeof adapter.subnet, "%s", ad_string_or(ad, "Subnet", ""));
    const struct node_adapter *old = &node->way.adapter;
    if (adapter.port != old->port || adapter.wakes != old->wakes ||
        strcmp(adapter.hardware_address, old->hardware_address) != 0 ||
        strcmp(adapter.subnet, old->subnet) != 0) {
        node->way.adapter = adapter;
        node->way.judged = 0; /* perhaps there is a way to wake it now */
    }
}

/* Notes what the offline ads promise, once for each sleep; kept until live ads replace the offline
 * ads. */
static void see_promise(struct node *node, const struct ad *ad)
{
    if (node->promise == NULL || strcmp(ad_string_or(node->promise, "OfflineBootId", ""),
                                        ad_string_or(ad, "OfflineBootId", "")) != 0) {
        ad_destroy(node->promise);
        node->promise = past_promise(ad);
    }
}

static struct node_room room_of(const struct ad *ad)
{
    return (struct node_room){.cpus = ad_int_or(ad, "DetectedCpus", 0),
                              .memory_mib = ad_int_or(ad, "DetectedMemory", 0)};
}

struct ad_context rooster_context(struct rooster *rooster)
{
    rooster->work.steps_max = ROOSTER_STEPS_MAX;
    return (struct ad_context){.now_s = rooster_now_s(rooster),
                               .random_state = &rooster->random_state,
                               .work = &rooster->work};
}

void look_tell_costly(struct node *node, const struct ad *ad, const char *what, uint64_t over)
{
    if (node->rooster->work.over == over || node->look.told_costly) {
        return;
    }
    node->look.told_costly = true;
    log_warn(
        node->rooster->env.log, "wake.costly",
        "evaluating this expression in a machine's ad takes too many steps; it counts as error",
        LOG_TEXT("expression", what), LOG_TEXT("machine", node->name),
        LOG_TEXT("name", ad_string_or(ad, "Name", "")),
        LOG_TEXT("identity", ad_string_or(ad, "AuthenticatedIdentity", "")),
        LOG_INT("steps_max", ROOSTER_STEPS_MAX));
}

bool node_is_kept_off(const struct ad *ad)
{
    return ad_bool_or(ad, "PowerKeptOff", false) || ad_bool_or(ad, "PowerLocked", false);
}

/* Notes which of the two expressions is not true: that of the machine, if it has one that is not;
 * else that of the rooster. */
static void note_refused(struct node *node, const struct ad *now, const struct ad_context *context)
{
    struct strbuf text;
    const struct ad_expr *own = ad_lookup(now, "Unhibernate");
    bool is_own = own != NULL && ad_eval_bool(own, now, NULL, context) != AD_TRUE;
    strbuf_init(&text, 0);
    strbuf_puts(&text, is_own ? "its UNHIBERNATE (" : "ROOSTER_UNHIBERNATE (");
    ad_expr_print(is_own ? own : node->rooster->unhibernate, AD_OLD, &text);
    if (text.length + 2 > sizeof node->queue.refused_by) {
        (void)snprintf(node->queue.refused_by, sizeof node->queue.refused_by, "%.*s...)",
                       (int)sizeof node->queue.refused_by - 5, strbuf_text(&text));
    } else {
        (void)snprintf(node->queue.refused_by, sizeof node->queue.refused_by, "%s)",
                       strbuf_text(&text));
    }
    strbuf_fini(&text);
}

/* Returns whether the machine may be woken for the jobs that wait for this slot: whether
 * ROOSTER_UNHIBERNATE is true at the present time and with the present queue.  A wake that has
 * begun goes on while the figures of the queue are not known. */
static bool may_wake(struct node *node, const struct ad *ad, const struct ad_context *context)
{
    const struct ad_expr *unhibernate = node->rooster->unhibernate;
    struct ad *now = ad_create();
    ad_chain(now, ad);
    queue_put(node, now);
    enum ad_truth truth = ad_eval_bool(unhibernate, now, NULL, context);
    bool reads = truth != AD_TRUE && pool_figures_are_read(unhibernate, now);
    bool is_begun = node->state == WAKE_WAKING || node->state == WAKE_BACKOFF;
    bool may = truth == AD_TRUE || (reads && is_begun && truth == AD_UNDEFINED);
    if (!may && !node->queue.is_refused) {
        note_refused(node, now, context);
    }
    node->queue.is_refused = node->queue.is_refused || !may;
    node->queue.is_needed = node->queue.is_needed || reads;
    ad_destroy(now);
    return may;
}

static void see_offline(struct rooster *rooster, struct node *node, const struct ad *ad,
                        const struct ad_context *context)
{
    node->asleep.has_ads = true;
    node->asleep.ad = ad;
    node->asleep.promised = room_of(ad);
    int64_t until_s = ad_int_or(ad, "PowerReclaimUntil", 0);
    node->asleep.slept_s = ad_int_or(ad, "OfflineSince", 0);
    node->asleep.order = ad_int_or(ad, "MyCurrentTime", 0);
    node->asleep.reclaim_until_s =
        until_s > node->asleep.reclaim_until_s ? until_s : node->asleep.reclaim_until_s;
    node->asleep.by_rooster = strcmp(ad_string_or(ad, "PowerMethod", ""), "rooster") == 0;
    bool is_kept_off = node_is_kept_off(ad);
    node->asleep.is_kept_off = node->asleep.is_kept_off || is_kept_off;
    see_adapter(node, ad);
    node->asleep.is_going_down =
        node->asleep.is_going_down || strcmp(ad_string_or(ad, "PowerState", ""), "GoingDown") == 0;
    (void)snprintf(node->asleep.boot_id, sizeof node->asleep.boot_id, "%s",
                   ad_string_or(ad, "OfflineBootId", ""));
    node->asleep.is_misshown = node->asleep.is_misshown ||
                               strcmp(ad_string_or(ad, "PowerState", ""), node_shown(node)) != 0 ||
                               !past_is_in(&node->history.past, ad) ||
                               !sleep_record_is_in(node, ad);
    see_promise(node, ad);
    guards_see_offline(node, ad);
    int64_t jobs = see_jobs(node, ad, context->now_s);
    uint64_t over = rooster->work.over;
    bool wanted = jobs != 0 && !is_kept_off && may_wake(node, ad, context);
    look_tell_costly(node, ad, "UNHIBERNATE", over);
    if (!wanted) {
        return;
    }
    over = rooster->work.over;
    double rank = rooster->rank != NULL ? ad_eval_rank(rooster->rank, ad, NULL, context) : 0;
    look_tell_costly(node, ad, "ROOSTER_UNHIBERNATE_RANK", over);
    bool first = !node->jobs.demand_it && !node->guard.reserve.spare;
    node->jobs.rank = first || rank > node->jobs.rank ? rank : node->jobs.rank;
    node->jobs.demand_it = true;
}

static void see_live(struct node *node, const struct ad *ad)
{
    node->awake.has_ads = true;
    node->awake.given = room_of(ad);
    guards_see_live(node, ad);
    node->awake.can_relay = strcmp(ad_string_or(ad, "PowerState", "On"), "GoingDown") != 0 &&
                            !offline_ads_is_silent(ad);
    see_adapter(node, ad);
    (void)snprintf(node->awake.boot_id, sizeof node->awake.boot_id, "%s",
                   ad_string_or(ad, "BootId", ""));
    node->awake.boot_s = ad_int_or(ad, "BootTime", 0);
}

static void forget_facts(struct node *node)
{
    node->awake.has_ads = node->asleep.has_ads = node->jobs.demand_it = node->asleep.is_misshown =
        node->awake.can_relay = node->silence.marked = node->silence.heard = false;
    node->asleep.is_going_down = node->asleep.is_kept_off = node->guard.reserve.spare = false;
    node->queue.is_refused = node->queue.is_needed = false;
    node->guard.slots = node->guard.slots_idle = 0;
    node->jobs.waiting = node->asleep.reclaim_until_s = 0;
    node->jobs.since_s = INT64_MAX;
    node->jobs.rank = 0;
    node->asleep.ad = NULL;
    node->awake.given =
        (struct node_room){0}; /* what was promised is kept: it is asked when it is up */
}

/* Before the other facts: what is shown of the machine depends on it. */
static void see_silence(struct node *node)
{
    for (size_t i = 0; i < node->ads.count; i++) {
        const struct ad *ad = ((const struct seen *)node->ads.items[i])->ad;
        bool is_marked = offline_ads_is_silent(ad);
        node->silence.marked = node->silence.marked || is_marked;
        node->silence.heard = node->silence.heard || (!is_marked && !offline_ads_is(ad));
        node->silence.since_s = ad_int_or(ad, OFFLINE_ADS_SILENT, node->silence.since_s);
    }
}

void look_see(struct node *node)
{
    struct rooster *rooster = node->rooster;
    const struct ad_context context = rooster_context(rooster);
    const struct node_adapter adapter = node->way.adapter;
    bool could_relay = node->awake.can_relay;
    node->look.number = rooster->looks;
    forget_facts(node);
    see_silence(node);
    for (size_t i = 0; i < node->ads.count; i++) {
        const struct ad *ad = ((const struct seen *)node->ads.items[i])->ad;
        if (offline_ads_is(ad)) {
            see_offline(rooster, node, ad, &context);
        } else {
            see_live(node, ad);
        }
    }
    if (node->awake.can_relay != could_relay ||
        (could_relay && strcmp(adapter.subnet, node->way.adapter.subnet) != 0)) {
        relays_look_again(rooster->relays);
    }
}
