/* negotiator/negotiator_plan.c - plans one negotiation cycle: see negotiator_plan.h.
 *
 * Three steps.  Slots that are free or may be taken over are given out, in the order of
 * share_plan.h.  Holds that are not wanted any more are taken back.  Jobs that still have no slot
 * are held on offline slots.  Where running slots need not come first, the second step comes first,
 * and the first step gives out both kinds.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/negotiator_plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/limit_plan.h"
#include "negotiator/plan_state.h"

#define PRIORITY_OF_THE_UNKNOWN 0.5 /* nobody who never ran anything is worse off than that */

#define WEIGHT_MIN 0.001 /* no slot weighs less, but for those that weigh nothing */

#define LIVE    (1U << PLACE_LIVE)
#define OFFLINE (1U << PLACE_NEAR | 1U << PLACE_BACK | 1U << PLACE_FAR)
#define LAST    (1U << PLACE_LAST)

struct user {            /* a user who has requests */
    size_t share;        /* index in the shares' users */
    size_t first, count; /* requests of it in order[] */
};

struct outcome { /* grows; copied into the arena at the end */
    struct plan_match *matches;
    struct plan_hold *held;
    struct plan_release *released;
    struct plan_rejection *rejected;
    size_t match_count, match_room, held_count, held_room, released_count, released_room,
        rejected_count, rejected_room;
};

struct cycle {
    struct negotiator_plan *plan;
    struct share_input in; /* the shares as the caller gave them */
    struct arena *arena;
    uint32_t *order; /* requests by user's priority, user, then as users want them */
    size_t order_count;
    struct share_user *users; /* users of the input, and those who only have requests */
    size_t user_count;
    struct user *of_share;     /* by index of users; count 0: it has no requests */
    struct strmap *user_index; /* name -> index + 1 */
    struct share_plan *shares;
    struct limit_plan *limits;  /* NULL: none */
    struct plan_in_use *in_use; /* NULL: not looked for */
    struct outcome out;
};

static void *grow_array(void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return array;
    }
    *room = *room > 0 ? 2 * *room : 64;
    return mem_realloc(array, *room * size);
}

/* ---- users and the order of their requests */

static double priority_of(const void *arg, const char *user)
{
    const struct cycle *cycle = arg;
    uintptr_t index = (uintptr_t)strmap_get(cycle->user_index, user);
    return index != 0 ? cycle->users[index - 1].priority : PRIORITY_OF_THE_UNKNOWN;
}

static int find_users(struct cycle *cycle)
{
    const struct share_input *in = &cycle->in;
    struct negotiator_plan *plan = cycle->plan;
    size_t room = in->user_count + plan->request_count + 1;
    cycle->users = arena_zalloc(cycle->arena, room * sizeof *cycle->users);
    cycle->of_share = arena_zalloc(cycle->arena, room * sizeof *cycle->of_share);
    if (cycle->users == NULL || cycle->of_share == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < in->user_count; i++) {
        cycle->users[i] = in->users[i];
        cycle->users[i].wanted = 0;
        cycle->users[i].priority =
            in->users[i].priority > 0 ? in->users[i].priority : PRIORITY_OF_THE_UNKNOWN;
        (void)strmap_set(cycle->user_index, in->users[i].name, (void *)(uintptr_t)(i + 1));
    }
    cycle->user_count = in->user_count;
    for (uint32_t i = 0; i < plan->request_room; i++) {
        const struct request *request = &plan->requests[i];
        if (!request->there || strmap_get(cycle->user_index, request->facts.user) != NULL) {
            continue;
        }
        size_t group = in->groups != NULL
                           ? group_plan_of(in->groups, in->group_count, request->facts.user)
                           : 0;
        cycle->users[cycle->user_count] = (struct share_user){.name = request->facts.user,
                                                              .priority = PRIORITY_OF_THE_UNKNOWN,
                                                              .ceiling = -1,
                                                              .group = group};
        cycle->user_count++;
        (void)strmap_set(cycle->user_index, request->facts.user,
                         (void *)(uintptr_t)cycle->user_count);
    }
    return 0;
}

