/* tests/support/plan_reference.h - a simple negotiation, job by job and slot by slot, that
 * evaluates every pair with the whole ads.  Tests compare its result with that of a negotiator
 * plan.
 *
 * The shares (of users, groups with quotas, or submitting machines) come from share_plan, which has
 * tests of its own; everything else is implemented a second time here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_PLAN_REFERENCE_H
#define TESTS_SUPPORT_PLAN_REFERENCE_H

#include "tests/support/plan_random.h"

#include <math.h>

#include "base/arena.h"

#define OUT_MAX 400
#define NAMES   3

static const struct ad_context NOW = {.now_s = 1764000000};
static const char *const AMOUNT[NAMES] = {"Cpus", "Memory", "Disk"};
static const char *const REQUEST[NAMES] = {"RequestCpus", "RequestMemory", "RequestDisk"};
static const double UNIT_OF[NAMES] = {1, 128, 1024};

struct ref_slot {   /* the reference's state of a slot */
    struct ad *now; /* ad of the free rest of a partitionable slot */
    bool split, taken;
    int64_t jobs, copies;
    double whole[NAMES], left[NAMES];
};

struct outcome {
    struct plan_match matches[OUT_MAX];
    struct plan_hold held[OUT_MAX];
    struct plan_release released[OUT_MAX];
    size_t match_count, held_count, released_count;
    size_t bounded; /* how often a concurrency limit bounded a request */
};

/* ---- the reference implementation */

/* The state of the reference implementation during one cycle. */
struct reference {
    const struct pool *pool;
    struct ref_slot slots[SLOTS];
    int64_t wanted[REQUESTS];
    bool released[SLOTS][8]; /* for each entry of the holds of a slot: whether it was released */
    bool spent[REQUESTS], spent_claims[REQUESTS];
    size_t order[REQUESTS], order_count;
    int used[2]; /* current use of the limits a and b */
    size_t bounded;
    struct share_plan *shares;
    struct outcome *out;
};

static inline bool has_holds(const struct plan_slot *slot)
{
    return slot->offline && slot->holds != NULL;
}

static const struct plan_request *holder_of(const struct reference *ref,
                                            const struct offline_hold *hold)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        const struct plan_request *request = &ref->pool->requests[i];
        if (ref->pool->has_request[i] && request->auto_cluster == hold->auto_cluster &&
            strcmp(request->schedd, hold->schedd) == 0) {
            return request;
        }
    }
    return NULL;
}

static inline void piece_of(const struct plan_request *request, double ret[NAMES])
{
    for (size_t i = 0; i < NAMES; i++) {
        double asked = ad_real_or(request->ad, REQUEST[i], UNIT_OF[i]);
        ret[i] = ceil(asked / UNIT_OF[i]) * UNIT_OF[i];
    }
}

static inline bool fits(const double left[NAMES], const double piece[NAMES])
{
    return piece[0] <= left[0] && piece[1] <= left[1] && piece[2] <= left[2];
}

static inline void ref_fill(struct ref_slot *slot, const double piece[NAMES])
{
    if (!fits(slot->left, piece) && slot->copies > 0) {
        slot->copies--;
        memcpy(slot->left, slot->whole, sizeof slot->left);
    }
    for (size_t i = 0; i < NAMES; i++) {
        slot->left[i] -= piece[i];
    }
}

static inline void show_left(struct ref_slot *slot)
{
    for (size_t i = 0; slot->split && i < NAMES; i++) {
        const double *amounts = slot->copies > 0 ? slot->whole : slot->left;
        ad_set_int(slot->now, AMOUNT[i], (int64_t)amounts[i]);
    }
}

static inline int64_t most_jobs(const struct plan_slot *facts, const struct ref_slot *slot)
{
    int64_t copies = facts->multiplicity > 1 ? facts->multiplicity : 1;
    if (!facts->offline) {
        return slot->split ? facts->pieces : 1;
    }
    return (slot->split ? (int64_t)slot->whole[0] : 1) * copies;
}

