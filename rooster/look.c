/* rooster/look.c - from the ads to the nodes.
 *
 * A change of a machine ad asks for a look at that machine (seen.c).  It is wanted when a request
 * waits for one of its slots (OfflineMatches, set by the negotiator), and UNHIBERNATE in that
 * slot's ad and ROOSTER_UNHIBERNATE are true; choose.c takes it from there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "offline_ads/offline_ads.h"
#include "offline_ads/offline_holds.h"
#include "rooster/energy.h"
#include "rooster/ledger.h"
#include "rooster/rooster.h"
#include "wire/watch.h"

/* Returns how many jobs wait for that slot. */
static int64_t see_jobs(struct node *node, const struct ad *ad, int64_t now_s)
{
    if (!ad_has(ad, "OfflineMatches")) {
        return 0;
    }
    struct offline_holds *holds = offline_holds_read(ad);
    (void)offline_holds_prune(holds, now_s);
    int64_t jobs = offline_holds_total(holds), since_s = offline_holds_since_s(holds);
    node->jobs_waiting += jobs;
    node->waiting_since_s = since_s < node->waiting_since_s ? since_s : node->waiting_since_s;
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
    const struct node_adapter *old = &node->adapter;
    if (adapter.port != old->port || adapter.wakes != old->wakes ||
        strcmp(adapter.hardware_address, old->hardware_address) != 0 ||
        strcmp(adapter.subnet, old->subnet) != 0) {
        node->adapter = adapter;
        node->judged = 0; /* perhaps there is a way to wake it now */
    }
}

/* Once for each sleep: it is kept until a live ad comes, which takes the offline ads' place. */
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
    return (struct ad_context){.now_s = loop_wall_s(rooster->env.loop),
                               .random_state = &rooster->random_state,
                               .work = &rooster->work};
}

void look_tell_costly(struct node *node, const struct ad *ad, const char *what, uint64_t over)
{
    if (node->rooster->work.over == over || node->told_costly) {
        return;
    }
    node->told_costly = true;
    log_warn(node->rooster->env.log, "wake.costly",
             "evaluating this in a machine's ad takes too many steps: it counts as error",
             LOG_TEXT("expression", what), LOG_TEXT("machine", node->name),
             LOG_TEXT("name", ad_string_or(ad, "Name", "")),
             LOG_TEXT("identity", ad_string_or(ad, "AuthenticatedIdentity", "")),
             LOG_INT("steps_max", ROOSTER_STEPS_MAX));
}

static void see_offline(struct rooster *rooster, struct node *node, const struct ad *ad,
                        const struct ad_context *context)
{
    node->offline = true;
    node->offline_ad = ad;
    node->promised = room_of(ad);
    int64_t until_s = ad_int_or(ad, "PowerReclaimUntil", 0);
    node->slept_s = ad_int_or(ad, "OfflineSince", 0);
    node->order = ad_int_or(ad, "MyCurrentTime", 0);
    node->reclaim_until_s = until_s > node->reclaim_until_s ? until_s : node->reclaim_until_s;
    node->by_rooster = strcmp(ad_string_or(ad, "PowerMethod", ""), "rooster") == 0;
    node->kept_off = node->kept_off || ad_bool_or(ad, "PowerKeptOff", false);
    see_adapter(node, ad);
    node->going_down =
        node->going_down || strcmp(ad_string_or(ad, "PowerState", ""), "GoingDown") == 0;
    (void)snprintf(node->offline_boot_id, sizeof node->offline_boot_id, "%s",
                   ad_string_or(ad, "OfflineBootId", ""));
    node->misshown = node->misshown ||
                     strcmp(ad_string_or(ad, "PowerState", ""), node_shown(node)) != 0 ||
                     !past_is_in(&node->past, ad) || !sleeps_is_in(node, ad);
    see_promise(node, ad);
    guards_see_offline(node, ad);
    int64_t jobs = see_jobs(node, ad, context->now_s);
    uint64_t over = rooster->work.over;
    bool wanted = jobs != 0 && ad_eval_bool(rooster->unhibernate, ad, NULL, context) == AD_TRUE;
    look_tell_costly(node, ad, "UNHIBERNATE", over);
    if (!wanted) {
        return;
    }
    over = rooster->work.over;
    double rank = rooster->rank != NULL ? ad_eval_rank(rooster->rank, ad, NULL, context) : 0;
    look_tell_costly(node, ad, "ROOSTER_UNHIBERNATE_RANK", over);
    bool first = !node->demanded && !node->guard.spare;
    node->rank = first || rank > node->rank ? rank : node->rank;
    node->demanded = true;
}