struct sort_key {
    uint32_t number;
    size_t user;
    double priority;
    const struct plan_request *request;
};

static int by_share(const void *left, const void *right)
{
    const struct sort_key *a = left, *b = right;
    if (a->priority != b->priority) {
        return a->priority < b->priority ? -1 : 1; /* lower is better */
    }
    int order = a->user == b->user ? 0 : strcmp(a->request->user, b->request->user);
    if (order == 0 && a->request->prio != b->request->prio) {
        order = a->request->prio > b->request->prio ? -1 : 1;
    }
    if (order == 0 && a->request->qdate_s != b->request->qdate_s) {
        order = a->request->qdate_s < b->request->qdate_s ? -1 : 1;
    }
    return order != 0 ? order : strcmp(a->request->name, b->request->name);
}

/* Returns the weight of the wanted jobs, as far as known without a slot. */
static double weight_wanted(const struct request *request)
{
    double each = ad_real_or(request->facts.ad, "RequestCpus", 1);
    return ((double)request->wanted + (double)request->moving) *
           (each >= 1 && each < 1e6 ? each : 1);
}

/* Reduces what the request wants to what its concurrency limits allow. */
static void bound_by_limits(struct cycle *cycle, struct request *request)
{
    const char *limits = request->facts.limits;
    if (cycle->limits != NULL && limits != NULL && limits[0] != '\0' && request->wanted > 0) {
        int64_t room = limit_plan_room(cycle->limits, limits);
        request->ends.limited = request->ends.limited || room < request->wanted;
        request->wanted = request->wanted < room ? request->wanted : room;
    }
}

static void use_limits(struct cycle *cycle, const struct request *request, int64_t jobs)
{
    if (cycle->limits != NULL && request->facts.limits != NULL) {
        limit_plan_take(cycle->limits, request->facts.limits, jobs);
    }
}

static int order_requests(struct cycle *cycle)
{
    struct negotiator_plan *plan = cycle->plan;
    struct sort_key *keys = arena_alloc(cycle->arena, (plan->request_count + 1) * sizeof *keys);
    cycle->order = arena_alloc(cycle->arena, (plan->request_count + 1) * sizeof *cycle->order);
    if (keys == NULL || cycle->order == NULL) {
        return -ENOMEM;
    }
    size_t count = 0;
    for (uint32_t i = 0; i < plan->request_room; i++) {
        struct request *request = &plan->requests[i];
        const struct plan_request *facts = &request->facts;
        if (!request->there) {
            continue;
        }
        size_t user = (size_t)(uintptr_t)strmap_get(cycle->user_index, facts->user) - 1;
        int64_t idle = facts->count > 0 ? facts->count : 0;
        int64_t flying = facts->in_flight > idle ? facts->in_flight - idle : 0;
        request->wanted = flying > 0 ? 0 : idle - facts->in_flight;
        request->moving = facts->waiting > flying ? facts->waiting - flying : 0;
        request->ends.spent = request->ends.spent_claims = facts->resting;
        request->ends.limited = false;
        request->ends.holds_bar = SHARE_BAR_NONE;
        bound_by_limits(cycle, request);
        keys[count++] = (struct sort_key){.number = i,
                                          .user = user,
                                          .priority = cycle->users[user].priority,
                                          .request = facts};
    }
    if (count > 1) {
        qsort(keys, count, sizeof *keys, by_share);
    }
    for (size_t i = 0; i < count; i++) {
        struct user *user = &cycle->of_share[keys[i].user];
        cycle->order[i] = keys[i].number;
        user->first = user->count == 0 ? i : user->first;
        user->count++;
    }
    cycle->order_count = count;
    return 0;
}

/* ---- shares */

