/* negotiator/plan_slots.c - keeps slots and requests with their kinds up to date: see plan_state.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/plan_state.h"
#include "offline_ads/offline_holds.h"

void numbers_push(struct numbers *numbers, uint32_t number)
{
    if (numbers->count == numbers->room) {
        numbers->room = numbers->room > 0 ? 2 * numbers->room : 16;
        numbers->items = mem_realloc(numbers->items, numbers->room * sizeof *numbers->items);
    }
    numbers->items[numbers->count++] = number;
}

static void numbers_fini(struct numbers *numbers)
{
    mem_free(numbers->items);
    *numbers = (struct numbers){0};
}

uint32_t plan_slot_number(const struct negotiator_plan *plan, const struct slot *slot)
{
    return (uint32_t)(slot - plan->slots);
}

/* ---- holders */

static struct holder *holder_of(struct negotiator_plan *plan, const char *schedd,
                                int64_t auto_cluster)
{
    struct strbuf key;
    strbuf_init(&key, 0);
    strbuf_printf(&key, "%" PRId64 " %s", auto_cluster, schedd);
    struct holder *holder = strmap_get(plan->holders, strbuf_text(&key));
    if (holder == NULL) {
        holder = mem_alloc(sizeof *holder);
        *holder = (struct holder){.schedd = mem_strdup(schedd),
                                  .auto_cluster = auto_cluster,
                                  .request = NUMBER_NONE};
        (void)strmap_set(plan->holders, strbuf_text(&key), holder); /* was absent */
    }
    strbuf_fini(&key);
    return holder;
}

static void holder_destroy(void *value)
{
    struct holder *holder = value;
    numbers_fini(&holder->slots);
    mem_free(holder->schedd);
    mem_free(holder);
}

static void drop_holder(struct negotiator_plan *plan, struct holder *holder)
{
    if (holder->request != NUMBER_NONE || holder->slots.count > 0) {
        return;
    }
    struct strbuf key;
    strbuf_init(&key, 0);
    strbuf_printf(&key, "%" PRId64 " %s", holder->auto_cluster, holder->schedd);
    (void)strmap_remove(plan->holders, strbuf_text(&key)); /* returns the holder itself */
    strbuf_fini(&key);
    holder_destroy(holder);
}

static void drop_holds(struct negotiator_plan *plan, struct slot *slot)
{
    uint32_t number = plan_slot_number(plan, slot);
    for (uint32_t i = 0; i < slot->held_count; i++) {
        struct holder *holder = slot->held[i].holder;
        struct numbers *slots = &holder->slots;
        holder->held -= slot->held[i].count;
        for (uint32_t j = 0; j < slots->count; j++) {
            if (slots->items[j] == number) {
                slots->items[j] = slots->items[--slots->count];
                break;
            }
        }
        drop_holder(plan, holder);
    }
    mem_free(slot->held);
    slot->held = NULL;
    slot->held_count = 0;
}

static void take_holds(struct negotiator_plan *plan, struct slot *slot)
{
    const struct offline_holds *holds = slot->facts.offline ? slot->facts.holds : NULL;
    size_t count = offline_holds_entries(holds);
    if (count == 0) {
        return;
    }
    slot->held = mem_alloc(count * sizeof *slot->held);
    for (size_t i = 0; i < count; i++) {
        const struct offline_hold *hold = offline_holds_at(holds, i);
        struct holder *holder = holder_of(plan, hold->schedd, hold->auto_cluster);
        holder->held += hold->count;
        numbers_push(&holder->slots, plan_slot_number(plan, slot));
        slot->held[slot->held_count++] = (struct held){.holder = holder, .count = hold->count};
    }
}

/* ---- changes */

static void dirty_slot(struct negotiator_plan *plan, struct slot *slot)
{
    if (!slot->lists.dirty) {
        slot->lists.dirty = true;
        numbers_push(&plan->dirty_slots, plan_slot_number(plan, slot));
    }
}

static void dirty_request(struct negotiator_plan *plan, uint32_t number)
{
    struct request *request = &plan->requests[number];
    if (!request->dirty) {
        request->dirty = true;
        numbers_push(&plan->dirty_requests, number);
    }
}

