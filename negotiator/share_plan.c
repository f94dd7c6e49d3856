/* negotiator/share_plan.c - decides whose turn it is, and how much he may take: see share_plan.h.
 *
 * A turn is one group's part of a round.  Its entries (users, or pairs of user and machine) are
 * collected when it begins.  A spin drops the exhausted ones and computes the slices again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "negotiator/share_plan.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define WANTS_ALL       1e12 /* more weight than any pool has */
#define DUST            1e-9
#define PRIORITY_MIN    1e-6
#define PRIORITY_MAX    1e30
#define ROBIN_STEPS_MAX 1000 /* a slower round robin is made faster */

enum phase { PHASE_FLOORS, PHASE_ROUND, PHASE_TURN, PHASE_SPIN, PHASE_MACHINES, PHASE_OVER };

struct entry { /* a user, or a user at a machine */
    size_t user, machine;
    double priority;
    bool done;  /* exhausted */
    bool asked; /* the user was offered an only_rank */
};

struct share_plan {
    struct share_input in;
    struct entry *entries; /* by group, [machine,] priority, name */
    size_t entry_count;
    size_t *group_first; /* by group: its first entry; [group_count]: the end */
    size_t *group_order;
    double *used;       /* by user: now, what was taken in this cycle included */
    double *group_used; /* by group */
    double *begun;      /* by group: group_used at the beginning of the round */
    double *share;      /* by user: of the pie, for accounting ads */
    double free;
    enum phase phase;
    unsigned round, spin;
    double step, rate, step_max; /* round robin: weight that groups may have gained so far */
    size_t turn;                 /* position in group_order */
    /* Of the current turn. */
    struct entry **active;
    size_t active_count, at;
    double group_limit; /* weight that the group may have in all */
    bool regroup;       /* the root serves those that regroup */
    /* Of the current spin. */
    double sum, pie, cut; /* sum of 1/priority; weight to be shared; factor for all slices */
    bool progress;
    /* All have their share of the pool, and slots are free: each gets a slice of what is free. This
     * is so while slots are taken over, because such slots count as used twice. */
    bool leftover;
    /* machines */
    int64_t *given;  /* by machine: jobs in this cycle */
    size_t *heap;    /* machines of the turn, the best first */
    size_t *next_of; /* by machine: next in active, of its entries */
    size_t *end_of;  /* by machine */
    size_t heap_count;
    /* the offer that is out */
    struct entry *current;
    struct share_offer offer;
    double offer_used;
    int64_t offer_jobs;
};

/* ---- order */

struct ordering {
    struct entry entry;
    const struct share_user *user;
};

static int by_turn(const void *left, const void *right)
{
    const struct ordering *a = left, *b = right;
    if (a->user->group != b->user->group) {
        return a->user->group < b->user->group ? -1 : 1;
    }
    if (a->entry.machine != b->entry.machine) {
        return a->entry.machine < b->entry.machine ? -1 : 1;
    }
    if (a->entry.priority != b->entry.priority) {
        return a->entry.priority < b->entry.priority ? -1 : 1;
    }
    return strcmp(a->user->name, b->user->name);
}

struct group_rank {
    size_t index;
    double key;
};

static int by_sort_key(const void *left, const void *right)
{
    const struct group_rank *a = left, *b = right;
    if (a->key != b->key) {
        return a->key < b->key ? -1 : 1;
    }
    if ((a->index == 0) != (b->index == 0)) {
        return a->index == 0 ? 1 : -1; /* the root after its equals */
    }
    return (a->index > b->index) - (a->index < b->index);
}

static bool has_machines(const struct share_plan *plan)
{
    return plan->in.machines != NULL;
}

static double sane_priority(const struct share_user *user)
{
    double priority = user->priority;
    if (isnan(priority) || priority > PRIORITY_MAX) {
        return PRIORITY_MAX;
    }
    return priority < PRIORITY_MIN ? PRIORITY_MIN : priority;
}