static void see_live(struct node *node, const struct ad *ad)
{
    node->live = true;
    node->given = room_of(ad);
    guards_see_live(node, ad);
    node->can_relay = strcmp(ad_string_or(ad, "PowerState", "On"), "GoingDown") != 0;
    see_adapter(node, ad);
    (void)snprintf(node->live_boot_id, sizeof node->live_boot_id, "%s",
                   ad_string_or(ad, "BootId", ""));
    node->live_boot_s = ad_int_or(ad, "BootTime", 0);
}

static void forget_facts(struct node *node)
{
    node->live = node->offline = node->demanded = node->misshown = node->can_relay = false;
    node->going_down = node->kept_off = node->guard.spare = false;
    node->guard.slots = node->guard.slots_idle = 0;
    node->jobs_waiting = node->reclaim_until_s = 0;
    node->waiting_since_s = INT64_MAX;
    node->rank = 0;
    node->offline_ad = NULL;
    node->given = (struct node_room){0}; /* what was promised is kept: it is asked when it is up */
}

void look_see(struct node *node)
{
    struct rooster *rooster = node->rooster;
    const struct ad_context context = rooster_context(rooster);
    const struct node_adapter adapter = node->adapter;
    bool could_relay = node->can_relay;
    node->looked = rooster->looks;
    forget_facts(node);
    for (size_t i = 0; i < node->ads.count; i++) {
        const struct ad *ad = ((const struct seen *)node->ads.items[i])->ad;
        if (offline_ads_is(ad)) {
            see_offline(rooster, node, ad, &context);
        } else {
            see_live(node, ad);
        }
    }
    if (node->can_relay != could_relay ||
        (could_relay && strcmp(adapter.subnet, node->adapter.subnet) != 0)) {
        relays_look_again(rooster->relays);
    }
}

static void record_sleep(struct node *node)
{
    struct rooster *rooster = node->rooster;
    char id[LEDGER_ID_SIZE];
    struct ad *record = ad_create();
    ledger_new_id(rooster->ledger, id);
    ad_set_string(record, "MyType", "Wake");
    ad_set_string(record, "Name", id);
    ad_set_string(record, "WakeId", id);
    ad_set_string(record, "Kind", "Sleep");
    ad_set_string(record, "Machine", node->name);
    ad_set_string(record, "AskedBy", "startd");
    ad_set_string(record, "Reason", ad_string_or(node->offline_ad, "PowerStateReason", ""));
    ad_set_int(record, "StartTime", ad_int_or(node->offline_ad, "LastHeardFrom", 0));
    ad_set_int(record, "EndTime", loop_wall_s(rooster->env.loop));
    ad_set_string(record, "Outcome", "Asleep");
    ad_set_string(record, "BootId", node->offline_boot_id);
    if (node->past.is_compared) { /* also of a boot that nobody here asked for */
        ad_set_string(record, "Differed", node->past.differed);
    }
    ledger_put(rooster->ledger, id, record, NULL, NULL);
    ad_destroy(record);
}

/* A rooster that was started anew finds in the offline ad that its earlier life had given the
 * machine up: it stays so for the rest of the time. */
