/* negotiator/plan_preempt.c - finds slots in use that a request may take over: see
 * negotiator_plan.h.
 *
 * What PREEMPTION_REQUIREMENTS and PREEMPTION_RANK give for a slot depends on the slot and on the
 * asking user, mostly not on which of his jobs.  So it is computed once per cycle for a *view*: all
 * requests of one user that are alike in what these expressions read of jobs.  A view has a *pile*
 * for each kind of slot that it has examined, in runs of equal CurrentRank, best first.  For one
 * request, a whole run is taken over by Rank, by priority, or not at all.  Within a cycle slots
 * only leave piles, so a run remembers how far it is used up.  A request then merges the runs of
 * the kinds that match: its cost is the runs and what it takes, not the slots.
 *
 * Where the expressions may read more than can be seen in them (eval(), attributes that are
 * expressions themselves), every request has a view of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_depends.h"
#include "negotiator/plan_state.h"

#define VIEWS_MAX 64 /* shared ones in a cycle; who comes later has one of its own */

struct item { /* a slot in a pile */
    uint32_t slot, order;
    bool allowed; /* by priority */
    double preemption_rank;
};

struct run { /* items of equal current_rank */
    double current_rank;
    uint32_t first, end;
    uint32_t at[2]; /* the first that may be left: [0] by Rank, [1] by priority */
};

struct pile { /* slots in use of one kind */
    struct item *items;
    struct run *runs;
    uint32_t run_count;
};

struct view {
    struct arena *arena;
    struct pile **piles; /* by kind; NULL: not made yet */
    uint32_t kind_room;
};

struct candidate { /* the best of a run, for the request that is served */
    struct pile *pile;
    struct run *run;
    enum plan_preemption why;
    struct verdict_rank rank;
};

struct plan_claims {
    struct strmap *views; /* what requests are alike in -> struct view */
    struct view *own;     /* view of the current request alone; NULL: it shares one */
    struct vec names;     /* names that the preemption expressions read */
    bool unshared;        /* they may read what is not in names */
    struct candidate *heap;
    uint32_t count, room;
    bool served; /* the top was given out: look at its run again */
};

struct search {
    struct negotiator_plan *plan;
    const struct request *request;
    plan_priority_f priority;
    const void *arg;
    double own_priority;
};

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

/* ---- views of a cycle */

static struct view *view_create(const struct negotiator_plan *plan)
{
    struct view *view = mem_zalloc(sizeof *view);
    view->arena = arena_create(0, 0);
    view->kind_room = plan->kind_room;
    view->piles = mem_zalloc((view->kind_room + 1) * sizeof(struct pile *));
    return view;
}

static void view_destroy(void *value)
{
    struct view *view = value;
    if (view != NULL) {
        arena_destroy(view->arena);
        mem_free(view->piles);
        mem_free(view);
    }
}

static void add_name(void *arg, const char *name, bool in_my, bool in_target)
{
    (void)in_my;
    (void)in_target; /* either side may have it */
    vec_push(arg, mem_strdup(name));
}

void plan_claims_begin(struct negotiator_plan *plan)
{
    const struct ad_expr *const exprs[] = {plan->policy.preemption_requirements,
                                           plan->policy.preemption_rank};
    struct plan_claims *claims = plan->claims;
    if (claims == NULL) {
        claims = plan->claims = mem_zalloc(sizeof *plan->claims);
        claims->views = strmap_create(STRMAP_CASE_SENSITIVE);
    }
    claims->unshared = false;
    for (size_t i = 0; i < ARRAY_COUNT(exprs); i++) {
        if (exprs[i] != NULL && ad_depends(exprs[i], add_name, &claims->names)) {
            claims->unshared = true;
        }
    }
}

void plan_claims_end(struct negotiator_plan *plan)
{
    struct plan_claims *claims = plan->claims;
    strmap_destroy(claims->views, view_destroy);
    claims->views = strmap_create(STRMAP_CASE_SENSITIVE);
    view_destroy(claims->own);
    claims->own = NULL;
    claims->count = 0;
    vec_clear(&claims->names, mem_free);
}

