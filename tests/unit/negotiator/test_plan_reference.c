/* The plan against a reference that knows no kinds: job by job, slot by slot, every pair judged
 * with whole ads; on 5,000 small random pools, each through a few random changes, of which the plan
 * is told, while a second plan is made anew from all there is.
 *
 * Shares (of users, groups with quotas, or submitting machines) come from share_plan, which has
 * tests of its own; all else is written a second time.
 *
 * TIMEOUT: 300
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/support/plan_reference.h"

#include "base/arena.h"
#include "base/strbuf.h"
#include "negotiator/limit_plan.h"

#define POOLS   5000
#define CHANGES 3

/* ---- the comparison */

static void tell(const struct pool *pool, struct negotiator_plan *plan)
{
    negotiator_plan_set_policy(plan, &pool->policy);
    for (size_t i = 0; i < SLOTS; i++) {
        if (pool->has_slot[i]) {
            assert_int_equal(negotiator_plan_set_slot(plan, &pool->slots[i]), 0);
        }
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        if (pool->has_request[i]) {
            assert_int_equal(negotiator_plan_set_request(plan, &pool->requests[i]), 0);
        }
    }
}

static int by_release(const void *left, const void *right)
{
    const struct plan_release *a = left, *b = right;
    int order = (a->slot > b->slot) - (a->slot < b->slot);
    order = order != 0 ? order : strcmp(a->schedd, b->schedd);
    return order != 0 ? order
                      : (a->auto_cluster > b->auto_cluster) - (a->auto_cluster < b->auto_cluster);
}

static void show(const struct pool *pool)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    for (size_t i = 0; i < SLOTS; i++) {
        const struct plan_slot *slot = &pool->slots[i];
        if (pool->has_slot[i]) {
            strbuf_printf(&text,
                          "slot %zu %s offline %d free %d user %s rank %g pieces %d times %d "
                          "waking %d barred %d ",
                          i, slot->name, slot->offline, slot->use == PLAN_USE_FREE,
                          slot->user != NULL ? slot->user : "-", slot->current_rank,
                          (int)slot->pieces, (int)slot->multiplicity, slot->waking, slot->barred);
            for (size_t j = 0; has_holds(slot) && j < offline_holds_entries(slot->holds); j++) {
                const struct offline_hold *hold = offline_holds_at(slot->holds, j);
                strbuf_printf(&text, "held %s#%d x %d ", hold->schedd, (int)hold->auto_cluster,
                              (int)hold->count);
            }
            ad_print(slot->ad, &text);
            strbuf_puts(&text, "\n");
        }
    }
    for (size_t i = 0; i < REQUESTS; i++) {
        const struct plan_request *request = &pool->requests[i];
        if (pool->has_request[i]) {
            strbuf_printf(&text, "request %zu %s limits %s count %d resting %d ", i, request->user,
                          request->limits != NULL ? request->limits : "-",
                          (int)(request->count - request->in_flight), request->resting);
            ad_print(request->ad, &text);
            strbuf_puts(&text, "\n");
        }
    }
    strbuf_puts(&text, "policy: pre ");
    for (size_t i = 0; i < 4; i++) {
        if (pool->exprs[i] != NULL) {
            ad_expr_print(pool->exprs[i], AD_NEW, &text);
        }
        strbuf_puts(&text, "; ");
    }
    (void)fputs(strbuf_text(&text), stderr);
    strbuf_fini(&text);
}

static double limit_max(void *arg, const char *name)
{
    (void)arg;
    return strcmp(name, "a") == 0 ? LIMIT_MAX[0] : strcmp(name, "b") == 0 ? LIMIT_MAX[1] : -1;
}

static void check(const struct pool *pool, struct negotiator_plan *plan, uint64_t seed,
                  const char *which, struct outcome *expected)
{
    struct arena *arena = arena_create(0, 0);
    struct group_entry groups[GROUPS];
    memcpy(groups, pool->groups, sizeof groups);
    group_plan_quotas(groups, pool->group_count, pool->quota_total, pool->oversubscribe);
    const struct share_input shares = {.users = pool->users,
                                       .user_count = USERS,
                                       .groups = groups,
                                       .group_count = pool->group_count,
                                       .round_robin = pool->round_robin,
                                       .machines = pool->by_machine ? pool->submit_machines : NULL,
                                       .machine_count = pool->by_machine ? MACHINES : 0};
    struct limit_plan *limits = limit_plan_create();
    limit_plan_configure(limits, limit_max, NULL);
    const struct plan_input input = {.shares = &shares, .limits = limits, .context = &NOW};
    struct plan_output out;
    assert_int_equal(negotiator_plan_cycle(plan, &input, arena, &out), 0);
    bool same = out.match_count == expected->match_count &&
                out.held_count == expected->held_count &&
                out.released_count == expected->released_count;
    for (size_t i = 0; same && i < out.match_count; i++) {
        const struct plan_match *a = &out.matches[i], *b = &expected->matches[i];
        same = a->slot == b->slot && a->request == b->request && a->preemption == b->preemption &&
               fabs(a->weight - b->weight) < 1e-9;
    }
    for (size_t i = 0; same && i < out.held_count; i++) {
        same = out.held[i].slot == expected->held[i].slot &&
               out.held[i].request == expected->held[i].request;
    }
    qsort(out.released, out.released_count, sizeof *out.released, by_release);
    qsort(expected->released, expected->released_count, sizeof *expected->released, by_release);
    for (size_t i = 0; same && i < out.released_count; i++) {
        same = by_release(&out.released[i], &expected->released[i]) == 0;
    }
    for (size_t i = 0; !same && i < out.match_count + expected->match_count; i++) {
        const struct plan_match *match =
            i < out.match_count ? &out.matches[i] : &expected->matches[i - out.match_count];
        print_message("%s slot %u request %u preemption %d weight %g\n",
                      i < out.match_count ? "plan" : "reference", match->slot, match->request,
                      (int)match->preemption, match->weight);
    }
    for (size_t i = 0; !same && i < out.held_count + expected->held_count; i++) {
        const struct plan_hold *hold =
            i < out.held_count ? &out.held[i] : &expected->held[i - out.held_count];
        print_message("%s hold slot %u request %u\n", i < out.held_count ? "plan" : "reference",
                      hold->slot, hold->request);
    }
    for (size_t i = 0; !same && i < out.released_count + expected->released_count; i++) {
        const struct plan_release *release =
            i < out.released_count ? &out.released[i] : &expected->released[i - out.released_count];
        print_message("%s releases slot %u of %s#%d\n",
                      i < out.released_count ? "plan" : "reference", release->slot, release->schedd,
                      (int)release->auto_cluster);
    }
    if (!same) {
        show(pool);
        fail_msg("seed %llu, %s plan: %zu matches (%zu), %zu held (%zu), %zu released (%zu)",
                 (unsigned long long)seed, which, out.match_count, expected->match_count,
                 out.held_count, expected->held_count, out.released_count,
                 expected->released_count);
    }
    limit_plan_destroy(limits);
    arena_destroy(arena);
}

