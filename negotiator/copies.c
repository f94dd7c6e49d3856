/* negotiator/copies.c - our copies of slots and requests, read once for each change of an ad, and
 * what the plan is told of them.
 *
 * What the plan must know of a slot is its ad and what we did that the ad does not show yet: claim
 * ids that were given out, holds that were requested.  The plan is told of changed slots before the
 * next cycle; requests are few and told in every cycle.
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
#include "negotiator/significant_plan.h"
#include "offline_ads/offline_ads.h"
#include "offline_ads/offline_holds.h"
#include "wire/secret_list.h"
#include "wire/watch.h"

/* ---- numbers */

static uint32_t take_number(struct numbering *numbers, void *item)
{
    if (numbers->free.count == 0) {
        vec_push(&numbers->items, item);
        return (uint32_t)numbers->items.count - 1;
    }
    size_t number = (size_t)(uintptr_t)numbers->free.items[--numbers->free.count];
    numbers->items.items[number] = item;
    return (uint32_t)number;
}

static void give_number(struct numbering *numbers, uint32_t number)
{
    numbers->items.items[number] = NULL;
    vec_push(&numbers->free, (void *)(uintptr_t)number);
}

/* ---- slots */

static void slot_destroy(void *value)
{
    struct pool_slot *slot = value;
    secret_list_unref(slot->ids);
    ad_destroy(slot->as_if);
    vec_fini(&slot->under_way, NULL);
    offline_holds_destroy(slot->holds);
    offline_holds_destroy(slot->pending);
    mem_free(slot->use.submitter);
    mem_free(slot->limits);
    mem_free(slot->user);
    mem_free(slot->name);
    mem_free(slot);
}

static bool is_text(const struct ad *ad, const char *name, const char *value)
{
    return strcmp(ad_string_or(ad, name, ""), value) == 0;
}

/* A slot that may be taken back is to the plan like a sleeping one, with the ad that it will
 * have. */
static void read_reclaimable(struct negotiator *negotiator, struct pool_slot *slot)
{
    slot->facts = (struct plan_slot){.name = slot->name,
                                     .machine = ad_string_or(slot->as_if, "Machine", ""),
                                     .ad = slot->as_if,
                                     .serial = ++negotiator->next_serial,
                                     .number = slot->facts.number,
                                     .offline = true,
                                     .use = PLAN_USE_FREE,
                                     .reclaimable = true,
                                     .multiplicity = 1};
}

/* Takes over the claim ids of the slot that may be given out. */
static void take_ids(struct pool_slot *slot, struct secret_list *ids, bool partitionable)
{
    secret_list_unref(slot->ids);
    slot->ids = secret_list_ref(ids);
    slot->claim_id = secret_list_find(ids, SECRET_CLAIM_ID);
    slot->id_count = slot->claim_id[0] == '\0' ? 0 : partitionable ? secret_list_count(ids) : 1;
}

static enum plan_use use_of(const struct pool_slot *slot, const struct ad *ad, bool offline,
                            bool absent)
{
    if (!offline && ad_bool_or(ad, "PowerLocked", false)) {
        return PLAN_USE_BUSY;
    }
    if (offline || (!absent && is_text(ad, "State", "Unclaimed"))) {
        return PLAN_USE_FREE;
    }
    if (is_text(ad, "State", "Matched") || is_text(ad, "State", "Preempting")) {
        return PLAN_USE_GIVEN;
    }
    return slot->user != NULL ? PLAN_USE_TAKEN : PLAN_USE_BUSY;
}

/* Returns the use of a live slot whose claim ids were all given out. */
static enum plan_use without_ids(enum plan_use use)
{
    switch (use) {
    case PLAN_USE_FREE:
        return PLAN_USE_GIVEN;
    case PLAN_USE_TAKEN:
        return PLAN_USE_BUSY;
    case PLAN_USE_GIVEN:
    case PLAN_USE_BUSY:
        break;
    }
    return use;
}