/* Marks the slots that are held for a request whose size changed or which is gone. */
static void dirty_holding(struct negotiator_plan *plan, const struct holder *holder)
{
    for (uint32_t i = 0; holder != NULL && i < holder->slots.count; i++) {
        dirty_slot(plan, &plan->slots[holder->slots.items[i]]);
    }
}

int negotiator_plan_set_slot(struct negotiator_plan *plan, const struct plan_slot *facts)
{
    if (facts->number >= NEGOTIATOR_SLOTS_MAX) {
        return -E2BIG;
    }
    if (facts->number >= plan->slot_room) {
        uint32_t room = facts->number + facts->number / 2 + 64;
        plan->slots = mem_realloc(plan->slots, room * sizeof *plan->slots);
        for (uint32_t i = plan->slot_room; i < room; i++) {
            plan->slots[i] =
                (struct slot){.kind = NUMBER_NONE, .kind_now = NUMBER_NONE, .place = PLACE_NONE};
        }
        plan->slot_room = room;
    }
    struct slot *slot = &plan->slots[facts->number];
    bool same_name = slot->there && strcmp(slot->name, facts->name) == 0 &&
                     strcmp(slot->machine_name, facts->machine) == 0;
    if (!same_name) {
        mem_free(slot->name);
        mem_free(slot->machine_name);
        slot->name = mem_strdup(facts->name);
        slot->machine_name = mem_strdup(facts->machine);
    }
    slot->rekey = slot->rekey || !slot->keyed || slot->facts.serial != facts->serial;
    plan->names_changed = plan->names_changed || !same_name;
    drop_holds(plan, slot);
    plan->slot_count += slot->there ? 0 : 1;
    slot->facts = *facts;
    slot->facts.name = slot->name;
    slot->facts.machine = slot->machine_name;
    slot->there = true;
    take_holds(plan, slot);
    slot->facts.holds = NULL; /* copied */
    dirty_slot(plan, slot);
    return 0;
}

static void forget_slot(struct negotiator_plan *plan, struct slot *slot)
{
    plan_unplace(plan, slot);
    drop_holds(plan, slot);
    plan->free_weight -= slot->weight;
    plan->total_weight -= slot->total;
    if (slot->keyed) {
        plan_set_wakes(plan, slot, false);
        plan_set_waking(plan, slot, false);
        kinds_unref(plan->kinds, KINDS_SLOT, slot->kind_now);
        kinds_unref(plan->kinds, KINDS_SLOT, slot->kind);
    }
    mem_free(slot->name);
    mem_free(slot->machine_name);
    *slot = (struct slot){.kind = NUMBER_NONE,
                          .kind_now = NUMBER_NONE,
                          .place = PLACE_NONE,
                          .lists = {.dirty = slot->lists.dirty, .barred = slot->lists.barred}};
}

void negotiator_plan_drop_slot(struct negotiator_plan *plan, uint32_t number)
{
    if (number < plan->slot_room && plan->slots[number].there) {
        forget_slot(plan, &plan->slots[number]);
        plan->slot_count--;
        plan->names_changed = true;
    }
}

int negotiator_plan_set_request(struct negotiator_plan *plan, const struct plan_request *facts)
{
    if (facts->number >= NEGOTIATOR_REQUESTS_MAX) {
        return -E2BIG;
    }
    if (facts->number >= plan->request_room) {
        uint32_t room = facts->number + facts->number / 2 + 64;
        plan->requests = mem_realloc(plan->requests, room * sizeof *plan->requests);
        memset(plan->requests + plan->request_room, 0,
               (room - plan->request_room) * sizeof *plan->requests);
        plan->request_room = room;
    }
    struct request *request = &plan->requests[facts->number];
    struct holder *before = request->there ? request->holder : NULL;
    struct holder *holder = before;
    if (before == NULL || before->auto_cluster != facts->auto_cluster ||
        strcmp(before->schedd, facts->schedd) != 0) {
        holder = holder_of(plan, facts->schedd, facts->auto_cluster);
        if (before != NULL) {
            before->request = before->request == facts->number ? NUMBER_NONE : before->request;
            dirty_holding(plan, before);
            drop_holder(plan, before);
        }
        dirty_holding(plan, holder);
    }
    request->rekey = request->rekey || !request->keyed || request->facts.serial != facts->serial;
    plan->request_count += request->there ? 0 : 1;
    request->facts = *facts;
    request->there = true;
    request->holder = holder;
    holder->request = facts->number;
    if (request->rekey) {
        dirty_request(plan, facts->number);
    }
    return 0;
}