static int find_machines(struct cycle *cycle, struct share_input *input)
{
    const struct share_input *in = &cycle->in;
    struct share_pair *pairs = arena_alloc(cycle->arena, (cycle->order_count + 1) * sizeof *pairs);
    if (pairs == NULL) {
        return -ENOMEM;
    }
    struct strmap *index = strmap_create(STRMAP_CASE_SENSITIVE);
    for (size_t i = 0; i < in->machine_count; i++) {
        (void)strmap_set(index, in->machines[i].name, (void *)(uintptr_t)(i + 1));
    }
    for (size_t i = 0; i < cycle->user_count; i++) {
        const struct user *user = &cycle->of_share[i];
        size_t first = input->pair_count;
        for (size_t j = 0; j < user->count; j++) {
            const struct request *request = &cycle->plan->requests[cycle->order[user->first + j]];
            uintptr_t machine = (uintptr_t)strmap_get(index, request->facts.schedd);
            bool known = machine == 0;
            for (size_t k = first; k < input->pair_count && !known; k++) {
                known = pairs[k].machine == machine - 1;
            }
            if (!known) {
                pairs[input->pair_count++] = (struct share_pair){.user = i, .machine = machine - 1};
            }
        }
    }
    strmap_destroy(index, NULL);
    input->machines = in->machines;
    input->machine_count = in->machine_count;
    input->pairs = pairs;
    return 0;
}

static int begin_shares(struct cycle *cycle)
{
    static const char ROOT[] = GROUP_ROOT_NAME;
    const struct share_input *in = &cycle->in;
    struct negotiator_plan *plan = cycle->plan;
    struct share_input input = {.users = cycle->users,
                                .user_count = cycle->user_count,
                                .groups = in->groups,
                                .group_count = in->group_count,
                                .free = (double)plan->free_weight / 1000,
                                .total = (double)plan->total_weight / 1000,
                                .weight_min = in->weight_min,
                                .round_robin = in->round_robin,
                                .consider_preemption = plan->policy.consider_preemption};
    if (input.groups == NULL) {
        input.groups = arena_zalloc(cycle->arena, sizeof *input.groups);
        if (input.groups == NULL) {
            return -ENOMEM;
        }
        *input.groups = (struct group_entry){.name = ROOT, .ceiling = -1};
        input.group_count = 1;
        group_plan_quotas(input.groups, 1, input.total, false);
    }
    for (size_t i = 0; i < cycle->user_count; i++) {
        const struct user *user = &cycle->of_share[i];
        for (size_t j = 0; j < user->count; j++) {
            const struct request *request = &plan->requests[cycle->order[user->first + j]];
            cycle->users[i].wanted += request->ends.spent ? 0 : weight_wanted(request);
        }
    }
    int rc = in->machines != NULL ? find_machines(cycle, &input) : 0;
    return rc != 0 ? rc : share_plan_create(&input, cycle->arena, &cycle->shares);
}

/* ---- what is given out */

static void add_match(struct cycle *cycle, const struct slot *slot, const struct request *request,
                      enum plan_preemption preemption, int64_t weight)
{
    struct outcome *out = &cycle->out;
    out->matches =
        grow_array(out->matches, out->match_count, &out->match_room, sizeof *out->matches);
    out->matches[out->match_count++] = (struct plan_match){.slot = slot->facts.number,
                                                           .request = request->facts.number,
                                                           .preemption = preemption,
                                                           .weight = (double)weight / 1000};
}

static void add_hold(struct cycle *cycle, const struct slot *slot, const struct request *request)
{
    struct outcome *out = &cycle->out;
    out->held = grow_array(out->held, out->held_count, &out->held_room, sizeof *out->held);
    out->held[out->held_count++] =
        (struct plan_hold){.slot = slot->facts.number, .request = request->facts.number};
}

