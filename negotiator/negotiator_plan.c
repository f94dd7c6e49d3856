/* negotiator/negotiator_plan.c - one negotiation cycle: see negotiator_plan.h.
 *
 * Shares: in each round every user who still wants something gets, of the free slots, the part that
 * its priority earns (1/priority over the sum of 1/priority), at least one; rounds go on until
 * nothing is matched.  So a pool that has enough for all gives all, and a pool that has not is
 * divided as the priorities say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/negotiator_plan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/plant.h"
#include "classad/ad.h"
#include "offline_ads/offline_holds.h"

/* Beside the serial in a remembered judgement. */
#define JUDGED_MATCHES 1U
#define JUDGED_TIMELY  2U

struct candidate {
    size_t slot;
    double pre, job, post;
    bool near; /* offline: its machine wakes anyway */
    size_t machine;
};

struct user_state {
    const char *name;
    double priority;
    size_t first, count; /* requests of it in order[] */
};

struct cycle {
    const struct plan_input *in;
    struct arena *arena;
    struct plan_output out;
    size_t *order;          /* requests by user, priority, age */
    int64_t *wanted;        /* by request: still to be matched */
    struct candidate *list; /* room for all slots */
    size_t *open;           /* the slots that are to be had, of the kind that is given out now */
    size_t open_count;
    size_t
        *recent; /* all offline slots, the last to change first; NULL until holds are looked for */
    size_t recent_count;
    bool *taken;        /* by slot: matched or held in this cycle */
    int64_t *held;      /* by slot: jobs it is held for, less those released */
    size_t *machine;    /* by slot: number of its machine; NULL until holds are looked for */
    bool *wakes;        /* by machine: something there is held or waking */
    size_t matches_max; /* capacity of out.matches */
    struct user_state *users;
    size_t user_count;
};

/* ---- judging */

static bool judge_anew(struct cycle *cycle, size_t request_index, const struct plan_slot *slot)
{
    struct plan_request *request = &cycle->in->requests[request_index];
    bool timely = false;
    struct ad_context context = *cycle->in->context;
    context.is_timely = &timely;
    if (slot->number >= request->judged_count) {
        size_t count = slot->number + cycle->in->slot_count / 4 + 16;
        request->judged = mem_realloc(request->judged, count * sizeof *request->judged);
        memset(request->judged + request->judged_count, 0,
               (count - request->judged_count) * sizeof *request->judged);
        request->judged_count = count;
    }
    bool matches = ad_match(request->ad, slot->ad, &context);
    request->judged[slot->number] =
        (uint64_t)slot->serial << 2 | (timely ? JUDGED_TIMELY : 0) | (matches ? JUDGED_MATCHES : 0);
    cycle->out.judged++;
    return matches;
}

static bool judge(struct cycle *cycle, size_t request_index, const struct plan_slot *slot)
{
    const struct plan_request *request = &cycle->in->requests[request_index];
    if (slot->number < request->judged_count) {
        uint64_t known = request->judged[slot->number];
        if (known >> 2 == slot->serial && !(cycle->in->full && (known & JUDGED_TIMELY) != 0)) {
            return (known & JUDGED_MATCHES) != 0;
        }
    }
    return judge_anew(cycle, request_index, slot);
}

static bool is_timely(const struct plan_request *request, const struct plan_slot *slot)
{
    return (request->judged[slot->number] & JUDGED_TIMELY) != 0;
}

/* Does no offline slot match, be it to be had or not?  Looks at those that changed since it was
 * last so. */
static bool is_barren(struct cycle *cycle, size_t request_index)
{
    const struct plan_input *in = cycle->in;
    struct plan_request *request = &in->requests[request_index];
    bool timely = false;
    for (size_t i = 0; i < cycle->recent_count; i++) {
        const struct plan_slot *slot = &in->slots[cycle->recent[i]];
        if (slot->serial <= request->barren) {
            break;
        }
        if (judge(cycle, request_index, slot)) {
            return false;
        }
        timely = timely || is_timely(request, slot);
    }
    if (!timely && cycle->recent_count > 0) {
        uint64_t serial = in->slots[cycle->recent[0]].serial;
        request->barren = serial > request->barren ? serial : request->barren;
    }
    return true;
}

