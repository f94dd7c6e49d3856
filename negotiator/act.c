/* negotiator/act.c - carries out what a plan decided: MATCH to schedds, MERGE into offline ads.
 *
 * A claim id is given out once (given.c).  A request's match counts as in flight until the schedd
 * has answered; the changed request ad arrives before that answer, because the hub keeps the order.
 * Holds that were requested count as held until the collector has answered.
 *
 * A request whose schedd declined, or cannot be reached, rests for a second, or until its ad
 * changes.  Otherwise the same match would be tried again and again as long as the ad of a dead
 * schedd exists.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/negotiator.h"
#include "offline_ads/offline_holds.h"
#include "wire/wire.h"

#define MATCH_MS 10000
#define REST_MS  1000

/* A MATCH or MERGE under way.  It has names and no pointers, because slot and request may be gone
 * when the answer comes. */
struct flight {
    struct negotiator *negotiator;
    char *slot, *request;
    char *claim_id; /* for a MATCH */
};

static struct flight *flight_create(struct negotiator *negotiator, const char *slot,
                                    const char *request)
{
    struct flight *flight = mem_alloc(sizeof *flight);
    *flight = (struct flight){.negotiator = negotiator,
                              .slot = mem_strdup(slot),
                              .request = request != NULL ? mem_strdup(request) : NULL};
    return flight;
}

static void flight_destroy(struct flight *flight)
{
    mem_free(flight->slot);
    mem_free(flight->request);
    mem_free(flight->claim_id);
    mem_free(flight);
}

static void match_answered(void *arg, struct wire_reply *reply)
{
    struct flight *flight = arg;
    struct negotiator *negotiator = flight->negotiator;
    struct pool_request *request = strmap_get(negotiator->requests, flight->request);
    struct pool_slot *slot = strmap_get(negotiator->slots, flight->slot);
    if (slot != NULL && slot->in_flight > 0) { /* else another slot has this name by now */
        slot->in_flight--;
    }
    if (request != NULL && request->facts.in_flight > 0) {
        request->facts.in_flight--;
    }
    if (request != NULL && reply->status == 0 && reply->args != NULL) {
        /* Its changed ad comes a moment later: until then this job would be looked after twice. */
        request->facts.count = ad_int_or(reply->args, "JobCount", request->facts.count);
        request->facts.waiting = ad_int_or(reply->args, "JobsWaiting", 0);
    }
    if (given_was_declined(reply->status)) {
        given_take_back(negotiator, flight->claim_id);
    } else {
        given_answered(negotiator, flight->claim_id, reply->status);
    }
    if (reply->status != 0) {
        shares_declined(negotiator, flight->slot, flight->claim_id);
        log_info(negotiator->env.log, "match.declined", reply->text, LOG_TEXT("slot", flight->slot),
                 LOG_TEXT("request", flight->request), LOG_INT("status", reply->status));
        if (request != NULL) {
            request->rest_until_ms = loop_now_ms(negotiator->env.loop) + REST_MS;
            loop_timer_set(negotiator->rest_timer, REST_MS);
        }
    }
    flight_destroy(flight);
    negotiator_cycle_soon(negotiator);
}

static const char *const PREEMPTION[] = {
    [PLAN_FREE] = NULL, [PLAN_BY_RANK] = "Rank", [PLAN_BY_PRIORITY] = "Priority"};