/* Gives free slots to a request, within the offer of its user.  False: the offer is used up. */
static bool match_free(struct cycle *cycle, struct request *request)
{
    struct negotiator_plan *plan = cycle->plan;
    unsigned places = LIVE | (plan->policy.offline_last ? 0 : OFFLINE);
    struct choice *choice = plan_choice_begin(plan, request, places);
    bound_by_limits(cycle, request);
    while (request->wanted > 0) {
        struct slot *slot = plan_choice_best(choice);
        if (slot == NULL) {
            request->ends.spent = true;
            return true;
        }
        if (slot->facts.offline) { /* not charged */
            add_hold(cycle, slot, request);
        } else {
            int64_t weight = plan_weight(plan, slot, request);
            if (!share_permits(cycle->shares, (double)weight / 1000, false)) {
                return false;
            }
            share_took(cycle->shares, (double)weight / 1000, false);
            add_match(cycle, slot, request, PLAN_FREE, weight);
        }
        plan_choice_give(choice, slot);
        use_limits(cycle, request, 1);
        request->wanted--;
    }
    return true;
}

/* Gives free slots to jobs of a request that wait for a slot in use, when no job is idle. */
static void match_waiting(struct cycle *cycle, struct request *request)
{
    struct negotiator_plan *plan = cycle->plan;
    if (request->wanted > 0 || request->moving <= 0) {
        return;
    }
    struct choice *choice = plan_choice_begin(plan, request, LIVE);
    while (request->moving > 0) {
        struct slot *slot = plan_choice_best(choice);
        int64_t weight = slot != NULL ? plan_weight(plan, slot, request) : 0;
        if (slot == NULL || !share_permits(cycle->shares, (double)weight / 1000, false)) {
            request->moving = slot == NULL ? 0 : request->moving;
            return;
        }
        share_took(cycle->shares, (double)weight / 1000, false);
        add_match(cycle, slot, request, PLAN_FREE, weight);
        plan_choice_give(choice, slot);
        request->moving--;
    }
}

/* Gives slots in use to a request, within the offer of its user. */
static void match_claims(struct cycle *cycle, struct request *request, bool only_rank)
{
    struct negotiator_plan *plan = cycle->plan;
    bool by_priority =
        !only_rank && plan->takes_by_priority && share_permits(cycle->shares, WEIGHT_MIN, true);
    bound_by_limits(cycle, request); /* another may have used it up since */
    if (request->wanted <= 0 || request->ends.spent_claims) {
        return;
    }
    plan_claims_find(plan, request, by_priority, priority_of, cycle);
    while (request->wanted > 0) {
        struct takeover best = plan_claims_next(plan);
        if (best.slot == NULL) { /* by Rank nothing comes free again, by priority perhaps */
            request->ends.spent_claims = by_priority || (!only_rank && !plan->takes_by_priority);
            return;
        }
        int64_t weight = plan_weight(plan, best.slot, request);
        double cost = (double)weight / 1000;
        if (best.why == PLAN_BY_PRIORITY && !share_permits(cycle->shares, cost, true)) {
            return;
        }
        share_took(cycle->shares, cost, true);
        add_match(cycle, best.slot, request, best.why, weight);
        plan_give(plan, best.slot, request);
        use_limits(cycle, request, 1);
        request->wanted--;
    }
}

static void match_offer(struct cycle *cycle, const struct share_offer *offer)
{
    struct negotiator_plan *plan = cycle->plan;
    const struct user *user = &cycle->of_share[offer->user];
    const char *schedd =
        offer->machine != SHARE_ANY ? cycle->in.machines[offer->machine].name : NULL;
    bool open = !offer->only_rank, more = false;
    for (size_t i = 0; i < user->count; i++) {
        struct request *request = &plan->requests[cycle->order[user->first + i]];
        if ((request->wanted <= 0 && request->moving <= 0) ||
            (schedd != NULL && strcmp(request->facts.schedd, schedd) != 0)) {
            continue;
        }
        if (open && !request->ends.spent) {
            (void)match_free(cycle, request);
            match_waiting(cycle, request);
        }
        if (plan->policy.consider_preemption && (request->ends.spent || offer->only_rank)) {
            match_claims(cycle, request, offer->only_rank);
        }
        more = more ||
               (request->wanted <= 0 && request->moving > 0 && open && !request->ends.spent) ||
               (request->wanted > 0 && (!request->ends.spent || (plan->policy.consider_preemption &&
                                                                 !request->ends.spent_claims)));
    }
    if (!more) {
        share_exhausted(cycle->shares);
    }
}

