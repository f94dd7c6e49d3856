/* startd/slot/slot.c - one slot: its ad and its moves.
 *
 * A slot's ad is made anew whenever something in it changes.  It is what is sent, what START and
 * HIBERNATE are evaluated in, and what becomes the offline ad.  Claim ids are made here: 128 secret
 * bits after a readable prefix.  They go with the ad and are not attributes of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/slot/slot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "startd/sleep/adapter.h"
#include "startd/advertise_due.h"
#include "startd/slot/carve_plan.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/draining_facts.h"
#include "startd/machine/figures.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate_look.h"
#include "startd/machine/inventory_plan.h"
#include "startd/claim/job_ckpt.h"
#include "startd/slot/slot_facts.h"
#include "startd/slot/slot_fixed.h"
#include "startd/slot/slot_knobs.h"
#include "startd/slot/slot_plan.h"
#include "startd/startd_context.h"
#include "startd/startd_state.h"
#include "store/store.h"
#include "wire/checkpoint_attrs.h"
#include "wire/daemon_ad.h"
#include "wire/secret_list.h"
#include "wire/wire.h"

/* ---- claim ids */

#define LIFETIME_MS    300000 /* of claim ids that nobody used */
#define REPLACE_IDS_MS 5000   /* shortest time between two replacements of refused claim ids */

static void mint_id(const struct slot *slot, char ret[CLAIM_ID_MAX])
{
    unsigned char secret[16];
    char hex[33];
    loop_secret(slot->startd->env.loop, secret, sizeof secret);
    text_hex(secret, sizeof secret, hex);
    (void)snprintf(ret, CLAIM_ID_MAX, "%.100s#%.36s#%s", slot->name, slot->startd->machine.boot_id,
                   hex);
}

/* Makes as many claim ids as there may be pieces.  Existing ones stay, the oldest first, because
 * the negotiator may have given them away. */
static void mint_for_pieces(struct slot *slot)
{
    struct resources free;
    slot_free_resources(slot, &free);
    size_t wanted = carve_plan_offers(&free);
    while (slot->piece_ids.count > wanted) {
        size_t last = slot->piece_ids.count - 1;
        mem_free(slot->piece_ids.items[last]);
        vec_remove_at(&slot->piece_ids, last);
    }
    while (slot->piece_ids.count < wanted) {
        char id[CLAIM_ID_MAX];
        mint_id(slot, id);
        vec_push(&slot->piece_ids, mem_strdup(id));
    }
}

void slot_mint(struct slot *slot)
{
    slot->minted_ms = loop_now_ms(slot->startd->env.loop);
    slot->has_refused = false;
    if (slot->kind == SLOT_PARTITIONABLE) {
        vec_clear(&slot->piece_ids, mem_free);
        mint_for_pieces(slot);
    } else {
        mint_id(slot, slot->claim_id);
    }
}

void slot_id_refused(struct slot *slot, const char *claim_id)
{
    uint64_t now_ms = loop_now_ms(slot->startd->env.loop);
    if (slot->replaced_ms != 0 && now_ms - slot->replaced_ms < REPLACE_IDS_MS) {
        slot->has_refused = true; /* policy_poll() replaces it */
        return;
    }
    for (size_t i = 0; i < slot->piece_ids.count; i++) {
        char *id = slot->piece_ids.items[i];
        if (strcmp(id, claim_id) == 0) { /* slot_build() makes another one */
            vec_remove_at(&slot->piece_ids, i);
            mem_free(id);
            break;
        }
    }
    if (slot->kind != SLOT_PARTITIONABLE) {
        slot_mint(slot);
    }
    slot->replaced_ms = now_ms;
    slot_refresh(slot);
}

bool slot_ids_are_old(const struct slot *slot)
{
    uint64_t now_ms = loop_now_ms(slot->startd->env.loop);
    return now_ms - slot->minted_ms >= LIFETIME_MS ||
           (slot->has_refused && now_ms - slot->replaced_ms >= REPLACE_IDS_MS);
}

