/* rooster/look.c - examines machines: from their ads to their state.
 *
 * A changed machine ad causes an examination of that machine (seen.c).  A machine is wanted when a
 * request waits for one of its slots (OfflineMatches, set by the negotiator) and both UNHIBERNATE
 * in that slot's ad and ROOSTER_UNHIBERNATE are true.  choose.c does the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/look.h"

#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/loop.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "rooster/clock.h"
#include "rooster/choose.h"
#include "rooster/energy.h"
#include "rooster/ledger.h"
#include "rooster/nodes.h"
#include "rooster/queue_ask.h"
#include "rooster/rooster.h"
#include "rooster/silence.h"
#include "rooster/sleep_record.h"
#include "rooster/sleeps.h"
#include "rooster/still_up.h"
#include "rooster/wakes.h"
#include "wire/watch.h"

static void record_sleep(struct node *node)
{
    struct rooster *rooster = node->rooster;
    bool left_ads = node->asleep.boot_id[0] != '\0'; /* else the rooster made them (silence.c) */
    ledger_new_id(rooster->ledger, node->sleep.past_id);
    const struct ledger_record record = {
        .id = node->sleep.past_id,
        .kind = "Sleep",
        .machine = node->name,
        .asked_by = left_ads ? ASKED_BY_STARTD : ASKED_BY_NOBODY,
        .outcome = "Asleep",
        .reason = ad_string_or(node->asleep.ad, "PowerStateReason", ""),
        .boot_id = node->asleep.boot_id,
        .differed = past_differed(&node->history.past), /* also of a boot that nobody asked for */
        .began_s = ad_int_or(node->asleep.ad, "LastHeardFrom", 0)};
    ledger_put(rooster->ledger, &record, NULL, NULL);
}

/* After a restart: if the offline ad says that the earlier rooster gave the machine up, keeps it in
 * quarantine for the rest of the time. */
static void recall_quarantine(struct node *node)
{
    struct rooster *rooster = node->rooster;
    if (node->look.recalled || !node->asleep.has_ads) {
        return;
    }
    node->look.recalled = true;
    if (node->asleep.is_going_down) {
        return; /* sleeps.c knows */
    }
    const char *shown = ad_string_or(node->asleep.ad, "PowerState", "Off");
    if (node->state != WAKE_OFF || strcmp(shown, wake_state_name(WAKE_OFF)) == 0) {
        return;
    }
    const struct config *config = rooster->env.config;
    int64_t left_s = 0, most_s = config_duration_s(config, "ROOSTER_QUARANTINE");
    if (strcmp(shown, wake_state_name(WAKE_QUARANTINED)) == 0) {
        left_s = ad_int_or(node->asleep.ad, "PowerQuarantineUntil",
                           ad_int_or(node->asleep.ad, "EnteredPowerState", 0) + most_s) -
                 rooster_now_s(rooster);
    }
    if (left_s <= 0) {
        node_move(node, WAKE_OFF, "no wake is under way and no quarantine is in effect");
        return;
    }
    node->state = WAKE_QUARANTINED;
    node->since_s = ad_int_or(node->asleep.ad, "EnteredPowerState", 0);
    (void)snprintf(node->reason, sizeof node->reason, "%s",
                   ad_string_or(node->asleep.ad, "PowerStateReason", ""));
    int64_t grown_s = config_duration_s(config, "ROOSTER_QUARANTINE_MAX");
    most_s = most_s > grown_s ? most_s : grown_s;
    node->wake.retry_at_ms =
        loop_now_ms(rooster->env.loop) + (uint64_t)(left_s < most_s ? left_s : most_s) * 1000;
}

/* Sets the state by the ads, which override a state known only to us. */
static void follow_ads(struct node *node)
{
    recall_quarantine(node);
    bool up = node->awake.has_ads && !node->asleep.has_ads &&
              (node->state == WAKE_UP || !node_is_silent(node)); /* else it is to be woken */
    if (!up && node->asleep.is_going_down && !node->awake.has_ads && node->state != WAKE_STAYING &&
        sleeps_look(node)) {
        if (node->asleep.is_misshown && node->showing == 0) {
            node_show(node);
        }
        return;
    }
    if (node->asleep.has_ads && node->state == WAKE_OFF) {
        sleep_record_settled(node);
    }
    if (!up && node->state == WAKE_WAKING) {
        still_up_repeat(node);
    }
    if (up && node->state != WAKE_UP) {
        still_up_woke(node);
        node_is_up(node);
    } else if (!up && node->asleep.has_ads && node->state == WAKE_UP) {
        if (node->look.saw_up) {
            still_up_slept(node);
        }
        node_is_asleep(node, ad_string_or(node->asleep.ad, "PowerStateReason", "asleep"));
        if (node->look.saw_up && node->sleep.id[0] == '\0') {
            record_sleep(node);
        } else {
            sleep_record_settled(node); /* it had asked */
        }
    } else if (node->state == WAKE_OFF && node->history.nap_s != 0 && node->jobs.demand_it) {
        node_napped(node);
    } else if (node->state == WAKE_BACKOFF && !node->jobs.demand_it && !node->asked.by_name &&
               !(node->guard.reserve.reserving && guards_missing(node->rooster) >= 0)) {
        node_give_up(node);
        node_move(node, WAKE_OFF, "no job waits for the machine any more");
    } else if (node->state == WAKE_QUARANTINED &&
               loop_now_ms(node->rooster->env.loop) >= node->wake.retry_at_ms) {
        /* nobody holds one that failed */
        node_move(node, WAKE_OFF, "the quarantine is over; the machine may be woken again");
    } else if (node->asleep.is_misshown && node->showing == 0 && !node->ordering) {
        node_show(node); /* a lost MERGE, or no way to wake it */
    }
    node->look.saw_up = up || (node->look.saw_up && !node->asleep.has_ads);
}

void look_now(struct rooster *rooster)
{
    rooster->looks++;
    choose_due(rooster);
    struct vec nodes = rooster->marked;
    rooster->marked = (struct vec){0}; /* what follows marks others, for the next look */
    for (size_t i = 0; i < nodes.count; i++) {
        struct node *node = nodes.items[i];
        node->look.marked = false;
        look_see(node);
        follow_ads(node);
        silence_look(node);
        energy_look(node);
        guards_count(node);
        choose_from(node);
        if (node->queue.is_needed) {
            queue_need(node);
        }
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