static int match_live(struct cycle *cycle)
{
    struct share_offer offer;
    int rc = begin_shares(cycle);
    while (rc == 0 && share_next(cycle->shares, &offer)) {
        match_offer(cycle, &offer);
    }
    return rc;
}

/* ---- holds */

static void release_hold(struct cycle *cycle, struct slot *slot, struct held *held)
{
    struct outcome *out = &cycle->out;
    out->released =
        grow_array(out->released, out->released_count, &out->released_room, sizeof *out->released);
    out->released[out->released_count++] =
        (struct plan_release){.slot = slot->facts.number,
                              .schedd = held->holder->schedd,
                              .auto_cluster = held->holder->auto_cluster};
    plan_release(cycle->plan, slot, held);
}

static struct held *held_by(struct slot *slot, const struct holder *holder)
{
    for (uint32_t i = 0; i < slot->held_count; i++) {
        if (slot->held[i].holder == holder && !slot->held[i].released) {
            return &slot->held[i];
        }
    }
    return NULL;
}

static int by_order(const void *left, const void *right)
{
    const struct slot *a = *(struct slot *const *)left, *b = *(struct slot *const *)right;
    return (a->order > b->order) - (a->order < b->order);
}

/* Returns the slots of a holder in order, in the arena; NULL: the arena is full. */
static struct slot **slots_of(struct cycle *cycle, const struct holder *holder)
{
    struct slot **slots = arena_alloc(cycle->arena, (holder->slots.count + 1) * sizeof *slots);
    for (uint32_t i = 0; slots != NULL && i < holder->slots.count; i++) {
        slots[i] = &cycle->plan->slots[holder->slots.items[i]];
    }
    if (slots != NULL && holder->slots.count > 1) {
        qsort(slots, holder->slots.count, sizeof(struct slot *), by_order);
    }
    return slots;
}

/* Takes back holds on machines that do not come. */
static void release_barred(struct cycle *cycle)
{
    struct negotiator_plan *plan = cycle->plan;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < plan->barred_slots.count; i++) {
        uint32_t number = plan->barred_slots.items[i];
        struct slot *slot = &plan->slots[number];
        slot->lists.barred =
            slot->there && slot->facts.offline && slot->facts.barred && slot->held_count > 0;
        if (!slot->lists.barred) {
            continue;
        }
        plan->barred_slots.items[kept++] = number;
        for (uint32_t j = 0; j < slot->held_count; j++) {
            release_hold(cycle, slot, &slot->held[j]);
        }
    }
    plan->barred_slots.count = kept;
}

/* Takes back holds of requests that are gone. */
static int release_orphans(struct cycle *cycle)
{
    size_t at = 0;
    void *value;
    while (strmap_next(cycle->plan->holders, &at, NULL, &value)) {
        const struct holder *holder = value;
        if (holder->request != NUMBER_NONE) {
            continue;
        }
        struct slot **slots = slots_of(cycle, holder);
        if (slots == NULL) {
            return -ENOMEM;
        }
        for (uint32_t i = 0; i < holder->slots.count; i++) {
            struct held *held = held_by(slots[i], holder);
            if (held != NULL) {
                release_hold(cycle, slots[i], held);
            }
        }
    }
    return 0;
}

/* Takes back the holds of a request on machines that are not to be woken now, if another machine
 * could be held. */
static void leave_unwilling(struct cycle *cycle, const struct request *request,
                            struct slot *const *slots, uint32_t count)
{
    struct negotiator_plan *plan = cycle->plan;
    for (uint32_t i = 0; i < count && !request->facts.resting; i++) {
        struct slot *slot = slots[i];
        struct held *held = held_by(slot, request->holder);
        if (held == NULL || !slot->facts.unwilling || plan->machines[slot->machine].waking > 0) {
            continue;
        }
        if (plan_choice_best(plan_choice_begin(plan, request, OFFLINE)) == NULL) {
            return;
        }
        release_hold(cycle, slot, held);
    }
}