/* ---- the ad */

static void set_kind(const struct slot *slot, struct ad *ad)
{
    static const char *const TYPES[] = {"Static", "Partitionable", "Dynamic"};
    ad_set_int(ad, "SlotID", slot->id);
    ad_set_string(ad, "SlotType", TYPES[slot->kind]);
    ad_set_int(ad, "SlotTypeID", slot->kind == SLOT_DYNAMIC ? -slot->type_id : slot->type_id);
    if (slot->kind == SLOT_PARTITIONABLE) {
        ad_set_bool(ad, "PartitionableSlot", true);
    } else if (slot->kind == SLOT_DYNAMIC) {
        ad_set_bool(ad, "DynamicSlot", true);
        ad_set_int(ad, "DSlotID", slot->piece_id);
        ad_set_string(ad, "ParentSlotName", slot->parent->name);
    }
}

/* Computes what a job may have of the slot: of a partitionable slot what its pieces leave, of the
 * disk what is free. */
static void shown_resources(struct slot *slot, struct resources *ret)
{
    struct startd *startd = slot->startd;
    const struct config *config = startd->env.config;
    int64_t *disk = &ret->amount[RESOURCE_DISK];
    *ret = slot->total;
    if (slot->kind == SLOT_PARTITIONABLE) {
        slot_free_resources(slot, ret);
    }
    if (slot->kind != SLOT_DYNAMIC) {
        uint64_t now_ms = loop_now_ms(startd->env.loop);
        if (startd->division.disk_seen_ms != now_ms) { /* many slots are built at a time */
            startd->division.disk_free_kib =
                os_disk_free_kib(startd->env.os, config_path(config, "EXECUTE"));
            startd->division.disk_seen_ms = now_ms;
        }
        int64_t free_kib =
            startd->division.disk_free_kib - config_int(config, "RESERVED_DISK") * 1024;
        if (slot->kind == SLOT_STATIC && slot->type_id == 0) {
            *disk = free_kib / (int64_t)startd->machine_slots;
        } else if (free_kib < *disk) {
            *disk = free_kib; /* others have filled it */
        }
    }
}

static void set_resources(struct slot *slot, struct ad *ad)
{
    struct startd *startd = slot->startd;
    struct resources shown;
    shown_resources(slot, &shown);
    carve_plan_write(startd->division.kinds, &shown, "", "", ad);
    carve_plan_write(startd->division.kinds, &slot->total, "TotalSlot", "", ad);
    carve_plan_write_ids(startd->division.kinds, &shown, ad);
    ad_merge(ad, startd->division.inventory);
    inventory_plan_write(startd->division.kinds, &shown, ad);
    ad_set_int(ad, "TotalSlots", (int64_t)startd->slot_count);
}

/* Sets the machine's attributes that change; the constant ones come from slot_fixed.c. */
static void set_machine(struct slot *slot, struct ad *ad)
{
    struct startd *startd = slot->startd;
    ad_set_string(ad, "Name", slot->name);
    set_kind(slot, ad);
    set_resources(slot, ad);
    adapter_write(startd, ad);
}

static void set_claim(const struct slot *slot, struct ad *ad)
{
    const struct claim *claim = slot->claim;
    if (claim == NULL) {
        return;
    }
    ad_set_string(ad, "ScheddName", claim->schedd.name);
    ad_set_string(ad, "ClientMachine", claim->schedd.name);
    if (claim->job.id[0] != '\0') {
        ad_set_string(ad, "JobId", claim->job.id);
    }
    if (claim->job.shown != NULL) {
        ad_merge(ad, claim->job.shown);
    }
    if (claim_plan_has_run(claim->stage) && claim->run.start_ms != 0) {
        int64_t run_s = claim_run_s(claim);
        job_ckpt_put_run(claim, ad);
        struct ad_context context = startd_context(slot->startd);
        ad_set_int(ad, "RetirementTimeRemaining",
                   slot_plan_retirement_s(ad, claim->job.ad, run_s, &context));
    }
    if (slot->waiting != NULL && slot->waiting->job.shown != NULL) {
        static const char *const PAIRS[][2] = {{"PreemptingUser", "RemoteUser"},
                                               {"PreemptingOwner", "RemoteOwner"},
                                               {"PreemptingRank", "CurrentRank"},
                                               {"PreemptingConcurrencyLimits",
                                                "ConcurrencyLimits"}};
        for (size_t i = 0; i < ARRAY_COUNT(PAIRS); i++) {
            (void)ad_copy_attr(ad, PAIRS[i][0], slot->waiting->job.shown, PAIRS[i][1]); /* if any */
        }
    }
}

