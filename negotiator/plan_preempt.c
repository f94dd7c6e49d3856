/* negotiator/plan_preempt.c - slots in use that a request may take over: see negotiator_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "negotiator/plan_state.h"

struct candidate {
    struct slot *slot;
    enum plan_preemption why;
    struct verdict_rank rank;
    double preemption_rank;
};

struct plan_claims {
    struct candidate *list;
    uint32_t count, room;
    uint32_t at; /* the next */
};

struct search {
    struct negotiator_plan *plan;
    const struct request *request;
    bool by_priority;
    plan_priority_f priority;
    const void *arg;
    double own_priority;
    struct plan_claims *claims;
};

static int by_number(double a, double b)
{
    return a > b ? 1 : a < b ? -1 : 0;
}

static int best_first(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->why != b->why) {
        return a->why == PLAN_BY_RANK ? -1 : 1;
    }
    int order = by_number(a->rank.pre, b->rank.pre);
    order = order != 0 ? order : by_number(a->rank.job, b->rank.job);
    order = order != 0 ? order : by_number(a->rank.post, b->rank.post);
    order = order != 0 ? order : by_number(a->preemption_rank, b->preemption_rank);
    return order != 0 ? -order
                      : (a->slot->order > b->slot->order) - (a->slot->order < b->slot->order);
}

struct views { /* both ads with what is known of their users, for the expressions of the pool */
    struct ad *slot, *job;
};

static struct views make_views(const struct search *search, const struct slot *slot)
{
    struct views views = {.slot = ad_create(), .job = ad_create()};
    ad_chain(views.slot, slot->facts.ad);
    ad_chain(views.job, search->request->facts.ad);
    ad_set_real(views.slot, "RemoteUserPrio", search->priority(search->arg, slot->facts.user));
    ad_set_real(views.job, "SubmitterUserPrio", search->own_priority);
    ad_set_string(views.job, "SubmitterUser", search->request->facts.user);
    return views;
}

static void destroy_views(struct views *views)
{
    ad_destroy(views->slot);
    ad_destroy(views->job);
}

static void look_at(struct search *search, struct slot *slot, double machine_rank,
                    const struct verdict_rank *rank)
{
    const struct plan_policy *policy = &search->plan->policy;
    const struct plan_slot *facts = &slot->facts;
    struct candidate candidate = {.slot = slot, .why = PLAN_BY_RANK, .rank = *rank};
    struct views views = {NULL, NULL};
    if (!(machine_rank > facts->current_rank)) {
        candidate.why = PLAN_BY_PRIORITY;
        if (!search->by_priority || policy->preemption_requirements == NULL ||
            machine_rank < facts->current_rank ||
            strcmp(facts->user, search->request->facts.user) == 0 ||
            search->priority(search->arg, facts->user) <= search->own_priority) {
            return;
        }
        views = make_views(search, slot);
        if (ad_eval_bool(policy->preemption_requirements, views.slot, views.job,
                         search->plan->context) != AD_TRUE) {
            destroy_views(&views);
            return;
        }
    }
    if (policy->preemption_rank != NULL) {
        views = views.slot != NULL ? views : make_views(search, slot);
        double value =
            ad_eval_rank(policy->preemption_rank, views.slot, views.job, search->plan->context);
        candidate.preemption_rank = value == value ? value : 0; /* not a number: 0 */
    }
    destroy_views(&views);
    struct plan_claims *claims = search->claims;
    if (claims->count == claims->room) {
        claims->room = claims->room > 0 ? 2 * claims->room : 64;
        claims->list = mem_realloc(claims->list, claims->room * sizeof *claims->list);
    }
    claims->list[claims->count++] = candidate;
}

/* Does any machine rank this job above one that runs? Perhaps, when nobody is there to be asked. */
static bool some_prefer(struct negotiator_plan *plan, const struct request *request)
{
    for (uint32_t i = 0; i < plan->rank_group_count; i++) {
        const struct rank_group *group = &plan->rank_groups[i];
        if (group->count == 0) {
            continue;
        }
        const struct kind_slots *kind = &plan->kind_slots[group->kind];
        if (kind->heaps[PLACE_CLAIMED].count == 0 || kind->group != i ||
            verdicts_machine_rank(plan->verdicts, request->kind, group->kind) >
                group->lowest_rank) {
            return true;
        }
    }
    return false;
}

void plan_claims_find(struct negotiator_plan *plan, const struct request *request, bool by_priority,
                      plan_priority_f priority, const void *arg)
{
    if (plan->claims == NULL) {
        plan->claims = mem_zalloc(sizeof *plan->claims);
    }
    plan->claims->count = plan->claims->at = 0;
    struct search search = {.plan = plan,
                            .request = request,
                            .by_priority = by_priority,
                            .priority = priority,
                            .arg = arg,
                            .own_priority = priority(arg, request->facts.user),
                            .claims = plan->claims};
    if (!by_priority && !some_prefer(plan, request)) {
        return; /* so in most of a pool when all of it is in use */
    }
    const uint64_t *matches = verdicts_of(plan->verdicts, request->kind);
    size_t at = 0;
    uint64_t some;
    while (plan_next_open(plan, 1U << PLACE_CLAIMED, &at, &some)) {
        for (some &= matches[at - 1]; some != 0; some &= some - 1) {
            uint32_t kind = (uint32_t)((at - 1) * 64) + (uint32_t)__builtin_ctzll(some);
            const struct kind_slots *slots = &plan->kind_slots[kind];
            double machine_rank = verdicts_machine_rank(plan->verdicts, request->kind, kind);
            plan->rank_groups[slots->group].kind = kind;
            if (!by_priority && machine_rank <= slots->lowest_rank) {
                continue;
            }
            struct verdict_rank rank = verdicts_rank(plan->verdicts, request->kind, kind);
            for (uint32_t i = 0; i < slots->heaps[PLACE_CLAIMED].count; i++) {
                look_at(&search, &plan->slots[slots->heaps[PLACE_CLAIMED].slots[i]], machine_rank,
                        &rank);
            }
        }
    }
    if (plan->claims->count > 1) {
        qsort(plan->claims->list, plan->claims->count, sizeof *plan->claims->list, best_first);
    }
}