static bool all_literal(const struct plan_claims *claims, const struct ad *ad)
{
    for (size_t i = 0; i < claims->names.count; i++) {
        const struct ad_expr *expr = ad_lookup(ad, claims->names.items[i]);
        if (expr != NULL && !ad_expr_is_literal(expr)) {
            return false;
        }
    }
    return true;
}

/* Writes what the request has in common with those that share its view. */
static void write_key(const struct plan_claims *claims, const struct request *request,
                      struct strbuf *key)
{
    strbuf_puts(key, request->facts.user);
    for (size_t i = 0; i < claims->names.count; i++) {
        const struct ad_expr *expr = ad_lookup(request->facts.ad, claims->names.items[i]);
        strbuf_putc(key, '\n');
        if (expr != NULL) {
            ad_expr_print(expr, AD_NEW, key);
        }
    }
}

static struct view *view_of(struct negotiator_plan *plan, const struct request *request)
{
    struct plan_claims *claims = plan->claims;
    struct view *view = NULL;
    view_destroy(claims->own);
    claims->own = NULL;
    if (!claims->unshared && all_literal(claims, request->facts.ad)) {
        struct strbuf key;
        strbuf_init(&key, 0);
        write_key(claims, request, &key);
        view = strmap_get(claims->views, strbuf_text(&key));
        if (view == NULL && strmap_count(claims->views) < VIEWS_MAX) {
            view = view_create(plan);
            (void)strmap_set(claims->views, strbuf_text(&key), view); /* was absent */
        }
        strbuf_fini(&key);
    }
    if (view == NULL) {
        view = claims->own = view_create(plan);
    }
    return view;
}

/* ---- piles */

static int by_number(double a, double b)
{
    return a > b ? 1 : a < b ? -1 : 0;
}

struct ranked {
    double current_rank;
    struct item item;
};

static int by_rank_and_item(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    int order = by_number(a->current_rank, b->current_rank);
    order = order != 0 ? order : by_number(b->item.preemption_rank, a->item.preemption_rank);
    return order != 0 ? order : (a->item.order > b->item.order) - (a->item.order < b->item.order);
}

static struct ranked rank_slot(const struct search *search, const struct slot *slot,
                               const struct views *views)
{
    const struct plan_policy *policy = &search->plan->policy;
    const struct plan_slot *facts = &slot->facts;
    const struct ad_context *context = search->plan->context;
    double remote = search->priority(search->arg, facts->user);
    struct ranked ranked = {.current_rank = facts->current_rank == facts->current_rank
                                                ? facts->current_rank
                                                : 0, /* not a number: as if it was none */
                            .item = {.slot = plan_slot_number(search->plan, slot),
                                     .order = slot->order}};
    if (views->slot == NULL) {
        return ranked;
    }
    ad_chain(views->slot, facts->ad);
    ad_set_real(views->slot, "RemoteUserPrio", remote);
    ranked.item.allowed =
        search->plan->takes_by_priority && remote > search->own_priority &&
        strcmp(facts->user, search->request->facts.user) != 0 &&
        ad_eval_bool(policy->preemption_requirements, views->slot, views->job, context) == AD_TRUE;
    if (policy->preemption_rank != NULL) {
        double value = ad_eval_rank(policy->preemption_rank, views->slot, views->job, context);
        ranked.item.preemption_rank = value == value ? value : 0; /* likewise */
    }
    return ranked;
}

