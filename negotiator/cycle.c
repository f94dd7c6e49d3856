/* negotiator/cycle.c - runs a negotiation cycle: takes a snapshot, makes a plan, carries it out.
 *
 * A change asks for a cycle.  The first one runs at once; changes within NEGOTIATOR_CYCLE_DELAY
 * after that are collected into one.  Nothing is done before both copies (slots, requests) are
 * complete, nor without the lease.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"
#include "negotiator/negotiator.h"
#include "offline_ads/offline_holds.h"
#include "wire/watch.h"

/* A match that fails stops counting as use by itself, so a cycle runs again after that time. */
#define CHARGES_LOOK_MS 2000

#define PREPARE_SLICES_MAX 5000
#define CYCLE_ARENA_BYTES  ((size_t)4 << 30)

/* ---- holds: all that concerns one slot becomes one MERGE */

struct hold_change { /* a change of one slot's holds: a release, or one more job of a request */
    uint32_t slot;
    uint32_t index; /* in the plan's list, which keeps the order */
    const struct plan_release *release;
    const struct plan_hold *hold;
};

static int by_slot(const void *left, const void *right)
{
    const struct hold_change *a = left, *b = right;
    if (a->slot != b->slot) {
        return a->slot < b->slot ? -1 : 1;
    }
    if ((a->release != NULL) != (b->release != NULL)) {
        return a->release != NULL ? -1 : 1; /* what is taken back makes room */
    }
    return (a->index > b->index) - (a->index < b->index);
}

/* Computes the new holds of a slot: its present ones, less the released, plus the new ones. */
static void change_slot(struct negotiator *negotiator, const struct hold_change *changes,
                        size_t count)
{
    struct pool_slot *slot = negotiator->slot_numbers.items.items[changes[0].slot];
    int64_t now_s = loop_wall_s(negotiator->env.loop);
    int64_t until_s = now_s + config_duration_s(negotiator->env.config, "OFFLINE_MATCH_LIFETIME");
    const struct pool_request *first = NULL;
    int64_t jobs = 0;
    bool others = false, is_reclaimed = slot->as_if != NULL;
    if (slot->merging || slot->rest_until_ms > loop_now_ms(negotiator->env.loop)) {
        return; /* when that is answered, or over */
    }
    struct offline_holds *next =
        is_reclaimed ? drained_held(slot) : offline_holds_read(slot->facts.ad);
    until_s = is_reclaimed ? drained_until_s(negotiator) : until_s;
    for (size_t i = 0; i < count; i++) {
        if (changes[i].release != NULL) {
            (void)offline_holds_clear(next, changes[i].release->schedd,
                                      changes[i].release->auto_cluster);
            continue;
        }
        const struct pool_request *request =
            negotiator->request_numbers.items.items[changes[i].hold->request];
        const struct offline_hold hold = {.schedd = request->facts.schedd,
                                          .auto_cluster = request->facts.auto_cluster,
                                          .count = 1,
                                          .until_s = until_s,
                                          .since_s = request->facts.qdate_s};
        if (offline_holds_add(next, &hold) == 0) {
            first = first != NULL ? first : request;
            jobs += request == first ? 1 : 0;
            others = others || request != first;
        }
    }
    (void)offline_holds_prune(next, now_s);
    if (!is_reclaimed) {
        act_holds(negotiator, slot, next, first != NULL);
        return;
    }
    char why[300];
    if (first != NULL) {
        (void)snprintf(why, sizeof why, "%lld %s of %.80s (autocluster %lld of %.80s)%s",
                       (long long)jobs, jobs == 1 ? "job" : "jobs", first->facts.user,
                       (long long)first->facts.auto_cluster, first->facts.schedd,
                       others      ? " and others wait"
                       : jobs == 1 ? " waits"
                                   : " wait");
    }
    drained_holds(negotiator, slot, next, first != NULL ? why : NULL);
}

static void change_holds(struct negotiator *negotiator, struct arena *arena,
                         const struct plan_output *plan)
{
    size_t count = plan->released_count + plan->held_count;
    struct hold_change *changes = arena_alloc(arena, (count + 1) * sizeof *changes);
    if (changes == NULL || count == 0) {
        return; /* the next cycle says the same */
    }
    for (size_t i = 0; i < plan->released_count; i++) {
        changes[i] = (struct hold_change){.slot = plan->released[i].slot,
                                          .index = (uint32_t)i,
                                          .release = &plan->released[i]};
    }
    for (size_t i = 0; i < plan->held_count; i++) {
        changes[plan->released_count + i] = (struct hold_change){.slot = plan->held[i].slot,
                                                                 .index = (uint32_t)i,
                                                                 .hold = &plan->held[i]};
    }
    qsort(changes, count, sizeof *changes, by_slot);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && changes[end].slot == changes[i].slot; end++) {
        }
        change_slot(negotiator, &changes[i], end - i);
    }
}

/* ---- the cycle */