static int order_entries(struct share_plan *plan, struct arena *arena)
{
    const struct share_input *in = &plan->in;
    size_t max = has_machines(plan) ? in->pair_count : in->user_count, count = 0;
    struct ordering *list = arena_alloc(arena, (max + 1) * sizeof *list);
    plan->entries = arena_alloc(arena, (max + 1) * sizeof *plan->entries);
    if (list == NULL || plan->entries == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < max; i++) {
        size_t index = has_machines(plan) ? in->pairs[i].user : i;
        const struct share_user *user = &in->users[index];
        if (user->wanted > 0) {
            size_t machine = has_machines(plan) ? in->pairs[i].machine : SHARE_ANY;
            list[count++] = (struct ordering){.entry = {.user = index,
                                                        .machine = machine,
                                                        .priority = sane_priority(user)},
                                              .user = user};
        }
    }
    if (count > 1) {
        qsort(list, count, sizeof *list, by_turn);
    }
    size_t group = 0;
    for (size_t i = 0; i < count; i++) {
        plan->entries[i] = list[i].entry;
        while (group <= list[i].user->group) {
            plan->group_first[group++] = i;
        }
    }
    while (group <= in->group_count) {
        plan->group_first[group++] = count;
    }
    plan->entry_count = count;
    return 0;
}

static int order_groups(struct share_plan *plan, struct arena *arena)
{
    size_t count = plan->in.group_count;
    struct group_rank *ranks = arena_alloc(arena, count * sizeof *ranks);
    if (ranks == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        ranks[i] = (struct group_rank){.index = i, .key = plan->in.groups[i].sort_key};
    }
    qsort(ranks, count, sizeof *ranks, by_sort_key);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        plan->group_order[at] = ranks[i].index;
        at += ranks[i].index != 0 || !plan->regroup ? 1 : 0; /* then the root is last of all */
    }
    if (plan->regroup) {
        plan->group_order[count - 1] = 0;
    }
    return 0;
}

/* ---- life */

static double *take_doubles(struct arena *arena, size_t count, bool *failed)
{
    double *values = arena_zalloc(arena, (count + 1) * sizeof *values);
    *failed = *failed || values == NULL;
    return values;
}

static size_t *take_indexes(struct arena *arena, size_t count, bool *failed)
{
    size_t *values = arena_zalloc(arena, (count + 1) * sizeof *values);
    *failed = *failed || values == NULL;
    return values;
}

/* Sums up by group what users have and want. */
static void sum_groups(struct share_plan *plan)
{
    const struct share_input *in = &plan->in;
    for (size_t i = 0; i < in->group_count; i++) {
        in->groups[i].in_use = in->groups[i].wanted = 0;
        plan->regroup = plan->regroup || (i > 0 && in->groups[i].autoregroup);
    }
    for (size_t i = 0; i < in->user_count; i++) {
        const struct share_user *user = &in->users[i];
        struct group_entry *group = &in->groups[user->group];
        group->in_use += user->in_use;
        group->wanted += user->wanted;
        plan->used[i] = user->in_use;
        plan->group_used[user->group] += user->in_use;
    }
}

/* Computes each user's slice of his group's part, at the beginning. */
static void sum_shares(struct share_plan *plan)
{
    const struct share_input *in = &plan->in;
    for (size_t i = 0; i < in->group_count; i++) {
        double sum = 0;
        for (size_t j = plan->group_first[i]; j < plan->group_first[i + 1]; j++) {
            sum += 1 / plan->entries[j].priority;
        }
        for (size_t j = plan->group_first[i]; j < plan->group_first[i + 1]; j++) {
            plan->share[plan->entries[j].user] += 1 / plan->entries[j].priority / sum;
        }
    }
}

int share_plan_create(const struct share_input *input, struct arena *arena, struct share_plan **ret)
{
    if (input->user_count > SHARE_USERS_MAX || input->pair_count > SHARE_USERS_MAX ||
        input->machine_count > SHARE_USERS_MAX || input->group_count > GROUP_COUNT_MAX ||
        input->group_count == 0) {
        return -E2BIG;
    }
    struct share_plan *plan = arena_zalloc(arena, sizeof *plan);
    if (plan == NULL) {
        return -ENOMEM;
    }
    bool failed = false;
    plan->in = *input;
    plan->free = input->free > 0 ? input->free : 0;
    plan->group_first = take_indexes(arena, input->group_count, &failed);
    plan->group_order = take_indexes(arena, input->group_count, &failed);
    plan->used = take_doubles(arena, input->user_count, &failed);
    plan->group_used = take_doubles(arena, input->group_count, &failed);
    plan->begun = take_doubles(arena, input->group_count, &failed);
    plan->share = take_doubles(arena, input->user_count, &failed);
    plan->heap = take_indexes(arena, input->machine_count, &failed);
    plan->next_of = take_indexes(arena, input->machine_count, &failed);
    plan->end_of = take_indexes(arena, input->machine_count, &failed);
    plan->given = arena_zalloc(arena, (input->machine_count + 1) * sizeof *plan->given);
    if (failed || plan->given == NULL) {
        return -ENOMEM;
    }
    sum_groups(plan);
    int rc = order_entries(plan, arena);
    rc = rc != 0 ? rc : order_groups(plan, arena);
    plan->active = arena_alloc(arena, (plan->entry_count + 1) * sizeof *plan->active);
    if (rc != 0 || plan->active == NULL) {
        return -ENOMEM;
    }
    sum_shares(plan);
    *ret = plan;
    return 0;
}