/* Makes the pile of a kind; NULL: out of memory. */
static struct pile *make_pile(const struct search *search, struct view *view, uint32_t kind)
{
    struct negotiator_plan *plan = search->plan;
    const struct heap *heap = &plan->kind_slots[kind].heaps[PLACE_CLAIMED];
    struct pile *pile = arena_zalloc(view->arena, sizeof *pile);
    struct ranked *list = mem_alloc((heap->count + 1) * sizeof *list);
    struct views views = {NULL, NULL};
    if (plan->takes_by_priority || plan->policy.preemption_rank != NULL) {
        views = make_views(search, &plan->slots[heap->slots[0]]);
    }
    for (uint32_t i = 0; i < heap->count; i++) {
        const struct slot *slot = &plan->slots[heap->slots[i]];
        list[i] = rank_slot(search, slot, &views);
        plan->claims->unshared =
            plan->claims->unshared || !all_literal(plan->claims, slot->facts.ad);
    }
    destroy_views(&views);
    if (heap->count > 1) {
        qsort(list, heap->count, sizeof *list, by_rank_and_item);
    }
    uint32_t runs = 0;
    for (uint32_t i = 0; i < heap->count; i++) {
        runs += i == 0 || list[i].current_rank > list[i - 1].current_rank ? 1 : 0;
    }
    if (pile != NULL) {
        pile->items = arena_alloc(view->arena, (heap->count + 1) * sizeof *pile->items);
        pile->runs = arena_zalloc(view->arena, (runs + 1) * sizeof *pile->runs);
        view->piles[kind] = pile->items != NULL && pile->runs != NULL ? pile : NULL;
    }
    for (uint32_t i = 0; view->piles[kind] != NULL && i < heap->count; i++) {
        if (i == 0 || list[i].current_rank > list[i - 1].current_rank) {
            pile->runs[pile->run_count++] =
                (struct run){.current_rank = list[i].current_rank, .first = i, .at = {i, i}};
        }
        pile->runs[pile->run_count - 1].end = i + 1;
        pile->items[i] = list[i].item;
    }
    mem_free(list);
    return view->piles[kind];
}

/* ---- the candidates of a request */

/* Returns the best item left in the candidate's run; NULL: none. */
static const struct item *head_of(const struct negotiator_plan *plan, const struct candidate *of)
{
    bool by_priority = of->why == PLAN_BY_PRIORITY;
    uint32_t *at = &of->run->at[by_priority ? 1 : 0];
    for (; *at < of->run->end; ++*at) {
        const struct item *item = &of->pile->items[*at];
        if (!plan->slots[item->slot].taken && (item->allowed || !by_priority)) {
            return item;
        }
    }
    return NULL;
}

/* Returns whether a is to be taken before b; both must have a head. */
static bool is_better(const struct negotiator_plan *plan, const struct candidate *a,
                      const struct candidate *b)
{
    if (a->why != b->why) {
        return a->why == PLAN_BY_RANK;
    }
    const struct item *x = head_of(plan, a), *y = head_of(plan, b);
    int order = by_number(a->rank.pre, b->rank.pre);
    order = order != 0 ? order : by_number(a->rank.job, b->rank.job);
    order = order != 0 ? order : by_number(a->rank.post, b->rank.post);
    order = order != 0 ? order : by_number(x->preemption_rank, y->preemption_rank);
    return order != 0 ? order > 0 : x->order < y->order;
}

static void sift_down(const struct negotiator_plan *plan, struct plan_claims *claims, uint32_t at)
{
    for (;;) {
        uint32_t best = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < claims->count; child++) {
            best = is_better(plan, &claims->heap[child], &claims->heap[best]) ? child : best;
        }
        if (best == at) {
            return;
        }
        struct candidate swap = claims->heap[at];
        claims->heap[at] = claims->heap[best];
        claims->heap[best] = swap;
        at = best;
    }
}

static void add_candidate(const struct negotiator_plan *plan, struct plan_claims *claims,
                          const struct candidate *candidate)
{
    if (head_of(plan, candidate) == NULL) {
        return;
    }
    if (claims->count == claims->room) {
        claims->room = claims->room > 0 ? 2 * claims->room : 64;
        claims->heap = mem_realloc(claims->heap, claims->room * sizeof *claims->heap);
    }
    claims->heap[claims->count++] = *candidate;
}