static void change(struct pool *pool, struct negotiator_plan *plan)
{
    for (unsigned i = below(pool, 5); i > 0; i--) {
        size_t slot = below(pool, SLOTS);
        if (below(pool, 4) == 0) {
            negotiator_plan_drop_slot(plan, (uint32_t)slot);
            pool->has_slot[slot] = false;
        } else {
            random_slot(pool, slot, below(pool, 2) == 0);
            assert_int_equal(negotiator_plan_set_slot(plan, &pool->slots[slot]), 0);
        }
    }
    for (unsigned i = below(pool, 3); i > 0; i--) {
        size_t request = below(pool, REQUESTS);
        if (below(pool, 3) == 0) {
            negotiator_plan_drop_request(plan, (uint32_t)request);
            pool->has_request[request] = false;
        } else {
            random_request(pool, request, below(pool, 2) == 0);
            assert_int_equal(negotiator_plan_set_request(plan, &pool->requests[request]), 0);
        }
    }
    if (below(pool, 4) == 0) {
        random_policy(pool);
        negotiator_plan_set_policy(plan, &pool->policy);
    }
}

static void the_plan_says_what_the_reference_says(void **state)
{
    (void)state;
    struct outcome *expected = calloc(1, sizeof *expected);
    size_t matches = 0, pieces = 0, taken_over = 0, holds = 0, released = 0, bounded = 0,
           of_groups = 0, of_machines = 0;
    for (uint64_t seed = 1; seed <= POOLS; seed++) {
        struct pool *pool = calloc(1, sizeof *pool);
        rng_seed(&pool->rng, seed);
        random_policy(pool);
        for (size_t i = below(pool, SLOTS + 1); i > 0; i--) {
            random_slot(pool, i - 1, true);
        }
        for (size_t i = below(pool, REQUESTS + 1); i > 0; i--) {
            random_request(pool, i - 1, true);
        }
        struct negotiator_plan *plan = negotiator_plan_create();
        tell(pool, plan);
        for (int round = 0; round <= CHANGES; round++) {
            if (round > 0) {
                change(pool, plan);
            }
            judge_by_reference(pool, expected);
            check(pool, plan, seed, "told", expected);
            check(pool, plan, seed, "asked again", expected);
            struct negotiator_plan *fresh = negotiator_plan_create();
            tell(pool, fresh);
            check(pool, fresh, seed, "fresh", expected);
            negotiator_plan_destroy(fresh);
            matches += expected->match_count;
            holds += expected->held_count;
            released += expected->released_count;
            bounded += expected->bounded;
            of_groups += pool->group_count > 1 ? expected->match_count : 0;
            of_machines += pool->by_machine ? expected->match_count : 0;
            for (size_t i = 0; i < expected->match_count; i++) {
                const struct plan_match *match = &expected->matches[i];
                taken_over += match->preemption != PLAN_FREE ? 1 : 0;
                pieces += ad_bool_or(pool->slots[match->slot].ad, "PartitionableSlot", false);
            }
        }
        negotiator_plan_destroy(plan);
        empty(pool);
        free(pool);
    }
    free(expected);
    print_message("%zu matches, %zu of them pieces, %zu taken over, %zu with groups, %zu by "
                  "machines; %zu holds, %zu released, %zu times a limit\n",
                  matches, pieces, taken_over, of_groups, of_machines, holds, released, bounded);
    assert_true(matches > 12000 && pieces > 2000 && taken_over > 900);
    assert_true(holds > 10000 && released > 3000);
    assert_true(bounded > 3000 && of_groups > 3000 && of_machines > 2000);
}

UNIT_TESTS(UNIT(the_plan_says_what_the_reference_says))