/* Subtracts what is held for a request from what it wants.  If more is held than wanted, the last
 * slots in order are released first.  A machine that is being woken keeps its holds: it comes
 * anyway, and the hold tells why. */
static int release_surplus(struct cycle *cycle, struct request *request)
{
    const struct holder *holder = request->holder;
    bound_by_limits(cycle, request);
    if (holder->slots.count == 0) {
        return 0;
    }
    int64_t kept = 0;
    struct slot **slots = slots_of(cycle, holder);
    if (slots == NULL) {
        return -ENOMEM;
    }
    leave_unwilling(cycle, request, slots, holder->slots.count);
    for (uint32_t i = 0; i < holder->slots.count; i++) {
        const struct held *held = held_by(slots[i], holder);
        request->wanted -= held != NULL ? held->count : 0;
        kept += held != NULL ? held->count : 0;
    }
    for (uint32_t i = holder->slots.count; i > 0 && request->wanted < 0; i--) {
        struct slot *slot = slots[i - 1];
        struct held *held = held_by(slot, holder);
        bool waking = cycle->plan->machines[slot->machine].waking > 0;
        if (held != NULL && !waking && request->wanted + held->count <= 0) {
            request->wanted += held->count;
            kept -= held->count;
            release_hold(cycle, slot, held);
        }
    }
    use_limits(cycle, request, kept);
    return 0;
}

static int settle_holds(struct cycle *cycle)
{
    release_barred(cycle);
    int rc = release_orphans(cycle);
    for (size_t i = 0; i < cycle->order_count && rc == 0; i++) {
        rc = release_surplus(cycle, &cycle->plan->requests[cycle->order[i]]);
    }
    return rc;
}

static size_t user_of(const struct cycle *cycle, const struct request *request)
{
    return (size_t)(uintptr_t)strmap_get(cycle->user_index, request->facts.user) - 1;
}

/* Counts the holds that stay for the ceilings of their users. */
static void count_holds(struct cycle *cycle)
{
    struct negotiator_plan *plan = cycle->plan;
    for (size_t i = 0; i < cycle->order_count; i++) {
        const struct request *request = &plan->requests[cycle->order[i]];
        const struct holder *holder = request->holder;
        for (uint32_t j = 0; j < holder->slots.count; j++) {
            struct slot *slot = &plan->slots[holder->slots.items[j]];
            const struct held *held = held_by(slot, holder);
            int64_t weight = held != NULL ? plan_weight(plan, slot, request) * held->count : 0;
            share_held(cycle->shares, user_of(cycle, request), (double)weight / 1000);
        }
    }
}

/* Holds slots in the heaps `places` for one request. */
static void hold_for(struct cycle *cycle, struct request *request, unsigned places)
{
    struct choice *choice = plan_choice_begin(cycle->plan, request, places);
    struct slot *slot;
    size_t user = user_of(cycle, request);
    bound_by_limits(cycle, request);
    while (request->wanted > 0 && (slot = plan_choice_best(choice)) != NULL) {
        double weight = (double)plan_weight(cycle->plan, slot, request) / 1000;
        enum share_bar bar = share_bar_of(cycle->shares, user, weight);
        if (bar == SHARE_BAR_CEILING || bar == SHARE_BAR_GROUP) {
            request->ends.holds_bar = bar;
            break;
        }
        share_held(cycle->shares, user, weight);
        add_hold(cycle, slot, request);
        plan_choice_give(choice, slot);
        use_limits(cycle, request, 1);
        request->wanted--;
    }
}

/* Begins a round of holds: divides the quotas among the groups whose users want to hold more.
 * Returns false if nobody does.  After the first round these are the users whom only the quota
 * stopped, since others may have left some. */