/* Computes the state of slot i from the slot's entry in ref->pool and from those of its holds that
 * were not released. */
static inline void ref_settle(struct reference *ref, size_t i)
{
    const struct plan_slot *facts = &ref->pool->slots[i];
    struct ref_slot *slot = &ref->slots[i];
    ad_destroy(slot->now);
    *slot = (struct ref_slot){.now = ad_copy(facts->ad),
                              .split = ad_bool_or(facts->ad, "PartitionableSlot", false)};
    slot->copies = (facts->multiplicity > 1 ? facts->multiplicity : 1) - 1;
    for (size_t j = 0; j < NAMES; j++) {
        slot->whole[j] = slot->left[j] = ad_real_or(facts->ad, AMOUNT[j], 0);
    }
    for (size_t j = 0; has_holds(facts) && j < offline_holds_entries(facts->holds); j++) {
        const struct offline_hold *hold = offline_holds_at(facts->holds, j);
        const struct plan_request *request = holder_of(ref, hold);
        if (ref->released[i][j]) {
            continue;
        }
        slot->jobs += hold->count;
        for (int64_t k = 0;
             slot->split && request != NULL && k < hold->count && k < most_jobs(facts, slot); k++) {
            double piece[NAMES];
            piece_of(request, piece);
            ref_fill(slot, piece);
        }
    }
    show_left(slot);
}

static inline bool is_open(const struct reference *ref, size_t i)
{
    const struct plan_slot *facts = &ref->pool->slots[i];
    return ref->pool->has_slot[i] && facts->use == PLAN_USE_FREE && !ref->slots[i].taken &&
           !(facts->offline && facts->barred) &&
           ref->slots[i].jobs < most_jobs(facts, &ref->slots[i]);
}

static inline bool wakes_anyway(const struct reference *ref, const char *machine)
{
    for (size_t i = 0; i < SLOTS; i++) {
        const struct plan_slot *facts = &ref->pool->slots[i];
        if (ref->pool->has_slot[i] && facts->offline && strcmp(facts->machine, machine) == 0 &&
            (facts->waking || ref->slots[i].jobs > 0)) {
            return true;
        }
    }
    return false;
}

static inline bool is_waking(const struct reference *ref, const char *machine)
{
    for (size_t i = 0; i < SLOTS; i++) {
        const struct plan_slot *facts = &ref->pool->slots[i];
        if (ref->pool->has_slot[i] && facts->offline && facts->waking &&
            strcmp(facts->machine, machine) == 0) {
            return true;
        }
    }
    return false;
}

static inline int by_name(const struct plan_slot *a, const struct plan_slot *b)
{
    int order = strcmp(a->machine, b->machine);
    return order != 0 ? order : strcmp(a->name, b->name);
}

struct ref_rank {
    double keys[8]; /* the first different key decides; greater is better */
};

static inline double rank_of(const struct ad_expr *expr, const struct ad *my,
                             const struct ad *target)
{
    double value = expr != NULL ? ad_eval_rank(expr, my, target, &NOW) : 0;
    return isnan(value) ? 0 : value;
}

/* Returns > 0 if a is better than b, < 0 if worse, 0 if equal. */
static inline int compare(const struct ref_rank *a, const struct ref_rank *b)
{
    for (size_t i = 0; i < 8; i++) {
        if (a->keys[i] > b->keys[i] || a->keys[i] < b->keys[i]) {
            return a->keys[i] > b->keys[i] ? 1 : -1;
        }
    }
    return 0;
}

static inline bool suits(const struct reference *ref, size_t i, const struct plan_request *request)
{
    const struct ref_slot *slot = &ref->slots[i];
    double piece[NAMES];
    piece_of(request, piece);
    return ad_match(request->ad, slot->now, &NOW) &&
           (!slot->split || fits(slot->copies > 0 ? slot->whole : slot->left, piece));
}

/* Returns the index of the best free slot for the request; SLOTS: none.  live: live slots are
 * considered; offline: offline slots are considered. */