/* ---- offers */

static const struct share_user *user_of(const struct share_plan *plan, const struct entry *entry)
{
    return &plan->in.users[entry->user];
}

/* Returns what the ceilings of the user and of his group still allow. */
static double ceiling_left(const struct share_plan *plan, const struct entry *entry)
{
    const struct share_user *user = user_of(plan, entry);
    const struct group_entry *group = &plan->in.groups[user->group];
    double own = user->ceiling >= 0 ? user->ceiling - plan->used[entry->user] : DBL_MAX;
    double all = group->ceiling >= 0 ? group->ceiling - plan->group_used[user->group] : DBL_MAX;
    return own < all ? own : all;
}

/* Returns the weight of free slots that the group of this turn may still get. */
static double group_room(const struct share_plan *plan)
{
    double left = plan->group_limit - plan->group_used[plan->offer.group];
    return left < plan->free ? left : plan->free;
}

static bool is_dust(const struct share_plan *plan, double weight)
{
    return weight <= DUST || weight < plan->in.weight_min * 0.99;
}

static bool make_offer(struct share_plan *plan, struct entry *entry, double weight, double deficit,
                       int64_t jobs, struct share_offer *ret)
{
    double most = ceiling_left(plan, entry), left = group_room(plan);
    weight = weight < most ? weight : most;
    weight = weight < left ? weight : left;
    deficit = deficit < most ? deficit : most;
    entry->asked = true;
    plan->current = entry;
    plan->offer.user = entry->user;
    plan->offer.machine = entry->machine;
    plan->offer.jobs = jobs;
    plan->offer.weight = weight > 0 ? weight : 0;
    plan->offer.deficit = deficit > plan->offer.weight ? deficit : plan->offer.weight;
    plan->offer.only_rank = false;
    plan->offer_used = 0;
    plan->offer_jobs = 0;
    *ret = plan->offer;
    return true;
}

bool share_permits(const struct share_plan *plan, double cost, bool preempts)
{
    const struct share_offer *offer = &plan->offer;
    if (plan->current == NULL || offer->only_rank || (preempts && plan->leftover) ||
        plan->offer_jobs >= offer->jobs || cost > ceiling_left(plan, plan->current) + DUST) {
        return false;
    }
    if (plan->offer_used + cost <= (preempts ? offer->deficit : offer->weight) + DUST) {
        return preempts || cost * 0.99 <= plan->free;
    }
    /* no crumbs: once an offer, up to a whole slot */
    return !preempts && plan->offer_used <= 0 && offer->weight > 0 &&
           group_room(plan) >= 0.99 * cost;
}

void share_took(struct share_plan *plan, double cost, bool preempts)
{
    const struct entry *entry = plan->current;
    plan->offer_used += cost;
    plan->offer_jobs++;
    plan->used[entry->user] += cost;
    plan->group_used[user_of(plan, entry)->group] += cost;
    if (!preempts) {
        plan->free = plan->free > cost ? plan->free - cost : 0;
    }
    if (entry->machine != SHARE_ANY) {
        plan->given[entry->machine]++;
    }
    plan->progress = true;
}

void share_holds_begin(struct share_plan *plan, const bool *wants)
{
    struct group_entry *groups = plan->in.groups;
    for (size_t i = 0; i < plan->in.group_count; i++) {
        groups[i].requested = plan->group_used[i];
    }
    for (size_t i = 0; i < plan->in.user_count; i++) {
        if (wants[i]) {
            groups[plan->in.users[i].group].requested = WANTS_ALL;
        }
    }
    (void)group_plan_allocate(groups, plan->in.group_count);
}