/* ---- ranking */

static double rank_of(const struct ad_expr *expr, const struct ad *my, const struct ad *target,
                      const struct ad_context *context)
{
    double value = expr != NULL ? ad_eval_rank(expr, my, target, context) : 0.0;
    return isnan(value) ? 0.0 : value; /* an order of all candidates, whatever a job says */
}

static void rank(struct cycle *cycle, const struct plan_request *request,
                 struct candidate *candidate)
{
    const struct plan_slot *slot = &cycle->in->slots[candidate->slot];
    const struct ad_context *context = cycle->in->context;
    candidate->pre = rank_of(cycle->in->ranks.pre_job, slot->ad, request->ad, context);
    candidate->job = rank_of(ad_lookup(request->ad, "Rank"), request->ad, slot->ad, context);
    candidate->post = rank_of(cycle->in->ranks.post_job, slot->ad, request->ad, context);
    candidate->machine = slot->offline ? cycle->machine[candidate->slot] : 0;
    candidate->near = slot->offline && cycle->wakes[candidate->machine];
}

static int by_number(double a, double b)
{
    return a > b ? -1 : a < b ? 1 : 0; /* best first */
}

static int by_rank(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    int order = by_number(a->pre, b->pre);
    order = order != 0 ? order : by_number(a->job, b->job);
    order = order != 0 ? order : (int)b->near - (int)a->near;
    order = order != 0 ? order : by_number(a->post, b->post);
    order = order != 0 ? order : (a->machine > b->machine) - (a->machine < b->machine);
    return order != 0 ? order : (a->slot > b->slot) - (a->slot < b->slot);
}

/* Finds what is to be had, of one kind: each request looks only through these. */
static void open_slots(struct cycle *cycle, bool offline)
{
    cycle->open_count = 0;
    for (size_t i = 0; i < cycle->in->slot_count; i++) {
        const struct plan_slot *slot = &cycle->in->slots[i];
        if (slot->offline == offline && slot->free && !cycle->taken[i] && cycle->held[i] <= 0 &&
            !(offline && slot->barred)) {
            cycle->open[cycle->open_count++] = i;
        }
    }
}

/* Those of the open slots that this request could have now, best first; good until the next call.
 */
static const struct candidate *candidates(struct cycle *cycle, size_t request_index, size_t *count)
{
    struct candidate *list = cycle->list;
    *count = 0;
    for (size_t i = 0; i < cycle->open_count; i++) {
        size_t slot = cycle->open[i];
        if (cycle->taken[slot] || !judge(cycle, request_index, &cycle->in->slots[slot])) {
            continue;
        }
        list[*count] = (struct candidate){.slot = slot};
        rank(cycle, &cycle->in->requests[request_index], &list[*count]);
        (*count)++;
    }
    if (*count > 1) {
        qsort(list, *count, sizeof *list, by_rank);
    }
    return list;
}

/* ---- the order of users and requests */

static double priority_of(const struct plan_input *in, const char *name)
{
    for (size_t i = 0; i < in->user_count; i++) {
        if (strcmp(in->users[i].name, name) == 0) {
            return in->users[i].priority > 0 ? in->users[i].priority : 0.5;
        }
    }
    return 0.5; /* nobody who never ran anything is worse off than that */
}

struct sort_key {
    size_t index;
    double priority;
    const struct plan_request *request;
};

static int by_share(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;
    int order = -by_number(a->priority, b->priority); /* lower is better */
    order = order != 0 ? order : strcmp(a->request->user, b->request->user);
    if (order == 0 && a->request->prio != b->request->prio) {
        order = a->request->prio > b->request->prio ? -1 : 1;
    }
    if (order == 0 && a->request->qdate_s != b->request->qdate_s) {
        order = a->request->qdate_s < b->request->qdate_s ? -1 : 1;
    }
    return order != 0 ? order : strcmp(a->request->name, b->request->name);
}