void negotiator_plan_drop_request(struct negotiator_plan *plan, uint32_t number)
{
    if (number >= plan->request_room || !plan->requests[number].there) {
        return;
    }
    struct request *request = &plan->requests[number];
    struct holder *holder = request->holder;
    if (holder->request == number) {
        holder->request = NUMBER_NONE;
        dirty_holding(plan, holder);
        drop_holder(plan, holder);
    }
    if (request->keyed) {
        kinds_unref(plan->kinds, KINDS_JOB, request->kind);
    }
    *request = (struct request){.dirty = request->dirty};
    plan->request_count--;
}

/* ---- up to date */

static void key_request(struct negotiator_plan *plan, struct request *request)
{
    uint32_t kind = kinds_of(plan->kinds, KINDS_JOB, request->facts.ad);
    if (request->keyed) {
        kinds_unref(plan->kinds, KINDS_JOB, request->kind);
    }
    if (!request->keyed || request->kind != kind) {
        dirty_holding(plan, request->holder);
    }
    request->kind = kind;
    request->keyed = true;
    request->rekey = false;
}

/* Declares the attributes significant that decide the size of pieces, because pieces are computed
 * from kinds. */
static void watch_pieces(struct negotiator_plan *plan, const struct ad *ad)
{
    struct piece_names names;
    char text[PIECE_ATTR_MAX];
    if (!ad_bool_or(ad, "PartitionableSlot", false)) {
        return;
    }
    kinds_watch_name(plan->kinds, KINDS_SLOT, "MachineResources");
    piece_names(ad, &names);
    for (size_t i = 0; i < names.count; i++) {
        kinds_watch_name(plan->kinds, KINDS_SLOT, names.names[i]);
        kinds_watch_name(plan->kinds, KINDS_JOB, piece_request_name(names.names[i], text));
        kinds_watch_name(plan->kinds, KINDS_SLOT, piece_modify_name(names.names[i], text));
    }
}

static void key_slot(struct negotiator_plan *plan, struct slot *slot)
{
    watch_pieces(plan, slot->facts.ad);
    uint32_t kind = kinds_of(plan->kinds, KINDS_SLOT, slot->facts.ad);
    slot->rekey = false;
    if (slot->keyed && slot->kind == kind) {
        kinds_unref(plan->kinds, KINDS_SLOT, kind);
        return;
    }
    plan_unplace(plan, slot);
    if (slot->keyed) {
        kinds_unref(plan->kinds, KINDS_SLOT, slot->kind);
    }
    slot->kind = kind;
    slot->keyed = true;
    plan_no_remnant(plan, slot);
}

/* Reads ads again that have newly significant attributes.  False: there were none. */
static bool read_again(struct negotiator_plan *plan)
{
    bool some = false;
    bool slots = kinds_has_news(plan->kinds, KINDS_SLOT);
    bool requests = kinds_has_news(plan->kinds, KINDS_JOB);
    for (uint32_t i = 0; slots && i < plan->slot_room; i++) {
        struct slot *slot = &plan->slots[i];
        if (slot->keyed && !slot->rekey && kinds_is_news(plan->kinds, KINDS_SLOT, slot->facts.ad)) {
            slot->rekey = some = true;
            dirty_slot(plan, slot);
        }
    }
    for (uint32_t i = 0; requests && i < plan->request_room; i++) {
        struct request *request = &plan->requests[i];
        if (request->keyed && !request->rekey &&
            kinds_is_news(plan->kinds, KINDS_JOB, request->facts.ad)) {
            request->rekey = some = true;
            dirty_request(plan, i);
        }
    }
    kinds_end_news(plan->kinds, KINDS_SLOT);
    kinds_end_news(plan->kinds, KINDS_JOB);
    return some;
}

static void found_again(struct negotiator_plan *plan, uint32_t slots)
{
    for (uint32_t i = 0; i < slots; i++) { /* may be found again */
        plan->slots[plan->dirty_slots.items[i]].lists.dirty = false;
    }
}