/* Returns whether some machine ranks this job above its running one; true also when that cannot be
 * decided. */
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
    struct plan_claims *claims = plan->claims;
    claims->count = 0;
    claims->served = false;
    struct search search = {.plan = plan,
                            .request = request,
                            .priority = priority,
                            .arg = arg,
                            .own_priority = priority(arg, request->facts.user)};
    if (!by_priority && !some_prefer(plan, request)) {
        return; /* so in most of a pool when all of it is in use */
    }
    struct view *view = view_of(plan, request);
    const uint64_t *matches = verdicts_of(plan->verdicts, request->kind);
    size_t at = 0;
    uint64_t some;
    while (plan_next_open(plan, 1U << PLACE_CLAIMED, &at, &some)) {
        for (some &= matches[at - 1]; some != 0; some &= some - 1) {
            uint32_t kind = (uint32_t)((at - 1) * 64) + (uint32_t)__builtin_ctzll(some);
            const struct kind_slots *slots = &plan->kind_slots[kind];
            double machine_rank = verdicts_machine_rank(plan->verdicts, request->kind, kind);
            plan->rank_groups[slots->group].kind = kind;
            if ((!by_priority && machine_rank <= slots->lowest_rank) || kind >= view->kind_room) {
                continue; /* a kind that is new in this cycle has no slots in use */
            }
            struct pile *pile =
                view->piles[kind] != NULL ? view->piles[kind] : make_pile(&search, view, kind);
            struct candidate candidate = {.pile = pile,
                                          .rank =
                                              verdicts_rank(plan->verdicts, request->kind, kind)};
            for (uint32_t i = 0; pile != NULL && i < pile->run_count; i++) {
                candidate.run = &pile->runs[i];
                candidate.why =
                    machine_rank > candidate.run->current_rank ? PLAN_BY_RANK : PLAN_BY_PRIORITY;
                if (candidate.why == PLAN_BY_RANK ||
                    (by_priority && !(machine_rank < candidate.run->current_rank))) {
                    add_candidate(plan, claims, &candidate);
                }
            }
        }
    }
    for (uint32_t i = claims->count / 2; i-- > 0;) {
        sift_down(plan, claims, i);
    }
}

/* ---- why nothing is taken over */

/* Returns why the request cannot take this slot; PLAN_NO_MATCH: this slot does not tell. */
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
    uint32_t *next;  /* for each slot: number of the next one of its kind + 1; 0: no more */
    size_t words;    /* words of the bit set kinds */
};

struct plan_in_use *plan_in_use_find(const struct negotiator_plan *plan, struct arena *arena)
{
    struct plan_in_use *in_use = arena_alloc(arena, sizeof *in_use);
    if (in_use == NULL) {
        return NULL;
    }
    /* kinds whose slots were never placed are there, too */
    in_use->words = kinds_limit(plan->kinds, KINDS_SLOT) / 64 + 1;
    in_use->kinds = arena_zalloc(arena, in_use->words * sizeof *in_use->kinds);
    in_use->first = arena_zalloc(arena, in_use->words * 64 * sizeof *in_use->first);
    in_use->next = arena_zalloc(arena, (plan->slot_room + 1) * sizeof *in_use->next);
    if (in_use->kinds == NULL || in_use->first == NULL || in_use->next == NULL) {
        return NULL;
    }
    for (uint32_t i = plan->slot_room; i-- > 0;) { /* the first by number comes first */
        const struct slot *slot = &plan->slots[i];
        if (slot->there && slot->keyed && slot->facts.use == PLAN_USE_TAKEN &&
            slot->facts.user != NULL && !slot->facts.offline && !slot->is_split && !slot->taken) {
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
    for (size_t at = 0; at < in_use->words; at++) {
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
    if (claims->served && claims->count > 0) {
        if (head_of(plan, &claims->heap[0]) == NULL) {
            claims->heap[0] = claims->heap[--claims->count];
        }
        sift_down(plan, claims, 0);
    }
    claims->served = true;
    if (claims->count == 0) {
        return (struct takeover){.slot = NULL};
    }
    const struct candidate *best = &claims->heap[0];
    return (struct takeover){.slot = &plan->slots[head_of(plan, best)->slot], .why = best->why};
}

void plan_claims_destroy(struct plan_claims *claims)
{
    if (claims != NULL) {
        strmap_destroy(claims->views, view_destroy);
        view_destroy(claims->own);
        vec_fini(&claims->names, mem_free);
        mem_free(claims->heap);
        mem_free(claims);
    }
}