void share_held(struct share_plan *plan, size_t user, double cost)
{
    plan->used[user] += cost;
    plan->group_used[plan->in.users[user].group] += cost;
}

void share_exhausted(struct share_plan *plan)
{
    if (plan->current != NULL && !plan->current->done) {
        plan->current->done = true;
        plan->progress = true;
    }
}

enum share_bar share_bar_of(const struct share_plan *plan, size_t user, double cost)
{
    const struct share_user *who = &plan->in.users[user];
    const struct group_entry *group = &plan->in.groups[who->group];
    const struct entry entry = {.user = user};
    if (cost > ceiling_left(plan, &entry) + DUST) {
        return SHARE_BAR_CEILING;
    }
    if (plan->in.group_count > 1 && !group->autoregroup &&
        cost > group->allocated - plan->group_used[who->group] + DUST) {
        return SHARE_BAR_GROUP;
    }
    return SHARE_BAR_SLICE;
}

/* ---- floors: before anybody's share */

static bool next_floor(struct share_plan *plan, struct share_offer *ret)
{
    for (; plan->at < plan->entry_count; plan->at++) {
        struct entry *entry = &plan->entries[plan->at];
        double below = user_of(plan, entry)->floor - plan->used[entry->user];
        if (below > DUST && !entry->done && !is_dust(plan, plan->free)) {
            plan->at++;
            plan->group_limit = DBL_MAX;
            plan->offer.group = user_of(plan, entry)->group;
            return make_offer(plan, entry, below, below, INT64_MAX, ret);
        }
    }
    plan->phase = PHASE_ROUND;
    return false;
}

/* ---- rounds and turns */

static bool has_active(const struct share_plan *plan, size_t group)
{
    for (size_t i = plan->group_first[group]; i < plan->group_first[group + 1]; i++) {
        if (!plan->entries[i].done) {
            return true;
        }
    }
    return false;
}

/* Divides again what groups did not use.  False: nobody can gain by it. */
static bool begin_round(struct share_plan *plan)
{
    struct group_entry *groups = plan->in.groups;
    size_t count = plan->in.group_count;
    bool gains = false;
    plan->step_max = 0;
    for (size_t i = 0; i < count; i++) {
        bool active = has_active(plan, i);
        double gained = plan->group_used[i] - groups[i].in_use;
        double wanted = groups[i].wanted > gained ? groups[i].wanted - gained : 0;
        groups[i].requested = plan->group_used[i] + (active ? wanted : 0);
    }
    (void)group_plan_allocate(groups, count);
    for (size_t i = 0; i < count; i++) {
        double gain = groups[i].allocated - plan->group_used[i];
        plan->begun[i] = plan->group_used[i];
        plan->step_max = gain > plan->step_max ? gain : plan->step_max;
        gains = gains || (gain > DUST && has_active(plan, i));
    }
    double rate = plan->step_max / ROBIN_STEPS_MAX;
    rate = plan->in.round_robin > rate ? plan->in.round_robin : rate;
    plan->step = plan->rate = plan->in.round_robin > 0 ? rate : DBL_MAX;
    plan->turn = 0;
    bool again = gains && !is_dust(plan, plan->free);
    return plan->round++ == 0 || (plan->round <= SHARE_ROUNDS_MAX && count > 1 && again);
}

/* Returns what the group may have in all at this step of the round robin. */
static double limit_of(const struct share_plan *plan, size_t group)
{
    const struct group_entry *entry = &plan->in.groups[group];
    if (plan->in.group_count == 1) {
        return DBL_MAX;
    }
    double gain = entry->allocated - plan->begun[group];
    if (gain <= 0) {
        return entry->allocated;
    }
    double part = plan->step < plan->step_max ? plan->step / plan->step_max : 1;
    return plan->begun[group] + gain * part;
}

static void gather_users(struct share_plan *plan, size_t group)
{
    for (size_t i = plan->group_first[group]; i < plan->group_first[group + 1]; i++) {
        if (!plan->entries[i].done) {
            plan->active[plan->active_count++] = &plan->entries[i];
        }
    }
}

static int by_priority(const void *left, const void *right)
{
    const struct entry *a = *(struct entry *const *)left, *b = *(struct entry *const *)right;
    if (a->machine != b->machine) {
        return a->machine < b->machine ? -1 : 1;
    }
    if (a->priority != b->priority) {
        return a->priority < b->priority ? -1 : 1;
    }
    return (a > b) - (a < b);
}

