/* startd/draining_facts.c - see draining_facts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "startd/draining_facts.h"

#include <errno.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/sleep/going_down.h"
#include "startd/slot/slot.h"
#include "startd/startd_state.h"
#include "store/store.h"
#include "wire/wire.h"

#define HELD_MAX 4096 /* calls kept while an offer stands; more are refused */

bool draining_stands(const struct startd *startd)
{
    return startd->draining.phase == DRAIN_OFFERED;
}

bool draining_keeps(struct startd *startd, struct wire_request *request, bool of_claim)
{
    if (!draining_stands(startd)) {
        return false;
    }
    if (startd->draining.held.count >= HELD_MAX) {
        wire_reply_error(request, -EBUSY,
                         "%s: the machine waits for a drain request to be committed", startd->name);
        return true;
    }
    struct held *one = mem_alloc(sizeof *one);
    *one = (struct held){.request = request, .of_claim = of_claim};
    vec_push(&startd->draining.held, one);
    return true;
}

bool draining_is_on(const struct startd *startd)
{
    return startd->draining.phase == DRAIN_ACTIVE || startd->draining.phase == DRAIN_COMPLETE;
}

bool draining_orders_sleep(const struct draining *draining)
{
    return draining->request.then == DRAIN_THEN_SLEEP || draining->request.then == DRAIN_THEN_OFF;
}

bool draining_slot(const struct slot *slot)
{
    return draining_is_on(slot->startd) &&
           drain_request_names(&slot->startd->draining.request, slot->name);
}

static bool counts_start(const struct startd *startd)
{
    return startd->draining.request.start != NULL && !startd->draining.last;
}

bool draining_is_due(const struct slot *slot)
{
    bool may_go_on = slot->claim == NULL || slot->claim->retirement.accepted;
    return draining_slot(slot) && !(may_go_on && counts_start(slot->startd));
}

bool draining_is_peaceful(const struct slot *slot)
{
    return slot->startd->draining.request.schedule == DRAIN_PEACEFUL && draining_is_due(slot);
}

/* For a slot that is drained, before Start is set to false: writes whether jobs may take the
 * machine back. */
static void put_reclaimable(const struct slot *slot, struct ad *ad)
{
    if (slot->startd->draining.request.reclaimable) {
        ad_set_bool(ad, "DrainingReclaimable", true);
        (void)ad_copy_attr(ad, "ReclaimStart", ad, "Start"); /* absent: nothing matches */
    }
}

static void put_cancel(const struct drain_cancel *cancelled, struct ad *ad)
{
    if (cancelled->at_s == 0) {
        return;
    }
    ad_set_int(ad, "LastDrainCancelTime", cancelled->at_s);
    ad_set_string(ad, "LastDrainCanceller", cancelled->by);
    if (cancelled->id[0] != '\0') {
        ad_set_string(ad, "LastDrainCancelledId", cancelled->id);
    }
}

void draining_put(const struct slot *slot, struct ad *ad)
{
    const struct draining *draining = &slot->startd->draining;
    put_cancel(&draining->cancelled, ad);
    if (!draining_slot(slot) ||
        (going_down_has_begun(slot->startd) && draining_orders_sleep(draining))) {
        return; /* an offline ad says what the machine is when it is woken */
    }
    put_reclaimable(slot, ad);
    const char *start = counts_start(slot->startd) ? draining->request.start : "false";
    (void)ad_set_expr_old(ad, "Start", start, NULL); /* it parsed when the request came */
    ad_set_bool(ad, "Draining", true);
    ad_set_string(ad, "DrainingRequestId", draining->id);
    ad_set_string(ad, "DrainingRequester", draining->requester);
    ad_set_string(ad, "DrainingSchedule", drain_schedule_name(draining->request.schedule));
    ad_set_int(ad, "LastDrainStartTime", draining->began_s);
    if (draining->request.deadline_s > 0) {
        ad_set_int(ad, "DrainingDeadline", draining->request.deadline_s);
    }
    ad_set_string(ad, "PowerState", "Draining");
    if (draining->request.reason != NULL) {
        ad_set_string(ad, "DrainReason", draining->request.reason);
    }
}

void draining_save(struct startd *startd, void (*done)(void *arg))
{
    const struct draining *draining = &startd->draining;
    struct ad *ad = ad_create();
    struct strbuf bytes;
    if (draining_is_on(startd)) {
        drain_request_write(&draining->request, ad);
        ad_set_int(ad, "Phase", draining->phase);
        ad_set_string(ad, "Id", draining->id);
        ad_set_string(ad, "Requester", draining->requester);
        ad_set_int(ad, "Began", draining->began_s);
    }
    ad_set_string(ad, "BootId", startd->machine.boot_id);
    ad_set_int(ad, "UnclaimedTime", draining->totals.unclaimed_s);
    ad_set_int(ad, "BadputTime", draining->totals.badput_s);
    ad_set_int(ad, "CountedToUptime", draining->totals.counted_s);
    ad_set_int(ad, "Counting", draining->totals.counting);
    strbuf_init(&bytes, STORE_VALUE_MAX);
    ad_encode(ad, true, &bytes);
    struct store_txn *txn = store_begin(startd->store);
    store_put(txn, "draining", "now", bytes.data, bytes.length);
    store_commit(txn, done, startd);
    strbuf_fini(&bytes);
    ad_destroy(ad);
}

void draining_moved(struct startd *startd)
{
    if (draining_is_on(startd)) {
        loop_timer_set(startd->draining.look_timer, 0);
    }
}

void draining_run_over(struct claim *claim)
{
    if (claim->retirement.drained &&
        !claim->starter.delivered) { /* it may have ended just in time */
        drain_totals_evicted(&claim->startd->draining.totals, claim_run_s(claim));
        draining_save(claim->startd, NULL);
    }
    claim->retirement.drained = claim->starter.delivered = false;
}