static int order_requests(struct cycle *cycle)
{
    const struct plan_input *in = cycle->in;
    struct sort_key *keys = arena_alloc(cycle->arena, (in->request_count + 1) * sizeof *keys);
    cycle->order = arena_alloc(cycle->arena, (in->request_count + 1) * sizeof *cycle->order);
    cycle->users = arena_zalloc(cycle->arena, (in->request_count + 1) * sizeof *cycle->users);
    if (keys == NULL || cycle->order == NULL || cycle->users == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < in->request_count; i++) {
        keys[i] = (struct sort_key){.index = i,
                                    .priority = priority_of(in, in->requests[i].user),
                                    .request = &in->requests[i]};
    }
    qsort(keys, in->request_count, sizeof *keys, by_share);
    for (size_t i = 0; i < in->request_count; i++) {
        cycle->order[i] = keys[i].index;
        const char *user = keys[i].request->user;
        if (i == 0 || strcmp(cycle->users[cycle->user_count - 1].name, user) != 0) {
            cycle->users[cycle->user_count++] =
                (struct user_state){.name = user, .priority = keys[i].priority, .first = i};
        }
        cycle->users[cycle->user_count - 1].count++;
    }
    return 0;
}

/* ---- live slots */

/* Matches up to limit jobs of one request; returns how many. */
static int64_t match_request(struct cycle *cycle, size_t request_index, int64_t limit)
{
    if (limit <= 0 || cycle->in->requests[request_index].resting) {
        return 0;
    }
    size_t count;
    const struct candidate *list = candidates(cycle, request_index, &count);
    int64_t matched = 0;
    for (size_t i = 0; i < count && matched < limit && cycle->out.match_count < cycle->matches_max;
         i++) {
        cycle->out.matches[cycle->out.match_count++] =
            (struct plan_match){.slot = list[i].slot, .request = request_index};
        cycle->taken[list[i].slot] = !PLANTED(slot_matched_twice);
        matched++;
    }
    cycle->wanted[request_index] -= matched;
    return matched;
}

static int64_t match_user(struct cycle *cycle, const struct user_state *user, int64_t share)
{
    int64_t matched = 0;
    for (size_t i = 0; i < user->count && matched < share; i++) {
        size_t request = cycle->order[user->first + i];
        int64_t left = share - matched;
        matched += match_request(cycle, request,
                                 cycle->wanted[request] < left ? cycle->wanted[request] : left);
    }
    return matched;
}

static bool wants(const struct cycle *cycle, const struct user_state *user)
{
    for (size_t i = 0; i < user->count; i++) {
        size_t request = cycle->order[user->first + i];
        if (cycle->wanted[request] > 0 && !cycle->in->requests[request].resting) {
            return true;
        }
    }
    return false;
}

static void match_live(struct cycle *cycle)
{
    for (int64_t matched = 1; matched > 0;) {
        matched = 0;
        double sum = 0;
        open_slots(cycle, false);
        int64_t slots = (int64_t)cycle->open_count;
        for (size_t i = 0; i < cycle->user_count; i++) {
            sum += wants(cycle, &cycle->users[i]) ? 1.0 / cycle->users[i].priority : 0;
        }
        for (size_t i = 0; i < cycle->user_count && slots > 0; i++) {
            const struct user_state *user = &cycle->users[i];
            if (!wants(cycle, user)) {
                continue;
            }
            int64_t share = (int64_t)((double)slots / user->priority / sum);
            matched += match_user(cycle, user, share > 0 ? share : 1);
        }
    }
}

/* ---- offline slots */

static int64_t held_for(const struct plan_slot *slot, const struct plan_request *request)
{
    return slot->holds != NULL
               ? offline_holds_of(slot->holds, request->schedd, request->auto_cluster)
               : 0;
}

static void add_release(struct cycle *cycle, size_t slot, const char *schedd, int64_t auto_cluster)
{
    cycle->out.released[cycle->out.released_count++] =
        (struct plan_release){.slot = slot, .schedd = schedd, .auto_cluster = auto_cluster};
    cycle->held[slot] -= offline_holds_of(cycle->in->slots[slot].holds, schedd, auto_cluster);
}