static void carry_out(struct negotiator *negotiator, struct arena *arena,
                      const struct plan_output *plan)
{
    rejections_tell(negotiator, plan); /* limits are as the plan left them */
    prompt_cycle_done(negotiator, plan);
    for (size_t i = 0; i < plan->match_count; i++) {
        const struct plan_match *match = &plan->matches[i];
        act_match(negotiator, negotiator->slot_numbers.items.items[match->slot],
                  negotiator->request_numbers.items.items[match->request], match);
        negotiator->counts.preemptions += match->preemption != PLAN_FREE ? 1 : 0;
    }
    change_holds(negotiator, arena, plan);
    negotiator->counts.matches += (int64_t)plan->match_count;
    negotiator->counts.last_matches = (int64_t)plan->match_count;
    negotiator->counts.holds += (int64_t)plan->held_count;
    negotiator->counts.last_judged = (int64_t)plan->evaluated;
    negotiator->counts.slot_kinds = (int64_t)plan->slot_kinds;
    negotiator->counts.request_kinds = (int64_t)plan->request_kinds;
}

/* Logs the slots and requests whose expressions are too costly, so that their owner can be found;
 * they match nothing. */
static void tell_costly(struct negotiator *negotiator)
{
    struct plan_costly costly;
    while (negotiator_plan_take_costly(negotiator->plan, &costly)) {
        const struct pool_slot *slot =
            costly.is_slot ? negotiator->slot_numbers.items.items[costly.number] : NULL;
        const struct pool_request *request =
            costly.is_slot ? NULL : negotiator->request_numbers.items.items[costly.number];
        static const char WHY[] =
            "evaluating Requirements or Rank takes too many steps; the ad matches nothing";
        if (slot != NULL) {
            log_warn(negotiator->env.log, "cycle.costly_slot", WHY,
                     LOG_TEXT("slot", slot->facts.name), LOG_TEXT("machine", slot->facts.machine),
                     LOG_TEXT("identity",
                              ad_string_or(slot->facts.ad, "AuthenticatedIdentity", "")));
        } else if (request != NULL) {
            log_warn(negotiator->env.log, "cycle.costly_request", WHY,
                     LOG_TEXT("user", request->facts.user),
                     LOG_TEXT("schedd", request->facts.schedd),
                     LOG_INT("autocluster", request->facts.auto_cluster),
                     LOG_TEXT("identity",
                              ad_string_or(request->facts.ad, "AuthenticatedIdentity", "")));
        }
    }
}

/* Evaluates the expressions of strangers before the plan needs them, one slice in each turn of the
 * loop.  Ads that change all the time must not delay the cycle for ever. */
static bool prepare_plan(struct negotiator *negotiator)
{
    const struct ad_context context = negotiator_context(negotiator);
    bool full = negotiator->cycle.full;
    copies_update(negotiator);
    negotiator->cycle.full = false;
    bool is_ready = negotiator_plan_prepare(negotiator->plan, &context, full, AD_SLICE_STEPS) ||
                    ++negotiator->cycle.prepared >= PREPARE_SLICES_MAX;
    tell_costly(negotiator);
    negotiator->cycle.prepared = is_ready ? 0 : negotiator->cycle.prepared;
    return is_ready;
}

static int plan_and_act(struct negotiator *negotiator, struct arena *arena)
{
    const struct ad_context context = negotiator_context(negotiator);
    struct share_input shares;
    const struct plan_input input = {.shares = &shares,
                                     .limits = negotiator->limits,
                                     .context = &context};
    struct plan_output plan;
    shares_forget(negotiator);
    int rc = shares_input(negotiator, negotiator->weights.live + negotiator->weights.asleep, arena,
                          &shares);
    if (rc != 0) {
        return rc;
    }
    rc = negotiator_plan_cycle(negotiator->plan, &input, arena, &plan);
    if (rc == 0) {
        carry_out(negotiator, arena, &plan);
    }
    return rc;
}

void cycle_run(void *arg)
{
    struct negotiator *negotiator = arg;
    if (!negotiator->lease.leads || !watch_is_synced(negotiator->watches.slots) ||
        !watch_is_synced(negotiator->watches.requests)) {
        return; /* the lease or the copies will ask again */
    }
    if (!prepare_plan(negotiator)) {
        loop_timer_set(negotiator->cycle.timer, 0);
        return;
    }
    uint64_t begin_ms = loop_now_ms(negotiator->env.loop);
    struct arena *arena = arena_create((size_t)1 << 20, CYCLE_ARENA_BYTES);
    int rc = plan_and_act(negotiator, arena);
    if (rc != 0) {
        log_error(negotiator->env.log, "cycle.failed", err_code_text(rc),
                  LOG_INT("slots", strmap_count(negotiator->slots)),
                  LOG_INT("requests", strmap_count(negotiator->requests)));
    }
    arena_destroy(arena);
    if (strmap_count(negotiator->charges) > 0 && !loop_timer_is_set(negotiator->rest_timer)) {
        loop_timer_set(negotiator->rest_timer, CHARGES_LOOK_MS);
    }
    negotiator->counts.cycles++;
    negotiator->cycle.last_ms = loop_now_ms(negotiator->env.loop);
    negotiator->counts.last_duration_ms = (int64_t)(negotiator->cycle.last_ms - begin_ms);
    negotiator->counts.last_cycle_s = loop_wall_s(negotiator->env.loop);
}