/* Returns what is sent beside the slot's ad: the claim ids that may be given away. */
static struct secret_list *offered_ids(const struct slot *slot)
{
    const struct startd *startd = slot->startd;
    if (going_down_takes_none(startd) || startd->stopping || startd->farewell.begun ||
        draining_is_due(slot) || store_full(startd->store) != 0) {
        return NULL;
    }
    const struct wire_secret own = {SECRET_CLAIM_ID, 0, slot->claim_id};
    if (slot->kind != SLOT_PARTITIONABLE) {
        return secret_list_create(&own, slot->claim_id[0] != '\0' ? 1 : 0);
    }
    size_t count = slot->piece_ids.count;
    struct wire_secret *ids = mem_alloc((count + 1) * sizeof *ids);
    for (size_t i = 0; i < count; i++) {
        ids[i] = (struct wire_secret){SECRET_CLAIM_ID, 0, slot->piece_ids.items[i]};
    }
    struct secret_list *list = secret_list_create(ids, count);
    mem_free(ids);
    return list;
}

static void set_activity(const struct slot *slot, struct ad *ad)
{
    ad_set_string(ad, "State", slot_state_name(slot->state));
    ad_set_string(ad, "Activity", slot_activity_name(slot->activity));
}

static void set_state(struct slot *slot, struct ad *ad)
{
    struct startd *startd = slot->startd;
    set_activity(slot, ad);
    ad_set_string(ad, "PowerState",
                  going_down_has_begun(startd)                              ? "GoingDown"
                  : going_down_is_leaving(startd) || startd->farewell.begun ? "Draining"
                                                                            : "On");
    hibernate_look_put(startd, ad);
    hibernate_look_put_reclaim(startd, ad);
}

/* ---- what a partitionable slot tells of its pieces: HTCondor's Child... lists */

enum child_list {
    CHILD_NAME,
    CHILD_ID,
    CHILD_STATE,
    CHILD_ACTIVITY,
    CHILD_USER,
    CHILD_RANK,
    CHILD_ENTERED,
    CHILD_LISTS
};

static void add_string(struct strbuf *list, const char *text)
{
    struct ad *one = ad_create(); /* prints it with what must be escaped */
    ad_set_string(one, "S", text);
    ad_expr_print(ad_lookup(one, "S"), AD_NEW, list);
    ad_destroy(one);
}

static void add_child(const struct slot *child, struct strbuf lists[CHILD_LISTS],
                      struct strbuf amounts[RESOURCE_KINDS_MAX], bool first)
{
    const char *comma = first ? "" : ", ";
    const struct ad *shown = child->claim != NULL ? child->claim->job.shown : NULL;
    for (size_t i = 0; i < CHILD_LISTS; i++) {
        strbuf_puts(&lists[i], comma);
    }
    add_string(&lists[CHILD_NAME], child->name);
    strbuf_printf(&lists[CHILD_ID], "%d", child->piece_id);
    add_string(&lists[CHILD_STATE], slot_state_name(child->state));
    add_string(&lists[CHILD_ACTIVITY], slot_activity_name(child->activity));
    add_string(&lists[CHILD_USER], shown != NULL ? ad_string_or(shown, "RemoteUser", "") : "");
    strbuf_printf(&lists[CHILD_RANK], "%.15g",
                  shown != NULL ? ad_real_or(shown, "CurrentRank", 0.0) : 0.0);
    strbuf_printf(&lists[CHILD_ENTERED], "%lld",
                  (long long)loop_wall_of_s(child->startd->env.loop, child->entered_state_ms));
    for (size_t i = 0; i < child->startd->division.kinds->count; i++) {
        int64_t amount = child->total.amount[i];
        strbuf_printf(&amounts[i], "%s%lld", comma, (long long)amount);
    }
}