void act_match(struct negotiator *negotiator, struct pool_slot *slot, struct pool_request *request,
               const struct plan_match *match)
{
    struct wire *wire = uplink_wire(negotiator->uplink);
    const struct ad *slot_ad = slot->facts.ad, *request_ad = request->facts.ad;
    const char *claim_id = given_free_id(slot);
    if (wire == NULL || claim_id == NULL) {
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "RequestName", request->name);
    ad_set_int(args, "AutoClusterId", ad_int_or(request_ad, "AutoClusterId", 0));
    ad_set_string(args, "SlotName", slot->name);
    ad_set_string(args, "Machine", ad_string_or(slot_ad, "Machine", ""));
    ad_set_string(args, "StartdUplink", ad_string_or(slot_ad, "StartdUplink", ""));
    if (PREEMPTION[match->preemption] != NULL) {
        ad_set_string(args, "Preemption", PREEMPTION[match->preemption]);
    }
    const struct wire_secret id = {SECRET_CLAIM_ID, SECRET_OF_ARGS, claim_id};
    const struct wire_body body = {
        .args = args, .ads = &slot_ad, .ad_count = 1, .secrets = &id, .secret_count = 1};
    struct flight *flight = flight_create(negotiator, slot->name, request->name);
    flight->claim_id = mem_strdup(claim_id);
    given_add(negotiator, flight->claim_id, slot, request_ad);
    if (wire_relay(wire, ad_string_or(request_ad, "ScheddUplink", ""), VERB_MATCH, &body, MATCH_MS,
                   match_answered, flight) > 0) {
        request->facts.in_flight++;
        slot->in_flight++;
        const struct shares_match charged = {.slot = slot->name,
                                             .claim_id = flight->claim_id,
                                             .submitter = request->facts.user,
                                             .limits = request->limits,
                                             .weight = match->weight};
        shares_matched(negotiator, &charged);
        log_info(negotiator->env.log, match->preemption == PLAN_FREE ? "match" : "match.preempt",
                 "a slot was matched to a request", LOG_TEXT("slot", slot->name),
                 LOG_TEXT("request", request->name));
    } else { /* not sent: nobody knows the id */
        given_take_back(negotiator, flight->claim_id);
        flight_destroy(flight);
    }
    ad_destroy(args);
}

static void holds_merged(void *arg, struct wire_reply *reply)
{
    struct flight *flight = arg;
    struct negotiator *negotiator = flight->negotiator;
    struct pool_slot *slot = strmap_get(negotiator->slots, flight->slot);
    if (slot != NULL) {
        slot->merging = false;
        offline_holds_destroy(slot->pending);
        slot->pending = NULL; /* the ad shows it by now, or it was refused */
        negotiator_slot_touched(slot);
    }
    if (reply->status != 0) {
        log_info(negotiator->env.log, "hold.refused", reply->text, LOG_TEXT("slot", flight->slot),
                 LOG_INT("status", reply->status));
        if (slot != NULL) {
            negotiator_slot_rests(negotiator, slot);
        }
    }
    flight_destroy(flight);
    negotiator_cycle_soon(negotiator);
}

void act_holds(struct negotiator *negotiator, struct pool_slot *slot, struct offline_holds *holds,
               bool is_match)
{
    struct wire *wire = uplink_wire(negotiator->uplink);
    struct ad *args = ad_create(), *change = ad_create();
    ad_set_string(args, "Type", "Machine");
    ad_set_string(args, "Name", slot->name);
    ad_set_bool(args, "Durable", true);
    offline_holds_write(holds, change);
    if (!ad_has(change, "OfflineMatches")) {
        (void)ad_set_expr(change, "OfflineMatches", "{}", NULL); /* a constant text: cannot fail */
    }
    if (is_match) {
        ad_set_int(change, "MachineLastMatchTime", loop_wall_s(negotiator->env.loop));
    }
    const struct ad *ads[1] = {change};
    const struct wire_body body = {.args = args, .ads = ads, .ad_count = 1};
    struct flight *flight = flight_create(negotiator, slot->name, NULL);
    if (wire != NULL && wire_call(wire, VERB_MERGE, &body, 0, holds_merged, flight) > 0) {
        slot->merging = true;
        offline_holds_destroy(slot->pending);
        slot->pending = holds;
        negotiator_slot_touched(slot);
        log_info(negotiator->env.log, "hold",
                 is_match ? "a sleeping machine is held for a request"
                          : "a hold on a sleeping machine was removed",
                 LOG_TEXT("slot", slot->name), LOG_INT("jobs", offline_holds_total(holds)));
    } else {
        flight_destroy(flight);
        offline_holds_destroy(holds);
    }
    ad_destroy(args);
    ad_destroy(change);
}