static const struct plan_request *request_of(const struct plan_input *in,
                                             const struct offline_hold *hold)
{
    for (size_t i = 0; i < in->request_count; i++) {
        if (in->requests[i].auto_cluster == hold->auto_cluster &&
            strcmp(in->requests[i].schedd, hold->schedd) == 0) {
            return &in->requests[i];
        }
    }
    return NULL;
}

/* Counts what is held for each request, and takes back what is held for nobody, or on a machine
 * that does not come. */
static void settle_holds(struct cycle *cycle)
{
    const struct plan_input *in = cycle->in;
    for (size_t i = 0; i < in->slot_count; i++) {
        const struct plan_slot *slot = &in->slots[i];
        if (!slot->offline || slot->holds == NULL) {
            continue;
        }
        cycle->held[i] = offline_holds_total(slot->holds);
        for (size_t j = 0; j < offline_holds_entries(slot->holds); j++) {
            const struct offline_hold *hold = offline_holds_at(slot->holds, j);
            const struct plan_request *request = request_of(in, hold);
            if (request == NULL || slot->barred) {
                add_release(cycle, i, hold->schedd, hold->auto_cluster);
            } else {
                cycle->wanted[request - in->requests] -= hold->count;
            }
        }
    }
}

/* More is held for a request than it still wants: the machines furthest from being awake are let go
 * first.  A machine that is being woken keeps its hold: it comes anyway, and the hold says why. */
static void release_surplus(struct cycle *cycle, size_t request_index)
{
    const struct plan_input *in = cycle->in;
    const struct plan_request *request = &in->requests[request_index];
    for (size_t i = in->slot_count; i > 0 && cycle->wanted[request_index] < 0; i--) {
        const struct plan_slot *slot = &in->slots[i - 1];
        int64_t held =
            slot->offline && !slot->waking && !slot->barred ? held_for(slot, request) : 0;
        if (held > 0 && cycle->wanted[request_index] + held <= 0) {
            add_release(cycle, i - 1, request->schedd, request->auto_cluster);
            cycle->wanted[request_index] += held;
        }
    }
}

struct place {
    const char *machine;
    size_t slot;
};

static int by_machine(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    return strcmp(a->machine, b->machine);
}

/* Numbers the machines of offline slots in order of their names, and finds those that wake anyway.
 */
static int number_machines(struct cycle *cycle)
{
    const struct plan_input *in = cycle->in;
    struct place *places = arena_alloc(cycle->arena, (in->slot_count + 1) * sizeof *places);
    size_t *machine = arena_zalloc(cycle->arena, (in->slot_count + 1) * sizeof *machine);
    cycle->wakes = arena_zalloc(cycle->arena, (in->slot_count + 1) * sizeof *cycle->wakes);
    if (places == NULL || machine == NULL || cycle->wakes == NULL) {
        return -ENOMEM;
    }
    size_t count = 0;
    for (size_t i = 0; i < in->slot_count; i++) {
        if (in->slots[i].offline) {
            places[count++] = (struct place){.machine = in->slots[i].machine, .slot = i};
        }
    }
    if (count > 1) {
        qsort(places, count, sizeof *places, by_machine);
    }
    for (size_t i = 0, number = 0; i < count; i++) {
        const struct plan_slot *slot = &in->slots[places[i].slot];
        number += i > 0 && by_machine(&places[i - 1], &places[i]) != 0 ? 1 : 0;
        machine[places[i].slot] = number;
        cycle->wakes[number] =
            cycle->wakes[number] || slot->waking || cycle->held[places[i].slot] > 0;
    }
    cycle->machine = machine;
    return 0;
}

struct change {
    uint64_t serial;
    size_t slot;
};

static int by_change(const void *left, const void *right)
{
    const struct change *a = left, *b = right;
    return (a->serial < b->serial) - (a->serial > b->serial);
}