static void read_slot(struct negotiator *negotiator, struct pool_slot *slot, const struct ad *ad,
                      struct secret_list *ids)
{
    bool was_reclaimable = slot->as_if != NULL;
    ad_destroy(slot->as_if);
    slot->as_if = drained_as_if(ad);
    if (slot->as_if != NULL) {
        mem_free(slot->user);
        slot->user = NULL;
        take_ids(slot, NULL, false);
        offline_holds_destroy(slot->holds);
        slot->holds = NULL;
        slot->reclaim_until_s = 0;
        if (!was_reclaimable && !slot->merging) {
            offline_holds_destroy(slot->pending);
            slot->pending = NULL;
        }
        read_reclaimable(negotiator, slot);
        return; /* what holds it, and whether it rests, is not in its ad */
    }
    if (was_reclaimable && !slot->merging) {
        offline_holds_destroy(slot->pending);
        slot->pending = NULL;
    }
    bool offline = offline_ads_is(ad), absent = ad_bool_or(ad, "Absent", false);
    bool claimed = !absent && is_text(ad, "State", "Claimed");
    bool partitionable = ad_bool_or(ad, "PartitionableSlot", false);
    char user[ACCOUNTANT_NAME_MAX + 1];
    mem_free(slot->user);
    slot->user = claimed && usage_submitter(ad, user, sizeof user) ? mem_strdup(user) : NULL;
    offline_holds_destroy(slot->holds);
    take_ids(slot, offline ? NULL : ids, partitionable);
    slot->holds = offline && ad_has(ad, "OfflineMatches") ? offline_holds_read(ad) : NULL;
    enum plan_use use = use_of(slot, ad, offline, absent);
    slot->facts = (struct plan_slot){
        .name = slot->name,
        .machine = ad_string_or(ad, "Machine", ""),
        .ad = ad,
        .serial = ++negotiator->next_serial,
        .number = slot->facts.number,
        .offline = offline,
        /* A slot that does not answer keeps what it runs, but gets nothing. */
        .use = !offline && offline_ads_is_silent(ad) ? without_ids(use) : use,
        .waking = offline && is_text(ad, "PowerState", "Waking"),
        .barred = offline && offline_ads_is_barred(ad),
        .reclaimable = false, /* by the clock: update_slot() */
        .multiplicity = offline ? ad_int_or(ad, "OfflineMultiplicity", 1) : 1,
        .user = slot->user,
        .current_rank = ad_real_or(ad, "CurrentRank", 0),
    };
    wake_rules_read(slot);
    slot->reclaim_until_s = offline ? ad_int_or(ad, "PowerReclaimUntil", 0) : 0;
    slot->rest_until_ms = 0; /* news of it: what was refused may be welcome now */
    slot->refusals = 0;
}

void copies_slot_changed(void *arg, const char *key, const struct ad *ad)
{
    struct negotiator *negotiator = arg;
    struct pool_slot *slot = strmap_get(negotiator->slots, key);
    bool is_new = slot == NULL;
    if (is_new) {
        slot = mem_zalloc(sizeof *slot);
        slot->negotiator = negotiator;
        slot->name = mem_strdup(key);
        slot->facts.number = take_number(&negotiator->slot_numbers, slot);
        (void)strmap_set(negotiator->slots, key, slot); /* was absent */
    }
    read_slot(negotiator, slot, ad, watch_secrets(negotiator->watches.slots, key));
    given_read(slot);
    usage_slot(negotiator, slot, ad, is_new);
    shares_slot_changed(slot, ad);
    if (significant_slot(negotiator->significant, slot->as_if != NULL ? slot->as_if : ad)) {
        negotiator_ad_send(negotiator);
    }
    negotiator_slot_touched(slot);
    negotiator_cycle_soon(negotiator);
}

void copies_slot_gone(void *arg, const char *key)
{
    struct negotiator *negotiator = arg;
    struct pool_slot *slot = strmap_remove(negotiator->slots, key);
    if (slot != NULL) {
        trimmer_moved(&negotiator->watches.trimmer, 1);
        usage_slot_gone(negotiator, slot);
        prompt_slot_gone(slot);
        negotiator_plan_drop_slot(negotiator->plan, slot->facts.number);
        give_number(&negotiator->slot_numbers, slot->facts.number);
        slot_destroy(slot);
    }
    negotiator_cycle_soon(negotiator);
}

/* Finds jobs that were given a piece which is not made yet: the slot's ad still has their claim
 * ids. */
