/* negotiator/plan_choice.c - finds the best slot for a request, repeatedly: see plan_state.h.
 *
 * A heap has one entry for each matching kind of slot and each place where this kind has slots,
 * ordered by the kind's ranks and the first slot there.  Entries are not kept up to date: an entry
 * whose slot is no longer the first of its place is replaced when it comes to the top.  When giving
 * out a slot makes another one better (a machine that wakes now, the rest of a partitionable slot),
 * an entry is added.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/mem.h"
#include "negotiator/plan_state.h"

struct entry {
    double pre, job, post;
    uint64_t serial; /* serial of the kind */
    uint32_t order, kind;
    uint8_t level; /* live slots, then those that wake anyway, then those to be taken back */
    uint8_t place;
};

struct choice {
    struct negotiator_plan *plan;
    const struct request *request;
    unsigned places;
    const uint64_t *matches;
    struct entry *entries;
    uint32_t count, room;
};

static bool is_better(const struct choice *choice, const struct entry *a, const struct entry *b)
{
    if (a->pre != b->pre) {
        return a->pre > b->pre;
    }
    if (a->job != b->job) {
        return a->job > b->job;
    }
    bool level_first = choice->plan->policy.offline_last;
    if (level_first && a->level != b->level) {
        return a->level > b->level;
    }
    if (a->post != b->post) {
        return a->post > b->post;
    }
    if (a->level != b->level) {
        return a->level > b->level;
    }
    return a->order < b->order;
}

static void sift_down(struct choice *choice, uint32_t at)
{
    struct entry entry = choice->entries[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= choice->count) {
            break;
        }
        if (child + 1 < choice->count &&
            is_better(choice, &choice->entries[child + 1], &choice->entries[child])) {
            child++;
        }
        if (!is_better(choice, &choice->entries[child], &entry)) {
            break;
        }
        choice->entries[at] = choice->entries[child];
        at = child;
    }
    choice->entries[at] = entry;
}

static void sift_up(struct choice *choice, uint32_t at)
{
    struct entry entry = choice->entries[at];
    while (at > 0 && is_better(choice, &entry, &choice->entries[(at - 1) / 2])) {
        choice->entries[at] = choice->entries[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    choice->entries[at] = entry;
}

static const struct heap *heap_of(const struct choice *choice, uint32_t kind, enum place place)
{
    return &choice->plan->kind_slots[kind].heaps[place];
}

/* Appends an entry without moving it to its place in the heap. */
static void append_entry(struct choice *choice, uint32_t kind, enum place place)
{
    static const uint8_t LEVELS[PLACE_COUNT] = {
        [PLACE_LIVE] = 3, [PLACE_NEAR] = 2, [PLACE_BACK] = 1};
    if (choice->count == choice->room) {
        choice->room = choice->room > 0 ? 2 * choice->room : 64;
        choice->entries = mem_realloc(choice->entries, choice->room * sizeof *choice->entries);
    }
    struct negotiator_plan *plan = choice->plan;
    struct verdict_rank rank = verdicts_rank(plan->verdicts, choice->request->kind, kind);
    choice->entries[choice->count++] =
        (struct entry){.pre = rank.pre,
                       .job = rank.job,
                       .post = rank.post,
                       .serial = plan->kind_slots[kind].serial,
                       .order = plan->slots[heap_of(choice, kind, place)->slots[0]].order,
                       .kind = kind,
                       .level = LEVELS[place],
                       .place = (uint8_t)place};
}

static bool kind_has_room(const struct choice *choice, uint32_t kind)
{
    const struct kind_slots *slots = &choice->plan->kind_slots[kind];
    return !slots->is_split || plan_has_room(choice->plan, slots, kind, choice->request);
}

/* Adds an entry for a kind that has gained a slot. */
static void offer_slot(struct choice *choice, const struct slot *slot)
{
    struct negotiator_plan *plan = choice->plan;
    if (slot->place == PLACE_NONE || (choice->places >> slot->place & 1U) == 0) {
        return;
    }
    choice->matches = verdicts_of(plan->verdicts, choice->request->kind); /* it may be a new kind */
    uint32_t kind = slot->kind_now;
    if ((choice->matches[kind / 64] >> kind % 64 & 1) != 0 && kind_has_room(choice, kind)) {
        append_entry(choice, kind, slot->place);
        sift_up(choice, choice->count - 1);
    }
}

struct choice *plan_choice_begin(struct negotiator_plan *plan, const struct request *request,
                                 unsigned places)
{
    struct choice *choice = plan->choice;
    if (choice == NULL) {
        choice = plan->choice = mem_zalloc(sizeof *choice);
    }
    choice->plan = plan;
    choice->request = request;
    choice->places = places;
    choice->count = 0;
    choice->matches = verdicts_of(plan->verdicts, request->kind);
    size_t at = 0;
    uint64_t some;
    while (plan_next_open(plan, places, &at, &some)) {
        for (some &= choice->matches[at - 1]; some != 0; some &= some - 1) {
            uint32_t kind = (uint32_t)((at - 1) * 64) + (uint32_t)__builtin_ctzll(some);
            if (!kind_has_room(choice, kind)) {
                continue;
            }
            for (int place = 0; place < PLACE_COUNT; place++) {
                if ((places >> place & 1U) != 0 &&
                    heap_of(choice, kind, (enum place)place)->count > 0) {
                    append_entry(choice, kind, (enum place)place);
                }
            }
        }
    }
    for (uint32_t i = choice->count / 2; i-- > 0;) {
        sift_down(choice, i);
    }
    return choice;
}

struct slot *plan_choice_best(struct choice *choice)
{
    struct negotiator_plan *plan = choice->plan;
    while (choice->count > 0) {
        struct entry *top = &choice->entries[0];
        const struct heap *heap = heap_of(choice, top->kind, (enum place)top->place);
        if (heap->count > 0 && top->serial == plan->kind_slots[top->kind].serial) {
            struct slot *slot = &plan->slots[heap->slots[0]];
            if (slot->order == top->order) {
                return slot;
            }
            if (slot->order > top->order) { /* the one it was about is gone */
                top->order = slot->order;
                sift_down(choice, 0);
                continue;
            }
        } /* else: what became first has an entry of its own */
        choice->entries[0] = choice->entries[--choice->count];
        if (choice->count > 0) {
            sift_down(choice, 0);
        }
    }
    return NULL;
}

void plan_choice_give(struct choice *choice, struct slot *slot)
{
    struct negotiator_plan *plan = choice->plan;
    const struct machine *machine = &plan->machines[slot->machine];
    bool woke = slot->facts.offline && machine->wakers > 0;
    plan_give(plan, slot, choice->request);
    offer_slot(choice, slot);
    for (uint32_t i = 0; slot->facts.offline && !woke && i < machine->count; i++) {
        const struct slot *other = &plan->slots[plan->by_name[machine->first + i]];
        if (other != slot && other->place == PLACE_NEAR) {
            offer_slot(choice, other);
        }
    }
}

void plan_choice_destroy(struct choice *choice)
{
    if (choice != NULL) {
        mem_free(choice->entries);
        mem_free(choice);
    }
}