static int find_recent(struct cycle *cycle)
{
    const struct plan_input *in = cycle->in;
    struct change *changes = arena_alloc(cycle->arena, (in->slot_count + 1) * sizeof *changes);
    size_t *recent = arena_alloc(cycle->arena, (in->slot_count + 1) * sizeof *recent);
    if (changes == NULL || recent == NULL) {
        return -ENOMEM;
    }
    size_t count = 0;
    for (size_t i = 0; i < in->slot_count; i++) {
        if (in->slots[i].offline) {
            changes[count++] = (struct change){.serial = in->slots[i].serial, .slot = i};
        }
    }
    if (count > 1) {
        qsort(changes, count, sizeof *changes, by_change);
    }
    for (size_t i = 0; i < count; i++) {
        recent[i] = changes[i].slot;
    }
    cycle->recent = recent;
    cycle->recent_count = count;
    return 0;
}

static int hold_more(struct cycle *cycle, size_t request_index)
{
    if (cycle->recent == NULL && find_recent(cycle) != 0) {
        return -ENOMEM;
    }
    if (is_barren(cycle, request_index)) {
        return 0;
    }
    if (cycle->machine == NULL && number_machines(cycle) != 0) {
        return -ENOMEM;
    }
    size_t count;
    const struct candidate *list = candidates(cycle, request_index, &count);
    for (size_t i = 0; i < count && cycle->wanted[request_index] > 0; i++) {
        cycle->out.held[cycle->out.held_count++] =
            (struct plan_hold){.slot = list[i].slot, .request = request_index};
        cycle->taken[list[i].slot] = true;
        cycle->wakes[list[i].machine] = true;
        cycle->wanted[request_index]--;
    }
    return 0;
}

static int hold_offline(struct cycle *cycle)
{
    settle_holds(cycle);
    for (size_t i = 0; i < cycle->in->request_count; i++) {
        release_surplus(cycle, cycle->order[i]);
    }
    open_slots(cycle, true);
    int rc = 0;
    for (size_t i = 0; i < cycle->in->request_count && rc == 0; i++) {
        size_t request = cycle->order[i];
        bool more = cycle->wanted[request] > 0 && !cycle->in->requests[request].resting;
        rc = more ? hold_more(cycle, request) : 0;
    }
    return rc;
}

/* ---- the cycle */

static size_t count_holds(const struct plan_input *in)
{
    size_t count = 0;
    for (size_t i = 0; i < in->slot_count; i++) {
        count += in->slots[i].holds != NULL ? offline_holds_entries(in->slots[i].holds) : 0;
    }
    return count;
}

int negotiator_plan_cycle(const struct plan_input *input, struct arena *arena,
                          struct plan_output *ret)
{
    if (input->slot_count > NEGOTIATOR_SLOTS_MAX ||
        input->request_count > NEGOTIATOR_REQUESTS_MAX) {
        return -E2BIG;
    }
    struct cycle cycle = {.in = input, .arena = arena, .matches_max = input->slot_count};
    cycle.wanted = arena_zalloc(arena, (input->request_count + 1) * sizeof *cycle.wanted);
    cycle.taken = arena_zalloc(arena, (input->slot_count + 1) * sizeof *cycle.taken);
    cycle.list = arena_alloc(arena, (input->slot_count + 1) * sizeof *cycle.list);
    cycle.held = arena_zalloc(arena, (input->slot_count + 1) * sizeof *cycle.held);
    cycle.open = arena_alloc(arena, (input->slot_count + 1) * sizeof *cycle.open);
    cycle.out.matches = arena_alloc(arena, (input->slot_count + 1) * sizeof *cycle.out.matches);
    cycle.out.held = arena_alloc(arena, (input->slot_count + 1) * sizeof *cycle.out.held);
    cycle.out.released = arena_alloc(arena, (count_holds(input) + 1) * sizeof *cycle.out.released);
    if (cycle.wanted == NULL || cycle.taken == NULL || cycle.held == NULL || cycle.list == NULL ||
        cycle.open == NULL || cycle.out.matches == NULL || cycle.out.held == NULL ||
        cycle.out.released == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < input->request_count; i++) {
        const struct plan_request *request = &input->requests[i];
        cycle.wanted[i] =
            request->count > request->in_flight ? request->count - request->in_flight : 0;
    }
    int rc = order_requests(&cycle);
    if (rc == 0) {
        match_live(&cycle);
        rc = hold_offline(&cycle);
    }
    if (rc == 0) {
        *ret = cycle.out;
    }
    return rc;
}