static double key_of(const struct share_plan *plan, size_t machine)
{
    return plan->in.machines[machine].prio - (double)plan->given[machine];
}

/* Returns whether a comes before b. */
static bool is_ahead(const struct share_plan *plan, size_t a, size_t b)
{
    double key_a = key_of(plan, a), key_b = key_of(plan, b);
    return key_a != key_b ? key_a > key_b : a < b;
}

static void sift_down(struct share_plan *plan, size_t at)
{
    size_t *heap = plan->heap;
    for (;;) {
        size_t best = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < plan->heap_count; child++) {
            best = is_ahead(plan, heap[child], heap[best]) ? child : best;
        }
        if (best == at) {
            return;
        }
        size_t swap = heap[at];
        heap[at] = heap[best];
        heap[best] = swap;
        at = best;
    }
}

static void begin_machines(struct share_plan *plan)
{
    plan->heap_count = 0;
    for (size_t i = 0; i < plan->active_count; i++) {
        size_t machine = plan->active[i]->machine;
        if (i == 0 || plan->active[i - 1]->machine != machine) {
            plan->next_of[machine] = i;
            plan->heap[plan->heap_count++] = machine;
        }
        plan->end_of[machine] = i + 1;
    }
    for (size_t i = plan->heap_count / 2; i-- > 0;) {
        sift_down(plan, i);
    }
}

/* Prepares the turn of a group; false when the group has no entries. */
static bool begin_turn(struct share_plan *plan)
{
    size_t group = plan->group_order[plan->turn];
    bool is_regroup = plan->regroup && group == 0;
    plan->active_count = 0;
    gather_users(plan, group);
    for (size_t i = 1; is_regroup && i < plan->in.group_count; i++) {
        if (plan->in.groups[i].autoregroup) {
            gather_users(plan, i);
        }
    }
    plan->group_limit = is_regroup ? DBL_MAX : limit_of(plan, group);
    plan->offer.group = group;
    if (is_regroup && plan->active_count > 1) {
        qsort(plan->active, plan->active_count, sizeof(struct entry *), by_priority);
    }
    plan->spin = 0;
    if (plan->active_count == 0) {
        return false;
    }
    if (has_machines(plan)) {
        begin_machines(plan);
    }
    return true;
}

/* ---- spins */

static double slice_of(const struct share_plan *plan, const struct entry *entry)
{
    double due = plan->pie / entry->priority / plan->sum - plan->used[entry->user];
    double most = ceiling_left(plan, entry);
    due = due < most ? due : most;
    return due > DUST ? due : 0;
}

static bool has_slices(const struct share_plan *plan, size_t active_count)
{
    for (size_t i = 0; i < active_count; i++) {
        if (slice_of(plan, plan->active[i]) > 0) {
            return true;
        }
    }
    return false;
}

/* Begins a spin.  False: the turn is over. */
static bool begin_spin(struct share_plan *plan)
{
    if (plan->spin > 0 && !plan->progress) {
        return false;
    }
    size_t kept = 0;
    double in_use = 0, slices = 0, left = group_room(plan);
    plan->sum = 0;
    for (size_t i = 0; i < plan->active_count; i++) {
        struct entry *entry = plan->active[i];
        if (!entry->done && !is_dust(plan, ceiling_left(plan, entry))) {
            plan->active[kept++] = entry;
            plan->sum += 1 / entry->priority;
            in_use += plan->used[entry->user];
        }
    }
    plan->active_count = kept;
    plan->progress = false;
    plan->at = 0;
    plan->spin++;
    if (kept == 0 || plan->spin > SHARE_SPINS_MAX ||
        (is_dust(plan, left) && !plan->in.consider_preemption)) {
        return false;
    }
    /* the pie: what is free and what they have, or the whole pool if slots may be taken over; no
     * more than the group may have, less what its other users have */
    double most = plan->group_limit - (plan->group_used[plan->offer.group] - in_use);
    double whole = plan->in.consider_preemption ? plan->in.total : plan->free + in_use;
    plan->pie = whole < most ? whole : most;
    plan->leftover = !is_dust(plan, left) && !has_slices(plan, kept);
    if (plan->leftover) {
        whole = plan->free + in_use;
        plan->pie = whole < most ? whole : most;
    }
    for (size_t i = 0; i < kept; i++) {
        slices += slice_of(plan, plan->active[i]);
    }
    plan->cut = slices > left ? left / slices : 1;
    return true;
}