static void find_under_way(struct pool_slot *slot, struct plan_slot *facts)
{
    vec_clear(&slot->under_way, NULL);
    for (size_t i = 0; i < slot->id_count; i++) {
        struct ad *job = given_job(slot->negotiator, secret_list_items(slot->ids)[i].text);
        if (job != NULL) {
            vec_push(&slot->under_way, job);
        }
    }
    facts->under_way = (const struct ad *const *)slot->under_way.items;
    facts->under_way_count = slot->under_way.count;
}

/* Makes sure that the plan is told of the slot again at at_s at the latest. */
static void look_at(struct pool_slot *slot, int64_t at_s)
{
    slot->update_at_s = at_s < slot->update_at_s ? at_s : slot->update_at_s;
}

static void update_slot(struct negotiator *negotiator, struct pool_slot *slot)
{
    struct plan_slot facts = slot->facts;
    struct offline_holds *holds = slot->pending != NULL ? slot->pending : slot->holds;
    slot->update_at_s = INT64_MAX;
    if (facts.offline) {
        if (holds != NULL) {
            (void)offline_holds_prune(holds, loop_wall_s(negotiator->env.loop));
        }
        for (size_t i = 0; i < offline_holds_entries(holds); i++) {
            look_at(slot, offline_holds_at(holds, i)->until_s);
        }
        facts.holds = holds;
        facts.unwilling = slot->unwilling;
        if (slot->reclaim_until_s > loop_wall_s(negotiator->env.loop)) {
            facts.reclaimable = true;
            look_at(slot, slot->reclaim_until_s);
        }
        uint64_t now_ms = loop_now_ms(negotiator->env.loop);
        if (slot->rest_until_ms > now_ms) {
            int64_t over_s = loop_wall_s(negotiator->env.loop) +
                             (int64_t)((slot->rest_until_ms - now_ms + 999) / 1000);
            facts.barred = true;
            look_at(slot, over_s);
        }
        if (slot->update_at_s < negotiator->update_at_s) {
            negotiator->update_at_s = slot->update_at_s;
        }
    } else {
        facts.user =
            facts.user != NULL && slot->use.submitter != NULL ? slot->use.submitter : facts.user;
        facts.pieces = given_count_free(slot);
        find_under_way(slot, &facts);
        if (facts.pieces == 0) {
            facts.use = without_ids(facts.use);
        }
    }
    if (negotiator_plan_set_slot(negotiator->plan, &facts) != 0) {
        log_warn(negotiator->env.log, "slot.left_out", "too many slots; this slot gets no jobs",
                 LOG_TEXT("slot", slot->name));
    }
}

/* Marks slots whose holds have ended, or whose rest after a refusal is over. */
static void touch_what_is_over(struct negotiator *negotiator)
{
    int64_t now_s = loop_wall_s(negotiator->env.loop);
    if (now_s < negotiator->update_at_s) {
        return;
    }
    negotiator->update_at_s = INT64_MAX;
    for (size_t i = 0; i < negotiator->slot_numbers.items.count; i++) {
        struct pool_slot *slot = negotiator->slot_numbers.items.items[i];
        if (slot == NULL || slot->update_at_s == INT64_MAX) {
            continue;
        }
        if (slot->update_at_s <= now_s) {
            negotiator_slot_touched(slot);
        } else if (slot->update_at_s < negotiator->update_at_s) {
            negotiator->update_at_s = slot->update_at_s;
        }
    }
}

/* ---- requests */

static void request_destroy(void *value)
{
    struct pool_request *request = value;
    mem_free(request->limits);
    mem_free(request->name);
    mem_free(request);
}

static void read_request(struct negotiator *negotiator, struct pool_request *request,
                         const struct ad *ad)
{
    struct plan_request *facts = &request->facts;
    facts->name = request->name;
    facts->schedd = ad_string_or(ad, "ScheddName", "");
    facts->user = ad_string_or(ad, "SubmitterName", ad_string_or(ad, "User", ""));
    facts->auto_cluster = ad_int_or(ad, "AutoClusterId", 0);
    facts->ad = ad;
    facts->serial = ++negotiator->next_serial;
    facts->count = ad_int_or(ad, "JobCount", 0);
    facts->waiting = ad_int_or(ad, "JobsWaiting", 0);
    facts->prio = ad_int_or(ad, "JobPrio", 0);
    facts->qdate_s = ad_int_or(ad, "QDate", 0);
    mem_free(request->limits);
    const char *limits = ad_string_or(ad, "ConcurrencyLimits", "");
    facts->limits = request->limits = limits[0] != '\0' ? mem_strdup(limits) : NULL;
}