static void set_list(struct ad *ad, const char *name, struct strbuf *items)
{
    struct strbuf text;
    struct err err;
    strbuf_init(&text, 0);
    strbuf_printf(&text, "{%s}", strbuf_text(items));
    if (ad_set_expr(ad, name, strbuf_text(&text), &err) != 0) {
        ad_set_error(ad, name); /* a name that no string can hold */
    }
    strbuf_fini(&text);
}

static void set_children(const struct slot *slot, struct ad *ad)
{
    static const char *const NAMES[CHILD_LISTS] = {[CHILD_NAME] = "ChildName",
                                                   [CHILD_ID] = "ChildDSlotId",
                                                   [CHILD_STATE] = "ChildState",
                                                   [CHILD_ACTIVITY] = "ChildActivity",
                                                   [CHILD_USER] = "ChildRemoteUser",
                                                   [CHILD_RANK] = "ChildCurrentRank",
                                                   [CHILD_ENTERED] = "ChildEnteredCurrentState"};
    const struct startd *startd = slot->startd;
    struct strbuf lists[CHILD_LISTS], amounts[RESOURCE_KINDS_MAX];
    int64_t count = 0;
    for (size_t i = 0; i < CHILD_LISTS; i++) {
        strbuf_init(&lists[i], 0);
    }
    for (size_t i = 0; i < startd->division.kinds->count; i++) {
        strbuf_init(&amounts[i], 0);
    }
    for (size_t i = startd->machine_slots; i < startd->slot_count; i++) {
        if (startd->slots[i]->parent == slot) {
            add_child(startd->slots[i], lists, amounts, count == 0);
            count++;
        }
    }
    ad_set_int(ad, "NumDynamicSlots", count);
    for (size_t i = 0; i < CHILD_LISTS; i++) {
        set_list(ad, NAMES[i], &lists[i]);
        strbuf_fini(&lists[i]);
    }
    for (size_t i = 0; i < startd->division.kinds->count; i++) {
        char name[RESOURCE_NAME_MAX + 8];
        (void)snprintf(name, sizeof name, "Child%s",
                       startd->division.kinds->kinds[i].name); /* fits */
        set_list(ad, name, &amounts[i]);
        strbuf_fini(&amounts[i]);
    }
}

/* A token that ends soon is shown as a problem of the machine (collector/inspect_plan.h). */
static void put_token(const struct slot *slot, struct ad *ad)
{
    struct wire_context *wires = slot->startd->wires;
    int64_t ends_s = wires != NULL ? wire_context_token_ends_s(wires) : 0;
    if (ends_s != 0) {
        ad_set_int(ad, "TokenExpires", ends_s);
    } else {
        ad_remove(ad, "TokenExpires");
    }
}

void slot_build(struct slot *slot)
{
    struct ad *ad = ad_copy(slot_fixed_machine(slot->startd));
    set_machine(slot, ad);
    ad_merge(ad, slot_fixed_rules(slot->startd, slot->type_id));
    set_state(slot, ad);
    draining_put(slot, ad);
    figures_write(slot, ad);
    put_token(slot, ad);
    daemon_ad_put_store(ad, store_problem(slot->startd->store),
                        store_damaged_rows(slot->startd->store));
    set_claim(slot, ad);
    if (slot->kind == SLOT_PARTITIONABLE) {
        mint_for_pieces(slot);
        slot_knobs_show_modifiers(slot->startd, ad);
        set_children(slot, ad);
    }
    secret_list_unref(slot->offered);
    slot->offered = offered_ids(slot);
    ad_destroy(slot->ad);
    slot->ad = ad;
    slot->changed = true;
    slot->stale = false;
}

