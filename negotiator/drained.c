/* negotiator/drained.c - takes back machines that are on their way down, rather than waking others.
 *
 * A machine that is drained to save power (Reclaimable, docs/protocol/drain.md, section 4) has idle
 * slots that could run jobs at once if the draining were cancelled.  To the plan such a slot is an
 * offline one, preferred to those of sleeping machines, with the ad that it will have.  Its holds
 * are not written into its ad, which is live and belongs to the startd, but kept here.  The startd
 * is asked (POWER_RECLAIM), and its next ads are the answer.  The holds end with those ads; with a
 * refusal (then the slot rests, as after a refused MERGE, and the jobs are held elsewhere); or
 * after HOLD_S, if nothing follows.  A negotiator that is killed meanwhile forgets them; the next
 * one sees a machine that is up.
 *
 * Rejected: OfflineMatches in the live ad, for the rooster to see.  The startd's next UPDATE would
 * remove it, and a machine that does not answer would keep its jobs waiting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/negotiator.h"
#include "offline_ads/offline_ads.h"
#include "offline_ads/offline_holds.h"
#include "wire/wire.h"

#define ASK_MS 10000
#define HOLD_S 30

struct ad *drained_as_if(const struct ad *ad)
{
    if (offline_ads_is(ad) || offline_ads_is_silent(ad) || ad_bool_or(ad, "Absent", false) ||
        ad_bool_or(ad, "PowerLocked", false) || !ad_bool_or(ad, "DrainingReclaimable", false) ||
        !ad_has(ad, "ReclaimStart") || strcmp(ad_string_or(ad, "State", ""), "Drained") != 0) {
        return NULL; /* a slot that still runs a job will be of no use to others */
    }
    struct ad *as_if = ad_copy(ad);
    (void)ad_copy_attr(as_if, "Start", ad, "ReclaimStart"); /* it is there */
    ad_set_string(as_if, "State", "Unclaimed");
    ad_set_string(as_if, "Activity", "Idle");
    ad_set_string(as_if, "PowerState", "On");
    ad_remove(as_if, "Draining");
    return as_if;
}

struct offline_holds *drained_held(const struct pool_slot *slot)
{
    struct offline_holds *holds = offline_holds_create();
    for (size_t i = 0; i < offline_holds_entries(slot->pending); i++) {
        (void)offline_holds_add(holds, offline_holds_at(slot->pending, i)); /* there was room */
    }
    return holds;
}

int64_t drained_until_s(const struct negotiator *negotiator)
{
    return loop_wall_s(negotiator->env.loop) + HOLD_S;
}

/* Replaces the slot's holds; takes over holds.  NULL: none. */
static void keep_holds(struct pool_slot *slot, struct offline_holds *holds)
{
    offline_holds_destroy(slot->pending);
    slot->pending = holds;
    negotiator_slot_touched(slot);
}

struct asked {
    struct negotiator *negotiator;
    char *slot; /* its name: it may be gone when the answer comes */
};

static void reclaim_answered(void *arg, struct wire_reply *reply)
{
    struct asked *asked = arg;
    struct negotiator *negotiator = asked->negotiator;
    struct pool_slot *slot = strmap_get(negotiator->slots, asked->slot);
    if (slot != NULL) {
        slot->merging = false;
        negotiator_slot_touched(slot);
        if (slot->as_if == NULL || reply->status != 0) {
            keep_holds(slot, NULL); /* its ads have told already; or it will not be had */
        }
    }
    if (reply->status != 0) {
        log_info(negotiator->env.log, "reclaim.refused", reply->text, LOG_TEXT("slot", asked->slot),
                 LOG_INT("status", reply->status));
        if (slot != NULL && slot->as_if != NULL) {
            negotiator_slot_rests(negotiator, slot);
        }
    }
    mem_free(asked->slot);
    mem_free(asked);
    negotiator_cycle_soon(negotiator);
}

void drained_holds(struct negotiator *negotiator, struct pool_slot *slot,
                   struct offline_holds *holds, const char *why)
{
    struct wire *wire = uplink_wire(negotiator->uplink);
    if (why == NULL) {
        keep_holds(slot, holds);
        return;
    }
    struct asked *asked = mem_alloc(sizeof *asked);
    *asked = (struct asked){.negotiator = negotiator, .slot = mem_strdup(slot->name)};
    struct ad *args = ad_create();
    ad_set_int(args, "Jobs", offline_holds_total(holds));
    ad_set_string(args, "Reason", why);
    const struct wire_body body = {.args = args};
    if (wire != NULL &&
        wire_relay(wire, ad_string_or(slot->as_if, "StartdUplink", ""), VERB_POWER_RECLAIM, &body,
                   ASK_MS, reclaim_answered, asked) > 0) {
        log_info(negotiator->env.log, "reclaim", why, LOG_TEXT("slot", slot->name));
        slot->merging = true;
        keep_holds(slot, holds);
    } else { /* when there is a collector again */
        offline_holds_destroy(holds);
        mem_free(asked->slot);
        mem_free(asked);
    }
    ad_destroy(args);
}