static void recall(struct node *node)
{
    struct rooster *rooster = node->rooster;
    if (node->known || !node->offline) {
        return;
    }
    node->known = true;
    if (node->going_down) {
        return; /* sleeps.c knows */
    }
    const char *shown = ad_string_or(node->offline_ad, "PowerState", "Off");
    if (node->state != WAKE_OFF || strcmp(shown, wake_state_name(WAKE_OFF)) == 0) {
        return;
    }
    const struct config *config = rooster->env.config;
    int64_t left_s = 0, most_s = config_duration_s(config, "ROOSTER_QUARANTINE");
    if (strcmp(shown, wake_state_name(WAKE_QUARANTINED)) == 0) {
        left_s = ad_int_or(node->offline_ad, "PowerQuarantineUntil",
                           ad_int_or(node->offline_ad, "EnteredPowerState", 0) + most_s) -
                 loop_wall_s(rooster->env.loop);
    }
    if (left_s <= 0) {
        node_move(node, WAKE_OFF, "nothing is known against it");
        return;
    }
    node->state = WAKE_QUARANTINED;
    node->since_s = ad_int_or(node->offline_ad, "EnteredPowerState", 0);
    (void)snprintf(node->reason, sizeof node->reason, "%s",
                   ad_string_or(node->offline_ad, "PowerStateReason", ""));
    int64_t grown_s = config_duration_s(config, "ROOSTER_QUARANTINE_MAX");
    most_s = most_s > grown_s ? most_s : grown_s;
    node->retry_at_ms =
        loop_now_ms(rooster->env.loop) + (uint64_t)(left_s < most_s ? left_s : most_s) * 1000;
}

/* What the ads say decides; a state that was only in our head gives way. */
static void follow_ads(struct node *node)
{
    recall(node);
    bool up = node->live && !node->offline;
    if (!up && node->going_down && !node->live && node->state != WAKE_STAYING &&
        sleeps_look(node)) {
        if (node->misshown && node->showing == 0) {
            node_show(node);
        }
        return;
    }
    if (node->offline && node->state == WAKE_OFF) {
        sleeps_settled(node);
    }
    if (up && node->state != WAKE_UP) {
        node_is_up(node);
    } else if (!up && node->offline && node->state == WAKE_UP) {
        node_is_asleep(node, ad_string_or(node->offline_ad, "PowerStateReason", "asleep"));
        if (node->seen_up && node->sleep_id[0] == '\0') {
            record_sleep(node);
        } else {
            sleeps_settled(node); /* it had asked */
        }
    } else if (node->state == WAKE_OFF && node->nap_s != 0 && node->demanded) {
        node_napped(node);
    } else if (node->state == WAKE_BACKOFF && !node->demanded && !node->ordered &&
               !(node->guard.reserving && guards_missing(node->rooster) >= 0)) {
        node_give_up(node);
        node_move(node, WAKE_OFF, "nobody waits for it any more");
    } else if (node->state == WAKE_QUARANTINED &&
               loop_now_ms(node->rooster->env.loop) >= node->retry_at_ms) {
        node_move(node, WAKE_OFF, "it may be tried again"); /* nobody holds one that failed */
    } else if (node->misshown && node->showing == 0 && !node->ordering) {
        node_show(node); /* a lost MERGE, or no way to wake it */
    }
    node->seen_up = up || (node->seen_up && !node->offline);
}

void look_now(struct rooster *rooster)
{
    rooster->looks++;
    choose_due(rooster);
    struct vec nodes = rooster->marked;
    rooster->marked = (struct vec){0}; /* what follows marks others, for the next look */
    for (size_t i = 0; i < nodes.count; i++) {
        struct node *node = nodes.items[i];
        node->marked = false;
        look_see(node);
        follow_ads(node);
        energy_look(node);
        guards_count(node);
        choose_from(node);
    }
    vec_fini(&nodes, NULL);
    choose_wakes(rooster);
}

void look(void *arg)
{
    struct rooster *rooster = arg;
    if (watch_is_synced(rooster->watch)) {
        look_now(rooster);
    } /* else: the copy asks again when it is complete */
}