static bool begin_holds(struct cycle *cycle, bool *wants, bool first)
{
    bool any = false;
    memset(wants, 0, (cycle->user_count + 1) * sizeof *wants);
    for (size_t i = 0; i < cycle->order_count; i++) {
        struct request *request = &cycle->plan->requests[cycle->order[i]];
        bool open = first || request->ends.holds_bar == SHARE_BAR_GROUP;
        request->ends.holds = open && request->wanted > 0 && !request->facts.resting;
        if (request->ends.holds) {
            request->ends.holds_bar = SHARE_BAR_NONE;
            any = wants[user_of(cycle, request)] = true;
        }
    }
    share_holds_begin(cycle->shares, wants);
    return any;
}

/* Held slots are not charged, because they do nothing yet; but no more is held than its user and
 * the user's group may have when the machines are awake: else they would wake for nothing. */
static int hold_offline(struct cycle *cycle)
{
    static const unsigned PLACES[] = {OFFLINE, LAST};
    bool *wants = arena_alloc(cycle->arena, (cycle->user_count + 1) * sizeof *wants);
    if (wants == NULL) {
        return -ENOMEM;
    }
    count_holds(cycle);
    for (size_t round = 0; round < SHARE_ROUNDS_MAX && begin_holds(cycle, wants, round == 0);
         round++) {
        for (size_t i = 0; i < ARRAY_COUNT(PLACES) * cycle->order_count; i++) {
            struct request *request = &cycle->plan->requests[cycle->order[i % cycle->order_count]];
            if (request->ends.holds && request->wanted > 0) {
                hold_for(cycle, request, PLACES[i / cycle->order_count]);
            }
        }
    }
    return 0;
}

/* ---- what got nothing */

static enum plan_reason reason_of(struct cycle *cycle, const struct request *request)
{
    struct negotiator_plan *plan = cycle->plan;
    if (request->ends.limited && limit_plan_room(cycle->limits, request->facts.limits) <= 0) {
        return PLAN_CONCURRENCY_LIMIT;
    }
    const struct slot *slot = plan_choice_best(plan_choice_begin(plan, request, LIVE));
    if (slot == NULL && request->ends.holds_bar == SHARE_BAR_CEILING) {
        return PLAN_SUBMITTER_CEILING;
    }
    if (slot == NULL && request->ends.holds_bar == SHARE_BAR_GROUP) {
        return PLAN_GROUP_QUOTA;
    }
    if (slot == NULL) {
        if (plan->policy.consider_preemption && cycle->in_use == NULL) {
            cycle->in_use = plan_in_use_find(plan, cycle->arena);
        }
        return cycle->in_use != NULL
                   ? plan_claims_reason(plan, cycle->in_use, request, priority_of, cycle)
                   : PLAN_NO_MATCH;
    }
    switch (share_bar_of(cycle->shares, user_of(cycle, request),
                         (double)plan_weight(plan, slot, request) / 1000)) {
    case SHARE_BAR_CEILING:
        return PLAN_SUBMITTER_CEILING;
    case SHARE_BAR_GROUP:
        return PLAN_GROUP_QUOTA;
    default:
        return PLAN_SUBMITTER_LIMIT;
    }
}

static void explain_rejections(struct cycle *cycle)
{
    struct outcome *out = &cycle->out;
    for (size_t i = 0; i < cycle->order_count; i++) {
        const struct request *request = &cycle->plan->requests[cycle->order[i]];
        if (!request->facts.explain || request->facts.resting ||
            (request->wanted <= 0 && !request->ends.limited)) {
            continue;
        }
        out->rejected = grow_array(out->rejected, out->rejected_count, &out->rejected_room,
                                   sizeof *out->rejected);
        out->rejected[out->rejected_count++] =
            (struct plan_rejection){.request = request->facts.number,
                                    .reason = reason_of(cycle, request)};
    }
}

/* ---- the cycle */

static int copy_out(struct cycle *cycle, const void *from, size_t bytes, void **ret)
{
    *ret = arena_alloc(cycle->arena, bytes + 1);
    if (*ret == NULL) {
        return -ENOMEM;
    }
    if (bytes > 0) {
        memcpy(*ret, from, bytes);
    }
    return 0;
}