static bool next_in_spin(struct share_plan *plan, struct share_offer *ret)
{
    bool last = plan->spin == SHARE_SPINS_MAX;
    while (plan->at < plan->active_count) {
        struct entry *entry = plan->active[plan->at++];
        double due = slice_of(plan, entry), left = group_room(plan);
        double weight = last ? left : due * (plan->cut > 0 ? plan->cut : 0);
        bool open = !is_dust(plan, left) && weight > 0;
        if (open || (plan->in.consider_preemption && due > 0)) {
            return make_offer(plan, entry, open ? weight : 0, due, INT64_MAX, ret);
        }
        if (plan->in.consider_preemption && !entry->asked) {
            (void)make_offer(plan, entry, 0, 0, INT64_MAX, ret);
            plan->offer.only_rank = ret->only_rank = true;
            return true;
        }
    }
    return false;
}

/* ---- machines */

static bool next_of_machines(struct share_plan *plan, struct share_offer *ret)
{
    while (plan->heap_count > 0 && !is_dust(plan, group_room(plan))) {
        size_t machine = plan->heap[0];
        /* what the last offer to it led to */
        if (plan->current != NULL && plan->current->machine == machine &&
            plan->next_of[machine] < plan->end_of[machine] &&
            plan->active[plan->next_of[machine]] == plan->current &&
            (plan->current->done || plan->offer_jobs == 0)) {
            plan->next_of[machine]++;
        }
        while (plan->next_of[machine] < plan->end_of[machine] &&
               is_dust(plan, ceiling_left(plan, plan->active[plan->next_of[machine]]))) {
            plan->next_of[machine]++;
        }
        plan->current = NULL;
        if (plan->next_of[machine] >= plan->end_of[machine]) {
            plan->heap[0] = plan->heap[--plan->heap_count];
            sift_down(plan, 0);
            continue;
        }
        sift_down(plan, 0);
        if (plan->heap[0] != machine) {
            continue; /* it has fallen behind */
        }
        double lead = DBL_MAX;
        for (size_t i = 1; i <= 2 && i < plan->heap_count; i++) {
            double ahead = key_of(plan, machine) - key_of(plan, plan->heap[i]);
            lead = ahead < lead ? ahead : lead;
        }
        int64_t jobs = lead < 1e15 ? (int64_t)lead + 1 : INT64_MAX;
        return make_offer(plan, plan->active[plan->next_of[machine]], group_room(plan), 0, jobs,
                          ret);
    }
    return false;
}

/* ---- the whole */

static void end_turn(struct share_plan *plan)
{
    plan->phase = PHASE_TURN;
    if (++plan->turn < plan->in.group_count) {
        return;
    }
    plan->turn = 0;
    if (plan->step < plan->step_max && plan->in.group_count > 1) {
        plan->step += plan->rate;
    } else {
        plan->phase = PHASE_ROUND;
    }
}

bool share_next(struct share_plan *plan, struct share_offer *ret)
{
    for (;;) {
        switch (plan->phase) {
        case PHASE_FLOORS:
            if (next_floor(plan, ret)) {
                return true;
            }
            break;
        case PHASE_ROUND:
            plan->phase = begin_round(plan) ? PHASE_TURN : PHASE_OVER;
            break;
        case PHASE_TURN:
            plan->current = NULL;
            if (!begin_turn(plan)) {
                end_turn(plan);
            } else if (has_machines(plan)) {
                plan->phase = PHASE_MACHINES;
            } else {
                plan->phase = begin_spin(plan) ? PHASE_SPIN : PHASE_TURN;
                if (plan->phase == PHASE_TURN) {
                    end_turn(plan);
                }
            }
            break;
        case PHASE_SPIN:
            if (next_in_spin(plan, ret)) {
                return true;
            }
            if (!begin_spin(plan)) {
                end_turn(plan);
            }
            break;
        case PHASE_MACHINES:
            if (next_of_machines(plan, ret)) {
                return true;
            }
            end_turn(plan);
            break;
        case PHASE_OVER:
            plan->current = NULL;
            return false;
        }
    }
}
