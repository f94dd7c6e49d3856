/* tests/support/plan_pool.h - a small pool for tests of negotiation: slots, requests, users, and
 * one struct negotiator_plan for all negotiation cycles.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_SUPPORT_PLAN_POOL_H
#define TESTS_SUPPORT_PLAN_POOL_H

#include "tests/support/unit.h"

#include <errno.h>
#include <stdbool.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "negotiator/negotiator_plan.h"
#include "offline_ads/offline_holds.h"

#define SLOTS    24
#define REQUESTS 12

static const struct ad_context NOW = {.now_s = 1764000000};

struct pool {
    struct plan_slot slots[SLOTS];
    struct plan_request requests[REQUESTS];
    struct share_user users[4];
    struct negotiator_plan *plan; /* used for all negotiation cycles of the pool */
    size_t fed_slots, fed_requests;
    struct plan_policy policy;
    struct limit_plan *limits; /* NULL: no concurrency limits */
    size_t slot_count, request_count, user_count;
    struct ad_expr *pre_job, *post_job;
    char names[SLOTS + REQUESTS][32], machines[SLOTS][32];
    struct arena *arena;
    struct plan_output out;
    uint64_t serial;
    bool full; /* the next cycles examine all requests and slots (full cycles) */
};

static inline struct ad *parse(const char *text)
{
    struct ad *ad = NULL;
    struct err err = {{0}};
    if (ad_parse(text, strlen(text), &ad, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    return ad;
}

static inline void empty(struct pool *pool)
{
    for (size_t i = 0; i < pool->slot_count; i++) {
        ad_destroy((struct ad *)pool->slots[i].ad);
        offline_holds_destroy((struct offline_holds *)pool->slots[i].holds);
    }
    for (size_t i = 0; i < pool->request_count; i++) {
        ad_destroy((struct ad *)pool->requests[i].ad);
    }
    negotiator_plan_destroy(pool->plan);
    ad_expr_destroy(pool->pre_job);
    ad_expr_destroy(pool->post_job);
    arena_destroy(pool->arena);
    *pool = (struct pool){.policy.offline_last = true};
}

static inline struct plan_slot *add_slot(struct pool *pool, const char *machine, const char *text)
{
    size_t i = pool->slot_count++;
    assert_true(i < SLOTS);
    (void)snprintf(pool->names[i], sizeof pool->names[i], "slot%zu@%s", i, machine);
    (void)snprintf(pool->machines[i], sizeof pool->machines[i], "%s", machine);
    pool->slots[i] = (struct plan_slot){.name = pool->names[i],
                                        .machine = pool->machines[i],
                                        .ad = parse(text),
                                        .serial = ++pool->serial,
                                        .number = (uint32_t)i,
                                        .use = PLAN_USE_FREE};
    return &pool->slots[i];
}

static inline struct plan_slot *live(struct pool *pool, const char *text)
{
    return add_slot(pool, "up", text);
}

static inline struct plan_slot *asleep(struct pool *pool, const char *machine)
{
    struct plan_slot *slot = add_slot(pool, machine, "[Requirements = true]");
    slot->offline = true;
    return slot;
}

static inline struct plan_request *add_request(struct pool *pool, const char *user, int64_t count,
                                               const char *text)
{
    size_t i = pool->request_count++;
    assert_true(i < REQUESTS);
    char *name = pool->names[SLOTS + i];
    (void)snprintf(name, sizeof pool->names[0], "request%02zu", i);
    pool->requests[i] = (struct plan_request){.name = name,
                                              .schedd = "schedd",
                                              .user = user,
                                              .auto_cluster = (int64_t)i + 1,
                                              .ad = parse(text),
                                              .serial = ++pool->serial,
                                              .number = (uint32_t)i,
                                              .count = count};
    return &pool->requests[i];
}

static inline void hold(struct plan_slot *slot, const struct plan_request *request, int64_t count)
{
    struct offline_holds *holds =
        slot->holds != NULL ? (struct offline_holds *)slot->holds : offline_holds_create();
    const struct offline_hold entry = {.schedd = request->schedd,
                                       .auto_cluster = request->auto_cluster,
                                       .count = count,
                                       .until_s = 2000000000};
    assert_int_equal(offline_holds_add(holds, &entry), 0);
    slot->holds = holds;
}

static inline void feed(struct pool *pool, struct negotiator_plan *plan)
{
    pool->policy.pre_job = pool->pre_job;
    pool->policy.post_job = pool->post_job;
    negotiator_plan_set_policy(plan, &pool->policy);
    for (size_t i = 0; i < pool->slot_count; i++) {
        assert_int_equal(negotiator_plan_set_slot(plan, &pool->slots[i]), 0);
    }
    for (size_t i = 0; i < pool->request_count; i++) {
        assert_int_equal(negotiator_plan_set_request(plan, &pool->requests[i]), 0);
    }
}

static inline struct plan_input input_of(const struct pool *pool, struct share_input *shares)
{
    *shares = (struct share_input){.users = pool->users, .user_count = pool->user_count};
    return (struct plan_input){.shares = shares,
                               .limits = pool->limits,
                               .full = pool->full,
                               .context = &NOW};
}

static inline int try_cycle(struct pool *pool, size_t arena_max)
{
    arena_destroy(pool->arena);
    pool->arena = arena_create(0, arena_max);
    if (pool->plan == NULL) {
        pool->plan = negotiator_plan_create();
    }
    for (size_t i = pool->slot_count; i < pool->fed_slots; i++) {
        negotiator_plan_drop_slot(pool->plan, (uint32_t)i);
    }
    for (size_t i = pool->request_count; i < pool->fed_requests; i++) {
        negotiator_plan_drop_request(pool->plan, (uint32_t)i);
    }
    feed(pool, pool->plan);
    pool->fed_slots = pool->slot_count;
    pool->fed_requests = pool->request_count;
    struct share_input shares;
    const struct plan_input input = input_of(pool, &shares);
    return negotiator_plan_cycle(pool->plan, &input, pool->arena, &pool->out);
}

static inline void cycle(struct pool *pool)
{
    assert_int_equal(try_cycle(pool, 0), 0);
}

/* The number of jobs of the request that got a slot in the last cycle. */
static inline size_t matches_of(const struct pool *pool, const struct plan_request *request)
{
    size_t count = 0;
    for (size_t i = 0; i < pool->out.match_count; i++) {
        count += &pool->requests[pool->out.matches[i].request] == request ? 1 : 0;
    }
    return count;
}

#endif