static inline size_t best_slot(const struct reference *ref, const struct plan_request *request,
                               bool live, bool offline)
{
    const struct plan_policy *policy = &ref->pool->policy;
    size_t best = SLOTS;
    struct ref_rank best_rank = {{0}};
    for (size_t i = 0; i < SLOTS; i++) {
        const struct plan_slot *facts = &ref->pool->slots[i];
        if (!is_open(ref, i) || !(facts->offline ? offline : live) || !suits(ref, i, request)) {
            continue;
        }
        const struct ad *ad = ref->slots[i].now;
        double level = !facts->offline                     ? 3
                       : wakes_anyway(ref, facts->machine) ? 2
                       : facts->reclaimable                ? 1
                                                           : 0;
        double post = rank_of(policy->post_job, ad, request->ad);
        struct ref_rank rank = {{rank_of(policy->pre_job, ad, request->ad),
                                 rank_of(ad_lookup(request->ad, "Rank"), request->ad, ad),
                                 policy->offline_last ? level : post,
                                 policy->offline_last ? post : level}};
        int order = best < SLOTS ? compare(&rank, &best_rank) : 1;
        if (order > 0 || (order == 0 && by_name(facts, &ref->pool->slots[best]) < 0)) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

static inline double weight_of(const struct ad *ad)
{
    double weight = ad_real_or(ad, "SlotWeight", ad_real_or(ad, "Cpus", 1));
    return (double)llround(weight * 1000) / 1000;
}

static inline double cost_of(const struct reference *ref, size_t i,
                             const struct plan_request *request)
{
    const struct ref_slot *slot = &ref->slots[i];
    struct ad *ad = ad_copy(slot->now);
    double piece[NAMES];
    piece_of(request, piece);
    for (size_t j = 0; slot->split && j < NAMES; j++) {
        ad_set_int(ad, AMOUNT[j], (int64_t)piece[j]);
    }
    double cost = weight_of(ad);
    ad_destroy(ad);
    return cost;
}

static inline void ref_give(struct reference *ref, size_t i, const struct plan_request *request)
{
    struct ref_slot *slot = &ref->slots[i];
    double piece[NAMES];
    piece_of(request, piece);
    slot->jobs++;
    if (slot->split) {
        ref_fill(slot, piece);
        show_left(slot);
    } else {
        slot->taken = !ref->pool->slots[i].offline;
    }
}

/* Reduces the number of jobs for which the request wants slots to what its concurrency limits still
 * allow. */
static inline void ref_bound(struct reference *ref, size_t request)
{
    const int *counts = LIMITS[ref->pool->limits_of[request]].counts;
    int64_t room = 0;
    for (bool fits_all = true; fits_all && room < ref->wanted[request]; room += fits_all) {
        for (size_t i = 0; i < 2; i++) {
            fits_all = fits_all &&
                       (counts[i] == 0 || ref->used[i] + (room + 1) * counts[i] <= LIMIT_MAX[i]);
        }
    }
    if (ref->wanted[request] > room) {
        ref->wanted[request] = room;
        ref->bounded++;
    }
}

static inline void ref_use(struct reference *ref, size_t request, int64_t jobs)
{
    const int *counts = LIMITS[ref->pool->limits_of[request]].counts;
    for (size_t i = 0; i < 2; i++) {
        ref->used[i] += counts[i] * (int)jobs;
    }
}

static inline void ref_match(struct reference *ref, size_t slot, size_t request,
                             enum plan_preemption why, double cost)
{
    ref->out->matches[ref->out->match_count++] = (struct plan_match){.slot = (uint32_t)slot,
                                                                     .request = (uint32_t)request,
                                                                     .preemption = why,
                                                                     .weight = cost};
    ref_give(ref, slot, &ref->pool->requests[request]);
    ref_use(ref, request, 1);
    ref->wanted[request]--;
}

static inline void ref_hold(struct reference *ref, size_t slot, size_t request)
{
    ref->out->held[ref->out->held_count++] =
        (struct plan_hold){.slot = (uint32_t)slot, .request = (uint32_t)request};
    ref_give(ref, slot, &ref->pool->requests[request]);
    ref_use(ref, request, 1);
    ref->wanted[request]--;
}

static inline double priority_of(const struct reference *ref, const char *user)
{
    for (size_t i = 0; i < USERS; i++) {
        if (strcmp(USER[i], user) == 0) {
            return ref->pool->users[i].priority;
        }
    }
    return 0.5;
}

/* Returns the index of the best used slot that the request may take over, and sets *why to the
 * reason; SLOTS: none.  only_rank: only by the Rank of the machine, not by priority. */
static inline size_t best_claim(const struct reference *ref, const struct plan_request *request,
                                bool only_rank, enum plan_preemption *why)
{
    const struct plan_policy *policy = &ref->pool->policy;
    double own = priority_of(ref, request->user);
    size_t best = SLOTS;
    struct ref_rank best_rank = {{0}};
    for (size_t i = 0; i < SLOTS; i++) {
        const struct plan_slot *facts = &ref->pool->slots[i];
        if (!ref->pool->has_slot[i] || facts->offline || facts->use != PLAN_USE_TAKEN ||
            ref->slots[i].taken || ref->slots[i].split ||
            !ad_match(request->ad, ref->slots[i].now, &NOW)) {
            continue;
        }
        double remote = priority_of(ref, facts->user);
        double machine_rank = rank_of(ad_lookup(facts->ad, "Rank"), facts->ad, request->ad);
        struct ad *slot = ad_copy(facts->ad), *job = ad_copy(request->ad);
        ad_set_real(slot, "RemoteUserPrio", remote);
        ad_set_real(job, "SubmitterUserPrio", own);
        ad_set_string(job, "SubmitterUser", request->user);
        bool by_rank = machine_rank > facts->current_rank;
        bool by_priority =
            !only_rank && policy->preemption_requirements != NULL &&
            !(machine_rank < facts->current_rank) && remote > own &&
            strcmp(facts->user, request->user) != 0 &&
            ad_eval_bool(policy->preemption_requirements, slot, job, &NOW) == AD_TRUE;
        struct ref_rank rank = {{by_rank ? 1 : 0, rank_of(policy->pre_job, facts->ad, request->ad),
                                 rank_of(ad_lookup(request->ad, "Rank"), request->ad, facts->ad),
                                 rank_of(policy->post_job, facts->ad, request->ad),
                                 rank_of(policy->preemption_rank, slot, job)}};
        int order = best < SLOTS ? compare(&rank, &best_rank) : 1;
        if ((by_rank || by_priority) &&
            (order > 0 || (order == 0 && by_name(facts, &ref->pool->slots[best]) < 0))) {
            best = i;
            best_rank = rank;
            *why = by_rank ? PLAN_BY_RANK : PLAN_BY_PRIORITY;
        }
        ad_destroy(slot);
        ad_destroy(job);
    }
    return best;
}

static inline void ref_free(struct reference *ref, size_t index)
{
    const struct plan_request *request = &ref->pool->requests[index];
    ref_bound(ref, index);
    while (ref->wanted[index] > 0) {
        size_t slot = best_slot(ref, request, true, !ref->pool->policy.offline_last);
        if (slot == SLOTS) {
            ref->spent[index] = true;
            return;
        }
        if (ref->pool->slots[slot].offline) {
            ref_hold(ref, slot, index);
            continue;
        }
        double cost = cost_of(ref, slot, request);
        if (!share_permits(ref->shares, cost, false)) {
            return;
        }
        share_took(ref->shares, cost, false);
        ref_match(ref, slot, index, PLAN_FREE, cost);
    }
}

static inline void ref_claims(struct reference *ref, size_t index, bool only_rank)
{
    const struct plan_request *request = &ref->pool->requests[index];
    bool never = ref->pool->policy.preemption_requirements == NULL;
    bool allowed = !only_rank && (never || share_permits(ref->shares, 0.001, true));
    ref_bound(ref, index);
    while (ref->wanted[index] > 0 && !ref->spent_claims[index]) {
        enum plan_preemption why = PLAN_FREE;
        size_t slot = best_claim(ref, request, only_rank, &why);
        if (slot == SLOTS) {
            ref->spent_claims[index] = allowed;
            return;
        }
        double cost = cost_of(ref, slot, request);
        if (why == PLAN_BY_PRIORITY && !share_permits(ref->shares, cost, true)) {
            return;
        }
        share_took(ref->shares, cost, true);
        ref_match(ref, slot, index, why, cost);
    }
}

static inline void ref_offers(struct reference *ref)
{
    const bool preempts = ref->pool->policy.consider_preemption;
    struct share_offer offer;
    while (share_next(ref->shares, &offer)) {
        bool more = false;
        for (size_t i = 0; i < ref->order_count; i++) {
            size_t index = ref->order[i];
            if (strcmp(ref->pool->requests[index].user, USER[offer.user]) != 0 ||
                (offer.machine != SHARE_ANY &&
                 strcmp(ref->pool->requests[index].schedd, MACHINE[offer.machine]) != 0) ||
                ref->wanted[index] <= 0) {
                continue;
            }
            if (!offer.only_rank && !ref->spent[index]) {
                ref_free(ref, index);
            }
            if (preempts && (ref->spent[index] || offer.only_rank)) {
                ref_claims(ref, index, offer.only_rank);
            }
            more = more || (ref->wanted[index] > 0 &&
                            (!ref->spent[index] || (preempts && !ref->spent_claims[index])));
        }
        if (!more) {
            share_exhausted(ref->shares);
        }
    }
}

static inline void ref_release(struct reference *ref, size_t slot, size_t entry)
{
    const struct offline_hold *hold = offline_holds_at(ref->pool->slots[slot].holds, entry);
    ref->out->released[ref->out->released_count++] =
        (struct plan_release){.slot = (uint32_t)slot,
                              .schedd = hold->schedd,
                              .auto_cluster = hold->auto_cluster};
    ref->released[slot][entry] = true;
    ref_settle(ref, slot);
}

static inline void ref_settle_holds(struct reference *ref)
{
    for (size_t i = 0; i < SLOTS; i++) {
        const struct plan_slot *facts = &ref->pool->slots[i];
        size_t count =
            ref->pool->has_slot[i] && has_holds(facts) ? offline_holds_entries(facts->holds) : 0;
        for (size_t j = 0; j < count; j++) {
            const struct plan_request *request = holder_of(ref, offline_holds_at(facts->holds, j));
            if (facts->barred || request == NULL) {
                ref_release(ref, i, j);
            }
        }
    }
    for (size_t r = 0; r < ref->order_count; r++) {
        size_t index = ref->order[r];
        bool done[SLOTS] = {false};
        int64_t kept = 0;
        ref_bound(ref, index);
        for (size_t i = 0; i < SLOTS; i++) {
            const struct plan_slot *facts = &ref->pool->slots[i];
            for (size_t j = 0; ref->pool->has_slot[i] && has_holds(facts) &&
                               j < offline_holds_entries(facts->holds);
                 j++) {
                const struct offline_hold *hold = offline_holds_at(facts->holds, j);
                if (!ref->released[i][j] && holder_of(ref, hold) == &ref->pool->requests[index]) {
                    ref->wanted[index] -= hold->count;
                    kept += hold->count;
                }
            }
        }
        for (size_t round = 0; round < SLOTS; round++) { /* in reverse order of slot names */
            size_t last = SLOTS;
            for (size_t i = 0; i < SLOTS; i++) {
                if (ref->pool->has_slot[i] && !done[i] &&
                    (last == SLOTS || by_name(&ref->pool->slots[i], &ref->pool->slots[last]) > 0)) {
                    last = i;
                }
            }
            if (last == SLOTS) {
                break;
            }
            done[last] = true;
            const struct plan_slot *facts = &ref->pool->slots[last];
            size_t count = has_holds(facts) ? offline_holds_entries(facts->holds) : 0;
            for (size_t j = 0; j < count; j++) {
                const struct offline_hold *hold = offline_holds_at(facts->holds, j);
                if (holder_of(ref, hold) == &ref->pool->requests[index] &&
                    !ref->released[last][j] && !is_waking(ref, facts->machine) &&
                    ref->wanted[index] < 0 && ref->wanted[index] + hold->count <= 0) {
                    ref->wanted[index] += hold->count;
                    kept -= hold->count;
                    ref_release(ref, last, j);
                }
            }
        }
        ref_use(ref, index, kept);
    }
}

static inline bool comes_before(const struct reference *ref, const struct plan_request *a,
                                const struct plan_request *b)
{
    double x = priority_of(ref, a->user), y = priority_of(ref, b->user);
    if (x < y || x > y) {
        return x < y;
    }
    int order = strcmp(a->user, b->user);
    if (order == 0 && a->prio != b->prio) {
        order = a->prio > b->prio ? -1 : 1;
    }
    if (order == 0 && a->qdate_s != b->qdate_s) {
        order = a->qdate_s < b->qdate_s ? -1 : 1;
    }
    return (order != 0 ? order : strcmp(a->name, b->name)) < 0;
}

static inline void ref_order(struct reference *ref)
{
    for (size_t i = 0; i < REQUESTS; i++) {
        const struct plan_request *request = &ref->pool->requests[i];
        if (!ref->pool->has_request[i]) {
            continue;
        }
        size_t at = ref->order_count++;
        for (; at > 0 && comes_before(ref, request, &ref->pool->requests[ref->order[at - 1]]);
             at--) {
            ref->order[at] = ref->order[at - 1];
        }
        ref->order[at] = i;
        ref->wanted[i] =
            request->count > request->in_flight ? request->count - request->in_flight : 0;
        ref->spent[i] = ref->spent_claims[i] = request->resting;
        ref_bound(ref, i);
    }
}

static inline void ref_shares(struct reference *ref, struct arena *arena)
{
    struct share_user *users = arena_alloc(arena, USERS * sizeof *users);
    struct group_entry *groups = arena_zalloc(arena, sizeof ref->pool->groups);
    struct share_pair *pairs = arena_alloc(arena, USERS * MACHINES * sizeof *pairs);
    memcpy(users, ref->pool->users, USERS * sizeof *users);
    memcpy(groups, ref->pool->groups, sizeof ref->pool->groups);
    struct share_input input = {.users = users,
                                .user_count = USERS,
                                .groups = groups,
                                .group_count = ref->pool->group_count,
                                .round_robin = ref->pool->round_robin,
                                .machines =
                                    ref->pool->by_machine ? ref->pool->submit_machines : NULL,
                                .machine_count = ref->pool->by_machine ? MACHINES : 0,
                                .pairs = pairs,
                                .consider_preemption = ref->pool->policy.consider_preemption};
    for (size_t i = 0; i < SLOTS; i++) {
        const struct plan_slot *facts = &ref->pool->slots[i];
        if (ref->pool->has_slot[i] && !facts->offline) {
            double weight = weight_of(facts->ad);
            input.free += facts->use == PLAN_USE_FREE ? weight : 0;
            input.total += facts->use == PLAN_USE_FREE || facts->user != NULL ? weight : 0;
        }
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        const struct plan_request *request = &ref->pool->requests[i];
        for (size_t j = 0; j < USERS && ref->pool->has_request[i] && !request->resting; j++) {
            if (strcmp(request->user, USER[j]) == 0) {
                users[j].wanted +=
                    (double)ref->wanted[i] * ad_real_or(request->ad, "RequestCpus", 1);
            }
        }
    }
    for (size_t u = 0; u < USERS; u++) {
        for (size_t m = 0; m < MACHINES; m++) {
            bool asks = false;
            for (size_t i = 0; i < REQUESTS; i++) {
                asks = asks || (ref->pool->has_request[i] &&
                                strcmp(ref->pool->requests[i].user, USER[u]) == 0 &&
                                strcmp(ref->pool->requests[i].schedd, MACHINE[m]) == 0);
            }
            if (asks && ref->pool->by_machine) {
                pairs[input.pair_count++] = (struct share_pair){.user = u, .machine = m};
            }
        }
    }
    group_plan_quotas(groups, input.group_count, ref->pool->quota_total, ref->pool->oversubscribe);
    assert_int_equal(share_plan_create(&input, arena, &ref->shares), 0);
}

static inline size_t ref_user(const struct plan_request *request)
{
    size_t user = 0;
    while (strcmp(request->user, USER[user]) != 0) {
        user++;
    }
    return user;
}

/* Counts the holds that were not released for the ceilings of their users. */
static inline void ref_count_holds(struct reference *ref)
{
    for (size_t i = 0; i < SLOTS; i++) {
        const struct plan_slot *facts = &ref->pool->slots[i];
        size_t count =
            ref->pool->has_slot[i] && has_holds(facts) ? offline_holds_entries(facts->holds) : 0;
        for (size_t j = 0; j < count; j++) {
            const struct offline_hold *hold = offline_holds_at(facts->holds, j);
            const struct plan_request *request = holder_of(ref, hold);
            if (!ref->released[i][j] && request != NULL) {
                share_held(ref->shares, ref_user(request),
                           cost_of(ref, i, request) * (double)hold->count);
            }
        }
    }
}

/* Holds slots for one request.  Returns whether only the quota of its group stopped that. */
static inline bool ref_hold_for(struct reference *ref, size_t index)
{
    const struct plan_request *request = &ref->pool->requests[index];
    size_t slot, user = ref_user(request);
    ref_bound(ref, index);
    while (ref->wanted[index] > 0 && (slot = best_slot(ref, request, false, true)) < SLOTS) {
        double cost = cost_of(ref, slot, request);
        enum share_bar bar = share_bar_of(ref->shares, user, cost);
        if (bar == SHARE_BAR_CEILING || bar == SHARE_BAR_GROUP) {
            return bar == SHARE_BAR_GROUP;
        }
        share_held(ref->shares, user, cost);
        ref_hold(ref, slot, index);
    }
    return false;
}

static inline void ref_hold_all(struct reference *ref)
{
    bool open[REQUESTS]; /* by place in the order: it may hold more in this round */
    for (size_t i = 0; i < ref->order_count; i++) {
        open[i] = !ref->pool->requests[ref->order[i]].resting;
    }
    for (int round = 0; round < SHARE_ROUNDS_MAX; round++) {
        bool wants[USERS] = {false};
        for (size_t i = 0; i < ref->order_count; i++) {
            open[i] = open[i] && ref->wanted[ref->order[i]] > 0;
            if (open[i]) {
                wants[ref_user(&ref->pool->requests[ref->order[i]])] = true;
            }
        }
        share_holds_begin(ref->shares, wants);
        for (size_t i = 0; i < ref->order_count; i++) {
            open[i] = open[i] && ref_hold_for(ref, ref->order[i]);
        }
    }
}

static inline void judge_by_reference(const struct pool *pool, struct outcome *out)
{
    struct arena *arena = arena_create(0, 0);
    struct reference *ref = arena_zalloc(arena, sizeof *ref);
    *out = (struct outcome){.match_count = 0};
    ref->pool = pool;
    ref->out = out;
    for (size_t i = 0; i < SLOTS; i++) {
        if (pool->has_slot[i]) {
            ref_settle(ref, i);
        }
    }
    ref_order(ref);
    if (!pool->policy.offline_last) {
        ref_settle_holds(ref);
    }
    ref_shares(ref, arena);
    ref_offers(ref);
    if (pool->policy.offline_last) {
        ref_settle_holds(ref);
    }
    ref_count_holds(ref);
    ref_hold_all(ref);
    for (size_t i = 0; i < SLOTS; i++) {
        ad_destroy(ref->slots[i].now);
    }
    out->bounded = ref->bounded;
    arena_destroy(arena);
}

#endif
