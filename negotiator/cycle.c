/* negotiator/cycle.c - a negotiation cycle: snapshot, plan, acts.
 *
 * A change asks for a cycle; the first is run at once, those that follow within
 * NEGOTIATOR_CYCLE_DELAY are gathered into one.  Nothing is done before both copies (slots,
 * requests) are complete, nor without the lease.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/negotiator.h"
#include "offline_ads/offline_ads.h"
#include "offline_ads/offline_holds.h"
#include "wire/watch.h"

#define CYCLE_ARENA_BYTES ((size_t)4 << 30)

void cycle_soon(struct negotiator *negotiator)
{
    if (loop_timer_is_set(negotiator->cycle_timer)) {
        return;
    }
    uint64_t gap_ms =
        (uint64_t)config_duration_ms(negotiator->env.config, "NEGOTIATOR_CYCLE_DELAY");
    uint64_t since_ms = loop_now_ms(negotiator->env.loop) - negotiator->last_cycle_ms;
    loop_timer_set(negotiator->cycle_timer, since_ms >= gap_ms ? 0 : gap_ms - since_ms);
}

struct snapshot {
    struct plan_slot *slots;
    struct pool_slot **pool_slots;
    size_t slot_count;
    struct plan_request *requests;
    struct pool_request **pool_requests;
    size_t request_count;
    struct strmap *waking; /* machines of which a slot is being woken */
};

static int snapshot_slots(struct negotiator *negotiator, struct snapshot *snapshot,
                          struct arena *arena)
{
    int64_t now_s = loop_wall_s(negotiator->env.loop);
    size_t max = strmap_count(negotiator->slots), at = 0;
    snapshot->slots = arena_alloc(arena, (max + 1) * sizeof *snapshot->slots);
    snapshot->pool_slots = arena_alloc(arena, (max + 1) * sizeof *snapshot->pool_slots);
    if (snapshot->slots == NULL || snapshot->pool_slots == NULL) {
        return -ENOMEM;
    }
    void *value;
    while (strmap_next(negotiator->slots, &at, NULL, &value)) {
        struct pool_slot *pool = value;
        struct plan_slot slot = pool->facts;
        if (slot.offline) {
            struct offline_holds *holds = pool->pending != NULL ? pool->pending : pool->holds;
            if (holds != NULL) {
                (void)offline_holds_prune(holds, now_s);
            }
            slot.holds = holds;
        } else {
            slot.free = slot.free && !act_is_given(negotiator, pool->claim_id);
        }
        if (slot.waking) {
            (void)strmap_set(snapshot->waking, slot.machine, snapshot); /* only presence counts */
        }
        snapshot->slots[snapshot->slot_count] = slot;
        snapshot->pool_slots[snapshot->slot_count++] = pool;
    }
    for (size_t i = 0; i < snapshot->slot_count; i++) {
        struct plan_slot *slot = &snapshot->slots[i];
        slot->waking = slot->offline && strmap_count(snapshot->waking) > 0 &&
                       strmap_get(snapshot->waking, slot->machine) != NULL;
    }
    return 0;
}

static int snapshot_requests(struct negotiator *negotiator, struct snapshot *snapshot,
                             struct arena *arena)
{
    size_t max = strmap_count(negotiator->requests), at = 0;
    snapshot->requests = arena_alloc(arena, (max + 1) * sizeof *snapshot->requests);
    snapshot->pool_requests = arena_alloc(arena, (max + 1) * sizeof *snapshot->pool_requests);
    if (snapshot->requests == NULL || snapshot->pool_requests == NULL) {
        return -ENOMEM;
    }
    void *value;
    while (strmap_next(negotiator->requests, &at, NULL, &value)) {
        struct pool_request *pool = value;
        pool->facts.in_flight = pool->in_flight;
        pool->facts.resting = loop_now_ms(negotiator->env.loop) < pool->rest_until_ms;
        snapshot->requests[snapshot->request_count] = pool->facts;
        snapshot->pool_requests[snapshot->request_count++] = pool;
    }
    return 0;
}