/* Finds the kinds of at most `most` ads; false: there are more. */
static bool key_all(struct negotiator_plan *plan, uint32_t most)
{
    uint32_t slots = 0, requests = 0, keyed = 0;
    do { /* jobs first: what they look up is most of what matters of slots */
        for (; requests < plan->dirty_requests.count; requests++) {
            struct request *request = &plan->requests[plan->dirty_requests.items[requests]];
            request->dirty = false;
            if (request->there && request->rekey) {
                if (keyed++ == most) {
                    found_again(plan, slots);
                    return false;
                }
                key_request(plan, request);
            }
        }
        for (; slots < plan->dirty_slots.count; slots++) {
            struct slot *slot = &plan->slots[plan->dirty_slots.items[slots]];
            if (slot->there && slot->rekey) {
                if (keyed++ == most) {
                    found_again(plan, slots);
                    return false;
                }
                key_slot(plan, slot);
            }
        }
        found_again(plan, slots);
    } while (read_again(plan) || requests < plan->dirty_requests.count ||
             slots < plan->dirty_slots.count);
    return true;
}

#define KEYED_MAX 200 /* ads that are read in one slice */

struct naming {
    const char *machine, *name;
    uint32_t slot;
};

static int by_name(const void *left, const void *right)
{
    const struct naming *a = left, *b = right;
    int order = a->machine == b->machine ? 0 : strcmp(a->machine, b->machine);
    order = order != 0 ? order : strcmp(a->name, b->name);
    return order != 0 ? order : (a->slot > b->slot) - (a->slot < b->slot);
}

/* Numbers the slots in the order of machine and name; the order of the earlier slots stays. */
static void name_all(struct negotiator_plan *plan)
{
    struct naming *list = mem_alloc((plan->slot_count + 1) * sizeof *list);
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->slot_room; i++) {
        const struct plan_slot *facts = &plan->slots[i].facts;
        if (plan->slots[i].there) {
            list[count++] =
                (struct naming){.machine = facts->machine, .name = facts->name, .slot = i};
        }
    }
    if (count > 1) {
        qsort(list, count, sizeof *list, by_name);
    }
    if (plan->named_room < count) {
        plan->named_room = count + count / 2 + 16;
        plan->by_name = mem_realloc(plan->by_name, plan->named_room * sizeof *plan->by_name);
        plan->machines = mem_realloc(plan->machines, plan->named_room * sizeof *plan->machines);
    }
    plan->machine_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct slot *slot = &plan->slots[list[i].slot];
        if (i == 0 || strcmp(list[i].machine, list[i - 1].machine) != 0) {
            plan->machines[plan->machine_count++] = (struct machine){.first = i};
        }
        struct machine *machine = &plan->machines[plan->machine_count - 1];
        machine->count++;
        machine->wakers += slot->counted.wakes ? 1 : 0;
        machine->waking += slot->counted.waking ? 1 : 0;
        plan->by_name[i] = list[i].slot;
        slot->order = i;
        slot->machine = plan->machine_count - 1;
    }
    plan->named_count = count;
    plan->names_changed = false;
    mem_free(list);
    for (uint32_t i = 0; i < count; i++) { /* a waker may be new to its machine, or have left it */
        struct slot *slot = &plan->slots[plan->by_name[i]];
        if (plan_is_held_place(slot->place)) {
            plan_place(plan, slot);
        }
    }
}

void plan_name_slots(struct negotiator_plan *plan)
{
    if (plan->names_changed) {
        name_all(plan);
    }
}

/* Removes the first n numbers of a list. */
static void drop_first(uint32_t *items, uint32_t *count, uint32_t n)
{
    *count -= n;
    if (n > 0 && *count > 0) {
        memmove(items, items + n, *count * sizeof *items);
    }
}

static bool add_dirty(struct negotiator_plan *plan, uint64_t end)
{
    uint32_t i = 0;
    for (; i < plan->dirty_requests.count && verdicts_steps(plan->verdicts) < end; i++) {
        const struct request *request = &plan->requests[plan->dirty_requests.items[i]];
        if (request->there) {
            verdicts_add(plan->verdicts, KINDS_JOB, request->kind);
        }
    }
    drop_first(plan->dirty_requests.items, &plan->dirty_requests.count, i);
    for (i = 0; i < plan->dirty_slots.count && verdicts_steps(plan->verdicts) < end; i++) {
        struct slot *slot = &plan->slots[plan->dirty_slots.items[i]];
        if (slot->there) {
            slot->lists.dirty = false;
            verdicts_add(plan->verdicts, KINDS_SLOT, slot->kind);
            plan_settle(plan, slot);
        }
    }
    drop_first(plan->dirty_slots.items, &plan->dirty_slots.count, i);
    return plan->dirty_requests.count == 0 && plan->dirty_slots.count == 0;
}