/* PLAN_NO_MATCH: this slot says nothing. */
static enum plan_reason slot_reason(const struct search *search, const struct slot *slot,
                                    double machine_rank)
{
    const struct plan_policy *policy = &search->plan->policy;
    const struct plan_slot *facts = &slot->facts;
    if (strcmp(facts->user, search->request->facts.user) == 0 ||
        search->priority(search->arg, facts->user) <= search->own_priority) {
        return PLAN_PRIORITY;
    }
    if (machine_rank < facts->current_rank) {
        return PLAN_NO_MATCH; /* its machine likes what it has better */
    }
    if (!search->plan->takes_by_priority) {
        return PLAN_PREEMPTION_POLICY;
    }
    struct views views = make_views(search, slot);
    bool holds = ad_eval_bool(policy->preemption_requirements, views.slot, views.job,
                              search->plan->context) == AD_TRUE;
    destroy_views(&views);
    return holds ? PLAN_SUBMITTER_LIMIT : PLAN_PREEMPTION_POLICY;
}

struct plan_in_use { /* slots that somebody uses, by kind */
    uint64_t *kinds; /* bits */
    uint32_t *first; /* by kind: number of a slot + 1 */
    uint32_t *next;  /* by slot: likewise; 0: no more */
};

struct plan_in_use *plan_in_use_find(const struct negotiator_plan *plan, struct arena *arena)
{
    struct plan_in_use *in_use = arena_alloc(arena, sizeof *in_use);
    if (in_use == NULL) {
        return NULL;
    }
    in_use->kinds = arena_zalloc(arena, (plan->open_words + 1) * sizeof *in_use->kinds);
    in_use->first = arena_zalloc(arena, (plan->kind_room + 1) * sizeof *in_use->first);
    in_use->next = arena_zalloc(arena, (plan->slot_room + 1) * sizeof *in_use->next);
    if (in_use->kinds == NULL || in_use->first == NULL || in_use->next == NULL) {
        return NULL;
    }
    for (uint32_t i = plan->slot_room; i-- > 0;) { /* the first by number comes first */
        const struct slot *slot = &plan->slots[i];
        if (slot->there && slot->keyed && slot->facts.preemptable && slot->facts.user != NULL &&
            !slot->facts.free && !slot->facts.offline && !slot->is_split && !slot->taken) {
            in_use->next[i] = in_use->first[slot->kind];
            in_use->first[slot->kind] = i + 1;
            in_use->kinds[slot->kind / 64] |= (uint64_t)1 << slot->kind % 64;
        }
    }
    return in_use;
}

enum plan_reason plan_claims_reason(struct negotiator_plan *plan, const struct plan_in_use *in_use,
                                    const struct request *request, plan_priority_f priority,
                                    const void *arg)
{
    const struct search search = {.plan = plan,
                                  .request = request,
                                  .priority = priority,
                                  .arg = arg,
                                  .own_priority = priority(arg, request->facts.user)};
    const uint64_t *matches = verdicts_of(plan->verdicts, request->kind);
    enum plan_reason reason = PLAN_NO_MATCH;
    unsigned looks = 0;
    for (size_t at = 0; at < plan->open_words; at++) {
        for (uint64_t some = in_use->kinds[at] & matches[at]; some != 0; some &= some - 1) {
            uint32_t kind = (uint32_t)(at * 64) + (uint32_t)__builtin_ctzll(some);
            double machine_rank = verdicts_machine_rank(plan->verdicts, request->kind, kind);
            for (uint32_t i = in_use->first[kind]; i != 0; i = in_use->next[i - 1]) {
                enum plan_reason now = slot_reason(&search, &plan->slots[i - 1], machine_rank);
                reason = now < reason ? now : reason;
                if (reason < PLAN_PRIORITY || ++looks == PLAN_CLAIM_LOOKS) {
                    return reason;
                }
            }
        }
    }
    return reason;
}

struct takeover plan_claims_next(struct negotiator_plan *plan)
{
    struct plan_claims *claims = plan->claims;
    if (claims->at == claims->count) {
        return (struct takeover){.slot = NULL};
    }
    const struct candidate *next = &claims->list[claims->at++];
    return (struct takeover){.slot = next->slot, .why = next->why};
}

void plan_claims_destroy(struct plan_claims *claims)
{
    if (claims != NULL) {
        mem_free(claims->list);
        mem_free(claims);
    }
}