/* The holds of one slot as they are to be: what it has, less the released, plus the new. */
static void change_holds(struct negotiator *negotiator, struct snapshot *snapshot,
                         const struct plan_output *plan)
{
    int64_t now_s = loop_wall_s(negotiator->env.loop);
    int64_t until_s = now_s + config_duration_s(negotiator->env.config, "OFFLINE_MATCH_LIFETIME");
    for (size_t i = 0; i < snapshot->slot_count; i++) {
        struct pool_slot *pool = snapshot->pool_slots[i];
        if (!snapshot->slots[i].offline || pool->merging) {
            continue;
        }
        struct offline_holds *next = NULL;
        bool matched = false;
        for (size_t j = 0; j < plan->released_count; j++) {
            if (plan->released[j].slot == i) {
                next = next != NULL ? next : offline_holds_read(snapshot->slots[i].ad);
                (void)offline_holds_clear(next, plan->released[j].schedd,
                                          plan->released[j].auto_cluster);
            }
        }
        for (size_t j = 0; j < plan->held_count; j++) {
            if (plan->held[j].slot == i) {
                const struct plan_request *request = &snapshot->requests[plan->held[j].request];
                const struct offline_hold hold = {.schedd = request->schedd,
                                                  .auto_cluster = request->auto_cluster,
                                                  .count = 1,
                                                  .until_s = until_s};
                next = next != NULL ? next : offline_holds_read(snapshot->slots[i].ad);
                matched = offline_holds_add(next, &hold) == 0 || matched;
            }
        }
        if (next != NULL) {
            (void)offline_holds_prune(next, now_s);
            act_holds(negotiator, pool, next, matched);
        }
    }
}

static void carry_out(struct negotiator *negotiator, struct snapshot *snapshot,
                      const struct plan_output *plan)
{
    for (size_t i = 0; i < plan->match_count; i++) {
        size_t slot = plan->matches[i].slot, request = plan->matches[i].request;
        act_match(negotiator, snapshot->pool_slots[slot], snapshot->slots[slot].ad,
                  snapshot->pool_requests[request], snapshot->requests[request].ad);
    }
    if (plan->held_count + plan->released_count > 0) {
        change_holds(negotiator, snapshot, plan);
    }
    negotiator->matches += (int64_t)plan->match_count;
    negotiator->holds += (int64_t)plan->held_count;
    negotiator->last_judged = (int64_t)plan->judged;
}

static int plan_and_act(struct negotiator *negotiator, struct snapshot *snapshot,
                        struct arena *arena)
{
    int rc = snapshot_slots(negotiator, snapshot, arena);
    rc = rc != 0 ? rc : snapshot_requests(negotiator, snapshot, arena);
    if (rc != 0) {
        return rc;
    }
    const struct ad_context context = {.now_s = loop_wall_s(negotiator->env.loop),
                                       .random_state = &negotiator->random_state};
    struct plan_input input = {
        .slots = snapshot->slots,
        .slot_count = snapshot->slot_count,
        .requests = snapshot->requests,
        .request_count = snapshot->request_count,
        .ranks = {.pre_job = negotiator->pre_job, .post_job = negotiator->post_job},
        .full = negotiator->full,
        .context = &context,
    };
    input.users = accountant_users(negotiator->accountant, arena, &input.user_count);
    struct plan_output plan;
    rc = negotiator_plan_cycle(&input, arena, &plan);
    for (size_t i = 0; i < snapshot->request_count;
         i++) { /* what was judged is kept, whatever came of it */
        snapshot->pool_requests[i]->facts = snapshot->requests[i];
    }
    if (rc == 0) {
        negotiator->full = false;
        carry_out(negotiator, snapshot, &plan);
    }
    return rc;
}

void cycle_run(void *arg)
{
    struct negotiator *negotiator = arg;
    if (!negotiator->leads || !watch_is_synced(negotiator->slots_watch) ||
        !watch_is_synced(negotiator->requests_watch)) {
        return; /* the lease or the copies will ask again */
    }
    uint64_t begin_ms = loop_now_ms(negotiator->env.loop);
    struct arena *arena = arena_create((size_t)1 << 20, CYCLE_ARENA_BYTES);
    struct snapshot snapshot = {.waking = strmap_create(STRMAP_CASE_IGNORED)};
    int rc = plan_and_act(negotiator, &snapshot, arena);
    if (rc != 0) {
        log_error(negotiator->env.log, "cycle.failed", err_code_text(rc),
                  LOG_INT("slots", snapshot.slot_count),
                  LOG_INT("requests", snapshot.request_count));
    }
    strmap_destroy(snapshot.waking, NULL);
    arena_destroy(arena);
    negotiator->cycles++;
    negotiator->last_cycle_ms = loop_now_ms(negotiator->env.loop);
    negotiator->last_duration_ms = (int64_t)(negotiator->last_cycle_ms - begin_ms);
    negotiator->last_cycle_s = loop_wall_s(negotiator->env.loop);
}