bool plan_refresh(struct negotiator_plan *plan, const struct ad_context *context, bool full,
                  uint64_t end)
{
    plan->context = context;
    plan->full = plan->full || full;
    if (!key_all(plan, end == UINT64_MAX ? UINT32_MAX : KEYED_MAX)) {
        return false;
    }
    if (kinds_structure(plan->kinds) != plan->structure) { /* expressions read more than before */
        plan->structure = kinds_structure(plan->kinds);
        plan_forget_kinds(plan);
        for (uint32_t i = 0; i < plan->slot_room; i++) {
            if (plan->slots[i].there) {
                dirty_slot(plan, &plan->slots[i]);
            }
        }
    }
    plan_name_slots(plan);
    verdicts_begin(plan->verdicts, context, plan->full);
    plan->full = false;
    return verdicts_catch_up(plan->verdicts, end) && add_dirty(plan, end);
}

/* ---- life */

void negotiator_plan_set_policy(struct negotiator_plan *plan, const struct plan_policy *policy)
{
    const struct ad_expr *const exprs[] = {policy->pre_job, policy->post_job};
    plan->policy = *policy;
    plan->takes_by_priority =
        policy->preemption_requirements != NULL &&
        (!ad_expr_is_literal(policy->preemption_requirements) ||
         ad_eval_bool(policy->preemption_requirements, NULL, NULL, NULL) == AD_TRUE);
    verdicts_set_ranks(plan->verdicts, policy->pre_job, policy->post_job);
    for (size_t i = 0; i < ARRAY_COUNT(exprs); i++) {
        if (exprs[i] != NULL) {
            kinds_watch_expr(plan->kinds, KINDS_SLOT, exprs[i]);
        }
    }
    for (uint32_t i = 0; i < plan->slot_room; i++) {
        if (plan->slots[i].there) {
            dirty_slot(plan, &plan->slots[i]);
        }
    }
}

struct negotiator_plan *negotiator_plan_create(void)
{
    static const char *const OF_SLOTS[] = {"Cpus", "PartitionableSlot", "SlotWeight"};
    struct negotiator_plan *plan = mem_zalloc(sizeof *plan);
    plan->kinds = kinds_create();
    plan->verdicts = verdicts_create(plan->kinds);
    plan->holders = strmap_create(STRMAP_CASE_SENSITIVE);
    plan->policy.offline_last = true;
    for (size_t i = 0; i < ARRAY_COUNT(OF_SLOTS); i++) {
        kinds_watch_name(plan->kinds, KINDS_SLOT, OF_SLOTS[i]);
    }
    return plan;
}

void negotiator_plan_destroy(struct negotiator_plan *plan)
{
    if (plan == NULL) {
        return;
    }
    for (uint32_t i = 0; i < plan->slot_room; i++) {
        mem_free(plan->slots[i].held);
        mem_free(plan->slots[i].name);
        mem_free(plan->slots[i].machine_name);
    }
    for (uint32_t i = 0; i < plan->kind_room; i++) {
        for (int j = 0; j < PLACE_COUNT; j++) {
            mem_free(plan->kind_slots[i].heaps[j].slots);
        }
    }
    for (int i = 0; i < PLACE_COUNT; i++) {
        mem_free(plan->open[i]);
        mem_free(plan->open_any[i]);
    }
    plan_choice_destroy(plan->choice);
    plan_claims_destroy(plan->claims);
    strmap_destroy(plan->holders, holder_destroy);
    numbers_fini(&plan->dirty_slots);
    numbers_fini(&plan->dirty_requests);
    numbers_fini(&plan->touched);
    numbers_fini(&plan->barred_slots);
    verdicts_destroy(plan->verdicts);
    kinds_destroy(plan->kinds);
    mem_free(plan->slots);
    mem_free(plan->requests);
    mem_free(plan->by_name);
    mem_free(plan->machines);
    mem_free(plan->kind_slots);
    mem_free(plan->rank_groups);
    number_table_fini(&plan->rank_group_table);
    mem_free(plan);
}