static int copy_all(struct cycle *cycle, struct plan_output *ret)
{
    const struct outcome *out = &cycle->out;
    struct plan_output copy = {.match_count = out->match_count,
                               .held_count = out->held_count,
                               .released_count = out->released_count,
                               .rejected_count = out->rejected_count};
    void *matches, *held, *released, *rejected;
    int rc = copy_out(cycle, out->matches, out->match_count * sizeof *out->matches, &matches);
    rc = rc != 0 ? rc : copy_out(cycle, out->held, out->held_count * sizeof *out->held, &held);
    rc = rc != 0 ? rc
                 : copy_out(cycle, out->released, out->released_count * sizeof *out->released,
                            &released);
    rc = rc != 0 ? rc
                 : copy_out(cycle, out->rejected, out->rejected_count * sizeof *out->rejected,
                            &rejected);
    if (rc == 0) {
        copy.matches = matches;
        copy.held = held;
        copy.released = released;
        copy.rejected = rejected;
        copy.evaluated = verdicts_evaluated(cycle->plan->verdicts);
        copy.slot_kinds = kinds_count(cycle->plan->kinds, KINDS_SLOT);
        copy.request_kinds = kinds_count(cycle->plan->kinds, KINDS_JOB);
        *ret = copy;
    }
    return rc;
}

bool negotiator_plan_prepare(struct negotiator_plan *plan, const struct ad_context *context,
                             bool full, uint64_t steps)
{
    uint64_t end = verdicts_steps(plan->verdicts) + steps;
    if (!plan_refresh(plan, context, full, end)) {
        return false;
    }
    for (uint32_t i = 0; i < plan->request_room; i++) {
        const struct request *request = &plan->requests[i];
        if (request->there && !verdicts_prepare(plan->verdicts, request->kind, end)) {
            return false;
        }
    }
    return true;
}

bool negotiator_plan_take_costly(struct negotiator_plan *plan, struct plan_costly *ret)
{
    enum kinds_side side;
    uint32_t kind;
    while (verdicts_take_costly(plan->verdicts, &side, &kind)) {
        uint32_t room = side == KINDS_SLOT ? plan->slot_room : plan->request_room;
        for (uint32_t i = 0; i < room; i++) {
            bool is_it = side == KINDS_SLOT
                             ? plan->slots[i].there && plan->slots[i].kind == kind
                             : plan->requests[i].there && plan->requests[i].kind == kind;
            if (is_it) {
                *ret = (struct plan_costly){.is_slot = side == KINDS_SLOT, .number = i};
                return true;
            }
        }
    }
    return false;
}

int negotiator_plan_cycle(struct negotiator_plan *plan, const struct plan_input *input,
                          struct arena *arena, struct plan_output *ret)
{
    struct cycle cycle = {.plan = plan,
                          .arena = arena,
                          .user_index = strmap_create(STRMAP_CASE_SENSITIVE)};
    if (input->shares != NULL) {
        cycle.in = *input->shares;
    }
    cycle.limits = input->limits;
    if (cycle.limits != NULL) {
        limit_plan_begin(cycle.limits);
    }
    (void)plan_refresh(plan, input->context, input->full, UINT64_MAX); /* that is all */
    plan_claims_begin(plan);
    int rc = find_users(&cycle);
    rc = rc != 0 ? rc : order_requests(&cycle);
    if (rc == 0 && plan->policy.offline_last) {
        rc = match_live(&cycle);
        rc = rc != 0 ? rc : settle_holds(&cycle);
    } else if (rc == 0) {
        rc = settle_holds(&cycle);
        rc = rc != 0 ? rc : match_live(&cycle);
    }
    rc = rc != 0 ? rc : hold_offline(&cycle);
    if (rc == 0) {
        explain_rejections(&cycle);
        rc = copy_all(&cycle, ret);
    }
    plan_claims_end(plan);
    plan_undo(plan);
    strmap_destroy(cycle.user_index, NULL);
    mem_free(cycle.out.matches);
    mem_free(cycle.out.held);
    mem_free(cycle.out.released);
    mem_free(cycle.out.rejected);
    return rc;
}