void slot_renew(struct slot *slot)
{
    if (slot->stale) {
        slot_build(slot);
        return;
    }
    struct resources shown;
    shown_resources(slot, &shown);
    ad_set_int(slot->ad, "Disk", shown.amount[RESOURCE_DISK] > 0 ? shown.amount[RESOURCE_DISK] : 0);
    figures_write(slot, slot->ad);
    put_token(slot, slot->ad);
    set_claim(slot, slot->ad);
}

void slot_refresh(struct slot *slot)
{
    figures_freshen(slot->startd);
    slot_build(slot);
    if (slot->parent != NULL) {
        slot_build(slot->parent);
    }
    advertise_soon(slot->startd);
}

/* The ad is made when it is sent; attributes that are looked at before are set at once. */
static void make_stale(struct slot *slot)
{
    set_activity(slot, slot->ad);
    slot->changed = slot->stale = true;
    if (slot->parent != NULL) {
        slot->parent->changed = slot->parent->stale = true;
    }
}

/* Between two jobs of a claim only the attributes that START may look at are set.  The rest of the
 * ad, and the parent's ad, are made when they are sent, which is not done for each of many short
 * jobs. */
static void slot_flap(struct slot *slot)
{
    static const char *const OF_A_JOB[] = {"JobStart", "RetirementTimeRemaining", "TotalJobRunTime",
                                           "TotalJobSuspendTime", CKPT_SLOT_LAST};
    make_stale(slot);
    for (size_t i = 0; i < ARRAY_COUNT(OF_A_JOB); i++) {
        ad_remove(slot->ad, OF_A_JOB[i]);
    }
    figures_write(slot, slot->ad);
    set_claim(slot, slot->ad);
    advertise_flap(slot->startd);
}

/* ---- moves */

static bool is_flap(const struct slot *slot, enum slot_state state, enum slot_activity activity)
{
    return slot->state == SLOT_CLAIMED && state == SLOT_CLAIMED &&
           (slot->activity == SLOT_IDLE || slot->activity == SLOT_BUSY) &&
           (activity == SLOT_IDLE || activity == SLOT_BUSY);
}

void slot_move(struct slot *slot, enum slot_state state, enum slot_activity activity)
{
    struct startd *startd = slot->startd;
    if (state == slot->state && activity == slot->activity) {
        slot_refresh(slot);
        return;
    }
    CHECK(slot_plan_may_move(slot->state, slot->activity, state, activity));
    int64_t now_ms = (int64_t)loop_now_ms(startd->env.loop);
    log_info(startd->env.log, "slot.state", "changed state", LOG_TEXT("slot", slot->name),
             LOG_TEXT("from", slot_state_name(slot->state)),
             LOG_TEXT("from_activity", slot_activity_name(slot->activity)),
             LOG_TEXT("to", slot_state_name(state)),
             LOG_TEXT("to_activity", slot_activity_name(activity)));
    if (state != slot->state) {
        slot->entered_state_ms = now_ms;
        if (!slot_plan_is_free(slot->state) || !slot_plan_is_free(state)) {
            slot->claim_id[0] = '\0';
            if (slot_plan_is_free(state) || state == SLOT_CLAIMED) {
                slot_mint(slot); /* Claimed: for who would preempt */
            }
        }
    }
    if (state == SLOT_MATCHED) {
        startd->last_match_ms = now_ms;
    }
    bool flap = is_flap(slot, state, activity);
    bool drained = slot->state == SLOT_DRAINED || state == SLOT_DRAINED; /* many, twice in a row */
    slot->entered_activity_ms = now_ms;
    slot->state = state;
    slot->activity = activity;
    if (startd->poll.rests) { /* now the figures may matter */
        startd->poll.rests = false;
        loop_timer_set(startd->poll.timer, 0);
    }
    if (flap) {
        slot_flap(slot);
    } else if (drained) {
        make_stale(slot);
        advertise_soon(startd);
    } else {
        slot_refresh(slot);
    }
    draining_moved(startd);
}
