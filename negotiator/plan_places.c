/* negotiator/plan_places.c - decides in which heap each slot is, and what is left of it: see
 * plan_state.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/plant.h"
#include "classad/ad.h"
#include "negotiator/plan_state.h"

#define WEIGHT_MAX 1e9

/* ---- heaps */

static bool is_before(const struct negotiator_plan *plan, uint32_t a, uint32_t b)
{
    return plan->slots[a].order < plan->slots[b].order;
}

static void put_at(struct negotiator_plan *plan, struct heap *heap, uint32_t at, uint32_t slot)
{
    heap->slots[at] = slot;
    plan->slots[slot].at = at;
}

static void sift_up(struct negotiator_plan *plan, struct heap *heap, uint32_t at)
{
    uint32_t slot = heap->slots[at];
    while (at > 0 && is_before(plan, slot, heap->slots[(at - 1) / 2])) {
        put_at(plan, heap, at, heap->slots[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put_at(plan, heap, at, slot);
}

static void sift_down(struct negotiator_plan *plan, struct heap *heap, uint32_t at)
{
    uint32_t slot = heap->slots[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= heap->count) {
            break;
        }
        if (child + 1 < heap->count &&
            is_before(plan, heap->slots[child + 1], heap->slots[child])) {
            child++;
        }
        if (!is_before(plan, heap->slots[child], slot)) {
            break;
        }
        put_at(plan, heap, at, heap->slots[child]);
        at = child;
    }
    put_at(plan, heap, at, slot);
}

static void set_open(struct negotiator_plan *plan, uint32_t kind, enum place place, bool open)
{
    uint32_t at = kind / 64;
    uint64_t bit = 1ULL << kind % 64, *word = &plan->open[place][at];
    *word = open ? *word | bit : *word & ~bit;
    uint64_t any = 1ULL << at % 64, *summary = &plan->open_any[place][at / 64];
    *summary = *word != 0 ? *summary | any : *summary & ~any;
}

void plan_unplace(struct negotiator_plan *plan, struct slot *slot)
{
    if (slot->place == PLACE_NONE) {
        return;
    }
    struct heap *heap = &plan->kind_slots[slot->kind_now].heaps[slot->place];
    uint32_t at = slot->at, last = heap->slots[--heap->count];
    if (at < heap->count) {
        put_at(plan, heap, at, last);
        sift_up(plan, heap, at);
        sift_down(plan, heap, plan->slots[last].at);
    }
    if (heap->count == 0) {
        set_open(plan, slot->kind_now, slot->place, false);
    }
    if (slot->place == PLACE_CLAIMED) {
        plan->rank_groups[plan->kind_slots[slot->kind_now].group].count--;
    }
    slot->place = PLACE_NONE;
}

/* ---- kinds of slots */

static int64_t weight_of(const struct ad *ad)
{
    double weight = ad_real_or(ad, "SlotWeight", ad_real_or(ad, "Cpus", 1));
    if (!(weight >= 0 && weight < WEIGHT_MAX)) {
        weight = 1;
    }
    return llround(weight * 1000);
}

static void widen_open(struct negotiator_plan *plan, uint32_t kind)
{
    size_t words = kind / 64 + 1;
    if (words <= plan->open_words) {
        return;
    }
    words = 2 * words + 4;
    for (int i = 0; i < PLACE_COUNT; i++) {
        plan->open[i] = mem_realloc(plan->open[i], words * sizeof *plan->open[i]);
        memset(plan->open[i] + plan->open_words, 0,
               (words - plan->open_words) * sizeof *plan->open[i]);
        size_t before = plan->open_words > 0 ? plan->open_words / 64 + 1 : 0,
               after = words / 64 + 1;
        plan->open_any[i] = mem_realloc(plan->open_any[i], after * sizeof *plan->open_any[i]);
        memset(plan->open_any[i] + before, 0, (after - before) * sizeof *plan->open_any[i]);
    }
    plan->open_words = words;
}

struct group_wanted {
    const struct negotiator_plan *plan;
    uint64_t hash;
};

static bool same_group(const void *arg, uint32_t id)
{
    const struct group_wanted *wanted = arg;
    return wanted->plan->rank_groups[id].hash == wanted->hash;
}

static uint32_t rank_group_of(struct negotiator_plan *plan, uint32_t kind)
{
    uint64_t hash = kinds_rank_class(plan->kinds, KINDS_SLOT, kind);
    const struct group_wanted wanted = {.plan = plan, .hash = hash};
    uint32_t id = number_table_find(&plan->rank_group_table, hash, same_group, &wanted);
    if (id != NUMBER_NONE) {
        return id;
    }
    if (plan->rank_group_count == plan->rank_group_room) {
        plan->rank_group_room = plan->rank_group_room > 0 ? 2 * plan->rank_group_room : 16;
        plan->rank_groups =
            mem_realloc(plan->rank_groups, plan->rank_group_room * sizeof *plan->rank_groups);
    }
    id = plan->rank_group_count++;
    plan->rank_groups[id] = (struct rank_group){.hash = hash};
    number_table_add(&plan->rank_group_table, hash, id);
    return id;
}

void plan_forget_kinds(struct negotiator_plan *plan)
{
    for (uint32_t i = 0; i < plan->slot_room; i++) {
        if (plan->slots[i].there) {
            plan_unplace(plan, &plan->slots[i]);
        }
    }
    for (uint32_t i = 0; i < plan->kind_room; i++) {
        plan->kind_slots[i].serial = 0;
    }
    number_table_fini(&plan->rank_group_table);
    plan->rank_group_count = 0;
}

/* Returns the data of a kind, made if needed. */
static struct kind_slots *plan_kind(struct negotiator_plan *plan, uint32_t kind)
{
    if (kind >= plan->kind_room) {
        uint32_t room = kind + kind / 2 + 16;
        plan->kind_slots = mem_realloc(plan->kind_slots, room * sizeof *plan->kind_slots);
        memset(plan->kind_slots + plan->kind_room, 0,
               (room - plan->kind_room) * sizeof *plan->kind_slots);
        plan->kind_room = room;
    }
    widen_open(plan, kind);
    struct kind_slots *slots = &plan->kind_slots[kind];
    uint64_t serial = kinds_serial(plan->kinds, KINDS_SLOT, kind);
    if (slots->serial != serial) {
        const struct ad *ad = kinds_ad(plan->kinds, KINDS_SLOT, kind);
        slots->serial = serial;
        slots->is_split = ad_bool_or(ad, "PartitionableSlot", false);
        slots->weight = weight_of(ad);
        slots->group = rank_group_of(plan, kind);
        if (slots->is_split) {
            piece_names(ad, &slots->names);
        }
    }
    return slots;
}

static void place_in(struct negotiator_plan *plan, struct slot *slot, enum place place)
{
    if (place == PLACE_NONE) {
        return;
    }
    struct heap *heap = &plan_kind(plan, slot->kind_now)->heaps[place];
    if (heap->count == heap->room) {
        heap->room = heap->room > 0 ? 2 * heap->room : 4;
        heap->slots = mem_realloc(heap->slots, heap->room * sizeof *heap->slots);
    }
    if (place == PLACE_CLAIMED) {
        struct kind_slots *kind = &plan->kind_slots[slot->kind_now];
        bool lower = heap->count == 0 || slot->facts.current_rank < kind->lowest_rank;
        kind->lowest_rank = lower ? slot->facts.current_rank : kind->lowest_rank;
        struct rank_group *group = &plan->rank_groups[kind->group];
        lower = group->count++ == 0 || slot->facts.current_rank < group->lowest_rank;
        group->lowest_rank = lower ? slot->facts.current_rank : group->lowest_rank;
        group->kind = slot->kind_now;
    }
    heap->slots[heap->count] = plan_slot_number(plan, slot);
    sift_up(plan, heap, heap->count++);
    slot->place = place;
    if (heap->count == 1) {
        set_open(plan, slot->kind_now, place, true);
    }
}

static void change_kind(struct negotiator_plan *plan, struct slot *slot, uint32_t kind)
{
    if (slot->kind_now != NUMBER_NONE) {
        kinds_unref(plan->kinds, KINDS_SLOT, slot->kind_now);
    }
    slot->kind_now = kind; /* with its owner */
}

void plan_no_remnant(struct negotiator_plan *plan, struct slot *slot)
{
    if (slot->kind_now != slot->kind) {
        kinds_ref(plan->kinds, KINDS_SLOT, slot->kind);
        change_kind(plan, slot, slot->kind);
    }
}

/* Gives the slot the kind of what is left of it. */
static void make_remnant(struct negotiator_plan *plan, struct slot *slot)
{
    const char *names[PIECE_NAMES_MAX];
    const struct piece_names *of = &plan_kind(plan, slot->kind)->names;
    for (size_t i = 0; i < of->count; i++) {
        names[i] = of->names[i];
    }
    uint32_t kind =
        kinds_derive(plan->kinds, KINDS_SLOT, slot->kind, names, slot->left.amounts, of->count);
    change_kind(plan, slot, kind);
    verdicts_add(plan->verdicts, KINDS_SLOT, kind);
    (void)plan_kind(plan, kind);
}

static bool piece_for(struct negotiator_plan *plan, const struct kind_slots *kind, uint32_t number,
                      const struct request *request, struct piece *ret)
{
    return piece_of_job(kinds_ad(plan->kinds, KINDS_JOB, request->kind),
                        kinds_ad(plan->kinds, KINDS_SLOT, number), &kind->names, plan->context,
                        ret);
}

bool plan_has_room(struct negotiator_plan *plan, const struct kind_slots *kind, uint32_t number,
                   const struct request *request)
{
    struct piece free, wanted;
    piece_of_slot(kinds_ad(plan->kinds, KINDS_SLOT, number), &kind->names, &free);
    return piece_for(plan, kind, number, request, &wanted) &&
           piece_fits(&free, &wanted, kind->names.count);
}

int64_t plan_weight(struct negotiator_plan *plan, const struct slot *slot,
                    const struct request *request)
{
    const struct kind_slots *kind = plan_kind(plan, slot->kind_now);
    struct piece piece;
    if (!kind->is_split || !piece_for(plan, kind, slot->kind_now, request, &piece)) {
        return kind->weight;
    }
    struct ad *ad = ad_copy(kinds_ad(plan->kinds, KINDS_SLOT, slot->kind_now));
    for (size_t i = 0; i < kind->names.count; i++) {
        ad_set_int(ad, kind->names.names[i], (int64_t)piece.amounts[i]);
    }
    int64_t weight = weight_of(ad);
    ad_destroy(ad);
    return weight;
}

/* ---- where a slot belongs */

static int64_t multiplicity_of(const struct slot *slot)
{
    return slot->facts.multiplicity > 1 ? slot->facts.multiplicity : 1;
}

static int64_t jobs_max(struct negotiator_plan *plan, const struct slot *slot)
{
    if (!slot->facts.offline) {
        return slot->is_split ? slot->facts.pieces : 1;
    }
    int64_t each = 1;
    if (slot->is_split) {
        each = ad_int_or(kinds_ad(plan->kinds, KINDS_SLOT, slot->kind), "Cpus", 0);
    }
    return each > 0 && each < INT32_MAX ? each * multiplicity_of(slot) : 0;
}

/* Returns whether any job could take the slot over from the running one. */
static bool may_be_taken(struct negotiator_plan *plan, const struct slot *slot)
{
    if (!plan->policy.consider_preemption) {
        return false;
    }
    const struct ad *ad = kinds_ad(plan->kinds, KINDS_SLOT, slot->kind);
    const struct ad_expr *rank = ad_lookup(ad, "Rank");
    return plan->takes_by_priority || (rank != NULL && !ad_expr_is_literal(rank)) ||
           ad_real_or(ad, "Rank", 0) > slot->facts.current_rank;
}

static enum place place_of(struct negotiator_plan *plan, const struct slot *slot)
{
    const struct plan_slot *facts = &slot->facts;
    if (!slot->there || slot->taken) {
        return PLACE_NONE;
    }
    if (!facts->offline && facts->use != PLAN_USE_FREE) {
        bool claimed = facts->use == PLAN_USE_TAKEN && facts->user != NULL && !slot->is_split;
        return claimed && may_be_taken(plan, slot) ? PLACE_CLAIMED : PLACE_NONE;
    }
    if (slot->jobs >= jobs_max(plan, slot) || (facts->offline && facts->barred)) {
        return PLACE_NONE;
    }
    if (!facts->offline) {
        return PLACE_LIVE;
    }
    const struct machine *machine = &plan->machines[slot->machine];
    return facts->unwilling && machine->waking == 0 ? PLACE_LAST
           : machine->wakers > 0                    ? PLACE_NEAR
           : facts->reclaimable                     ? PLACE_BACK
                                                    : PLACE_FAR;
}

bool plan_is_held_place(enum place place)
{
    return place == PLACE_NEAR || place == PLACE_BACK || place == PLACE_FAR || place == PLACE_LAST;
}

void plan_place(struct negotiator_plan *plan, struct slot *slot)
{
    enum place place = place_of(plan, slot);
    if (place != slot->place) {
        plan_unplace(plan, slot);
        place_in(plan, slot, place);
    }
}

void plan_set_wakes(struct negotiator_plan *plan, struct slot *slot, bool wakes)
{
    if (slot->counted.wakes == wakes) {
        return;
    }
    struct machine *machine = &plan->machines[slot->machine];
    bool before = machine->wakers > 0;
    slot->counted.wakes = wakes;
    machine->wakers += wakes ? 1U : UINT32_MAX; /* one less */
    if (before == (machine->wakers > 0)) {
        return;
    }
    for (uint32_t i = 0; i < machine->count; i++) {
        struct slot *other = &plan->slots[plan->by_name[machine->first + i]];
        if (plan_is_held_place(other->place)) {
            plan_place(plan, other);
        }
    }
}

void plan_set_waking(struct negotiator_plan *plan, struct slot *slot, bool waking)
{
    if (slot->counted.waking != waking) {
        plan->machines[slot->machine].waking += waking ? 1U : UINT32_MAX; /* one less */
        slot->counted.waking = waking;
    }
}

/* Takes one more job of this size from a partitionable slot. */
static void add_job(struct slot *slot, const struct piece *whole, const struct piece *piece,
                    size_t count)
{
    if (!piece_fits(&slot->left, piece, count) && slot->copies > 0) {
        slot->copies--;
        slot->left = *whole;
    }
    piece_take(&slot->left, piece, count);
}

/* Sets jobs, copies, left and the kind of what is left, from the holds that are not taken back. */
static void count_jobs(struct negotiator_plan *plan, struct slot *slot)
{
    const struct kind_slots *kind = plan_kind(plan, slot->kind);
    struct piece whole;
    slot->is_split = kind->is_split;
    slot->jobs = 0;
    for (uint32_t i = 0; i < slot->held_count; i++) {
        slot->jobs += slot->held[i].released ? 0 : slot->held[i].count;
    }
    if (!slot->is_split) {
        plan_no_remnant(plan, slot);
        return;
    }
    piece_of_slot(kinds_ad(plan->kinds, KINDS_SLOT, slot->kind), &kind->names, &whole);
    slot->copies = multiplicity_of(slot) - 1;
    slot->left = whole;
    const size_t count = kind->names.count;
    for (size_t i = 0; i < slot->facts.under_way_count; i++) {
        struct piece piece;
        if (piece_of_job(slot->facts.under_way[i], kinds_ad(plan->kinds, KINDS_SLOT, slot->kind),
                         &kind->names, plan->context, &piece)) {
            add_job(slot, &whole, &piece, count);
        }
    }
    for (uint32_t i = 0; i < slot->held_count; i++) {
        const struct held *held = &slot->held[i];
        struct piece piece;
        if (held->released || held->holder->request == NUMBER_NONE) {
            continue;
        }
        const struct request *request = &plan->requests[held->holder->request];
        if (request->keyed && piece_for(plan, kind, slot->kind, request, &piece)) {
            for (int64_t j = 0; j < held->count && j < jobs_max(plan, slot); j++) {
                add_job(slot, &whole, &piece, count);
            }
        }
        kind = plan_kind(plan, slot->kind);
    }
    if (slot->copies > 0 || memcmp(&slot->left, &whole, count * sizeof whole.amounts[0]) == 0) {
        plan_no_remnant(plan, slot);
    } else {
        make_remnant(plan, slot);
    }
}

/* Sets everything by the slot's facts and the holds that are not taken back. */
void plan_settle(struct negotiator_plan *plan, struct slot *slot)
{
    plan_unplace(plan, slot);
    slot->taken = false;
    plan->free_weight -= slot->weight;
    plan->total_weight -= slot->total;
    slot->weight = slot->total = 0;
    count_jobs(plan, slot);
    const struct plan_slot *facts = &slot->facts;
    if (!facts->offline &&
        (facts->use == PLAN_USE_FREE || facts->use == PLAN_USE_GIVEN || facts->user != NULL)) {
        slot->total = plan_kind(plan, slot->kind)->weight;
        slot->weight = facts->use == PLAN_USE_FREE ? slot->total : 0;
    }
    plan->free_weight += slot->weight;
    plan->total_weight += slot->total;
    plan_set_waking(plan, slot, facts->offline && facts->waking);
    plan_set_wakes(plan, slot, facts->offline && (facts->waking || slot->jobs > 0));
    plan_place(plan, slot);
    if (facts->offline && facts->barred && slot->held_count > 0 && !slot->lists.barred) {
        slot->lists.barred = true;
        numbers_push(&plan->barred_slots, plan_slot_number(plan, slot));
    }
}

/* ---- within a cycle */

/* Marks the slot as changed: it is settled again when the cycle ends. */
static void plan_touch(struct negotiator_plan *plan, struct slot *slot)
{
    if (!slot->lists.touched) {
        slot->lists.touched = true;
        numbers_push(&plan->touched, plan_slot_number(plan, slot));
    }
}

void plan_undo(struct negotiator_plan *plan)
{
    for (uint32_t i = 0; i < plan->touched.count; i++) {
        struct slot *slot = &plan->slots[plan->touched.items[i]];
        slot->lists.touched = false;
        for (uint32_t j = 0; j < slot->held_count; j++) {
            slot->held[j].released = false;
        }
        plan_settle(plan, slot);
    }
    plan->touched.count = 0;
}

void plan_release(struct negotiator_plan *plan, struct slot *slot, struct held *held)
{
    plan_touch(plan, slot);
    held->released = true;
    plan_settle(plan, slot);
}

void plan_give(struct negotiator_plan *plan, struct slot *slot, const struct request *request)
{
    plan_touch(plan, slot);
    plan_unplace(plan, slot);
    slot->jobs++;
    if (slot->is_split) {
        const struct kind_slots *kind = plan_kind(plan, slot->kind);
        struct piece whole, piece;
        piece_of_slot(kinds_ad(plan->kinds, KINDS_SLOT, slot->kind), &kind->names, &whole);
        if (piece_for(plan, kind, slot->kind, request, &piece)) {
            add_job(slot, &whole, &piece, kind->names.count);
        }
        if (slot->copies == 0) {
            make_remnant(plan, slot);
        }
    } else if (!slot->facts.offline) {
        slot->taken = !PLANTED(slot_matched_twice);
        slot->jobs = slot->taken ? 1 : 0;
    }
    plan_set_wakes(plan, slot, slot->facts.offline);
    plan_place(plan, slot);
}

bool plan_next_open(const struct negotiator_plan *plan, unsigned places, size_t *at,
                    uint64_t *kinds)
{
    size_t words = kinds_limit(plan->kinds, KINDS_SLOT) / 64 + 1;
    words = words < plan->open_words ? words : plan->open_words;
    while (*at < words) {
        uint64_t any = 0;
        for (int place = 0; place < PLACE_COUNT; place++) {
            any |= (places >> place & 1U) != 0 ? plan->open_any[place][*at / 64] : 0;
        }
        any &= UINT64_MAX << *at % 64;
        if (any == 0) {
            *at = (*at / 64 + 1) * 64;
            continue;
        }
        size_t word = *at / 64 * 64 + (size_t)__builtin_ctzll(any);
        *kinds = 0;
        for (int place = 0; place < PLACE_COUNT && word < words; place++) {
            *kinds |= (places >> place & 1U) != 0 ? plan->open[place][word] : 0;
        }
        *at = word + 1;
        return word < words;
    }
    return false;
}