void copies_request_changed(void *arg, const char *key, const struct ad *ad)
{
    struct negotiator *negotiator = arg;
    struct pool_request *request = strmap_get(negotiator->requests, key);
    if (request == NULL) {
        request = mem_zalloc(sizeof *request);
        request->negotiator = negotiator;
        request->name = mem_strdup(key);
        request->facts.number = take_number(&negotiator->request_numbers, request);
        (void)strmap_set(negotiator->requests, key, request); /* was absent */
    }
    read_request(negotiator, request, ad);
    accountant_know(negotiator->accountant, request->facts.user);
    update_prio_know(negotiator, request->facts.schedd);
    request->rest_until_ms = 0; /* news from its schedd */
    request->unexplained = true;
    negotiator_cycle_soon(negotiator);
}

void copies_request_gone(void *arg, const char *key)
{
    struct negotiator *negotiator = arg;
    struct pool_request *request = strmap_remove(negotiator->requests, key);
    if (request != NULL) {
        trimmer_moved(&negotiator->watches.trimmer, 1);
        negotiator_plan_drop_request(negotiator->plan, request->facts.number);
        give_number(&negotiator->request_numbers, request->facts.number);
        prompt_request_gone(request);
        request_destroy(request);
    }
    negotiator_cycle_soon(negotiator);
}

/* ---- both */

void copies_update(struct negotiator *negotiator)
{
    uint64_t now_ms = loop_now_ms(negotiator->env.loop);
    touch_what_is_over(negotiator);
    for (size_t i = 0; i < negotiator->dirty.count; i++) {
        struct pool_slot *slot =
            negotiator->slot_numbers.items.items[(size_t)(uintptr_t)negotiator->dirty.items[i]];
        if (slot != NULL && slot->dirty) { /* it may be gone, or another may have its number */
            slot->dirty = false;
            update_slot(negotiator, slot);
        }
    }
    vec_clear(&negotiator->dirty, NULL);
    for (size_t i = 0; i < negotiator->request_numbers.items.count; i++) {
        struct pool_request *request = negotiator->request_numbers.items.items[i];
        if (request == NULL) {
            continue;
        }
        request->facts.resting =
            now_ms < request->rest_until_ms || offline_ads_is_silent(request->facts.ad);
        request->unexplained = request->unexplained || negotiator->cycle.full;
        request->facts.explain = rejections_due(request) || request->watched;
        if (request->limits != NULL && now_ms < negotiator->limits_from_ms) {
            request->facts.resting = true;
            if (!loop_timer_is_set(negotiator->rest_timer)) {
                loop_timer_set(negotiator->rest_timer, negotiator->limits_from_ms - now_ms);
            }
        }
        if (negotiator_plan_set_request(negotiator->plan, &request->facts) != 0) {
            log_warn(negotiator->env.log, "request.left_out",
                     "too many requests; this request gets no slots",
                     LOG_TEXT("request", request->name));
        }
    }
}

void copies_create(struct negotiator *negotiator)
{
    negotiator->slots = strmap_create(STRMAP_CASE_IGNORED);
    negotiator->requests = strmap_create(STRMAP_CASE_SENSITIVE);
    negotiator->plan = negotiator_plan_create();
    negotiator->update_at_s = INT64_MAX;
}

void copies_destroy(struct negotiator *negotiator)
{
    negotiator_plan_destroy(negotiator->plan);
    strmap_destroy(negotiator->slots, slot_destroy);
    strmap_destroy(negotiator->requests, request_destroy);
    vec_fini(&negotiator->dirty, NULL);
    vec_fini(&negotiator->slot_numbers.items, NULL);
    vec_fini(&negotiator->request_numbers.items, NULL);
    vec_fini(&negotiator->slot_numbers.free, NULL);
    vec_fini(&negotiator->request_numbers.free, NULL);
}
