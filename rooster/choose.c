/* rooster/choose.c - chooses which of the wanted machines are woken now.
 *
 * The candidates are in an array of their own, so that a choice is one pass over plain values.  A
 * node's entry is made anew when the node was examined.  wake_plan.c decides.  Before an order is
 * given the machine is examined once more, because its hold may have ended without a change of its
 * ad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/choose.h"

#include <math.h>

#include "base/config/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "rooster/clock.h"
#include "rooster/look.h"
#include "rooster/nodes.h"
#include "rooster/outside.h"
#include "rooster/rooster.h"
#include "rooster/still_up.h"
#include "rooster/wakes.h"

static bool is_wanted(const struct node *node)
{
    return node->jobs.demand_it || node->asked.by_name || node->guard.reserve.reserving ||
           PLANTED(wake_without_demand);
}

static enum wake_wish wish_of(const struct node *node)
{
    if (node->asked.by_name) {
        return WAKE_WISHED_BY_NAME;
    }
    if (node->jobs.demand_it || node->guard.reserve.reserving) {
        return WAKE_WISHED_BY_JOBS;
    }
    return node->guard.reserve.spare ? WAKE_WISHED_AS_SPARE : WAKE_WISHED_BY_NOBODY;
}

static bool is_candidate(const struct node *node, bool dry)
{
    if (node->state == WAKE_WAKING || node->state == WAKE_QUARANTINED) {
        return true; /* counted; to be looked at when its time is over */
    }
    bool is_spare = node->guard.reserve.spare && node->state == WAKE_OFF;
    return (is_wanted(node) || is_spare) && (node->asleep.has_ads || node->asked.by_name) &&
           !node->ordering && !node->still_up.asking && !(dry && node->wake.is_dry);
}

/* Returns when the reserve may wake this machine: not right after it fell asleep; another one is
 * woken. */
static uint64_t spare_at_ms(const struct node *node)
{
    struct rooster *rooster = node->rooster;
    int64_t rest_s = config_duration_s(rooster->env.config, "ROOSTER_ASLEEP_AGAIN");
    int64_t left_s = rest_s - rooster_since_s(rooster, &node->since_s);
    left_s = left_s < 0 ? 0 : left_s > rest_s ? rest_s : left_s;
    return loop_now_ms(rooster->env.loop) + (uint64_t)left_s * 1000;
}

static void remove_candidate(struct rooster *rooster, struct node *node)
{
    struct candidates *all = &rooster->candidates;
    size_t at = node->candidate - 1;
    all->count--;
    all->plan[at] = all->plan[all->count];
    all->nodes[at] = all->nodes[all->count];
    all->nodes[at]->candidate = at + 1;
    node->candidate = 0;
}

static void add_candidate(struct rooster *rooster, struct node *node)
{
    struct candidates *all = &rooster->candidates;
    if (all->count == all->capacity) {
        all->capacity = all->capacity == 0 ? 64 : all->capacity * 2;
        all->plan = mem_realloc(all->plan, all->capacity * sizeof *all->plan);
        all->nodes = mem_realloc(all->nodes, all->capacity * sizeof *all->nodes);
        all->chosen = mem_realloc(all->chosen, all->capacity * sizeof *all->chosen);
    }
    all->nodes[all->count++] = node;
    node->candidate = all->count;
}

void choose_from(struct node *node)
{
    struct rooster *rooster = node->rooster;
    const struct config *config = rooster->env.config;
    bool dry = config_bool(config, "ROOSTER_DRY_RUN");
    int64_t per_day_max = config_int(config, "ROOSTER_MAX_WAKES_PER_DAY");
    node->wake.is_dry = dry && node->wake.is_dry && is_wanted(node) && node->state != WAKE_UP;
    if (!is_candidate(node, dry)) {
        if (node->candidate != 0) {
            remove_candidate(rooster, node);
        }
        return;
    }
    if (node->candidate == 0) {
        add_candidate(rooster, node);
    }
    char why[ROOSTER_TEXT_MAX];
    int64_t since_s;
    (void)node_shown(node); /* judges whether there is a way to wake it */
    bool is_known = node->asked.by_name ||
                    !(node_is_silent(node) || outside_contradicts(node, why, sizeof why, &since_s));
    rooster->candidates.plan[node->candidate - 1] =
        (struct wake_candidate){.machine = node->name,
                                .state = node->state,
                                .wish = wish_of(node),
                                .can_wake = !node->way.is_none && !node->ordering && is_known,
                                .worn = per_day_max > 0 &&
                                        wake_day_count(&node->history.day,
                                                       rooster_now_s(rooster)) >= per_day_max,
                                .rank = node->jobs.rank,
                                .extra_w = guards_extra_w(node),
                                .spare_at_ms = node->guard.reserve.spare ? spare_at_ms(node) : 0,
                                .retry_at_ms = node->wake.retry_at_ms};
}

/* ROOSTER_DRY_RUN: logs once that the machine would be woken, and does not wake it. */
static void only_say(struct node *node)
{
    log_info(node->rooster->env.log, "wake.dry_run",
             "the machine would be woken without ROOSTER_DRY_RUN", LOG_TEXT("machine", node->name),
             LOG_INT("jobs", node->jobs.waiting));
    node->wake.is_dry = true;
}

static struct wake_limits limits_of(struct rooster *rooster, uint64_t now_ms)
{
    const struct config *config = rooster->env.config;
    return (
        struct wake_limits){.per_cycle_max = config_int(config, "ROOSTER_MAX_UNHIBERNATE"),
                            .at_once_max = config_int(config, "ROOSTER_MAX_WAKING"),
                            .share_max_percent = config_int(config, "ROOSTER_MAX_WAKING_PERCENT"),
                            .machines = (int64_t)rooster->machines,
                            .per_minute_max = config_int(config, "ROOSTER_MAX_WAKES_PER_MINUTE"),
                            .last_minute = wake_minute_count(&rooster->minute, now_ms),
                            .spares_wanted = guards_missing(rooster),
                            .is_capped = isfinite(guards_watts_left(rooster)),
                            .watts_left = guards_watts_left(rooster)};
}

/* Marks the machines that wait until the pool draws less, for their ads. */
static void mark_over_watts(struct rooster *rooster)
{
    const struct candidates *all = &rooster->candidates;
    double left_w = guards_watts_left(rooster);
    for (size_t i = 0; i < all->count; i++) {
        struct node *node = all->nodes[i];
        node->guard.reserve.over_watts = is_wanted(node) && node->state != WAKE_WAKING &&
                                         node->state != WAKE_UP && all->plan[i].extra_w > left_w;
    }
}

/* Sets the timer for the next time at which a candidate may be tried again. */
static void look_again(struct rooster *rooster, uint64_t now_ms, bool minute_is_full)
{
    const struct candidates *all = &rooster->candidates;
    bool spares = guards_missing(rooster) > 0;
    uint64_t next_ms = minute_is_full ? now_ms + 1000 : UINT64_MAX;
    for (size_t i = 0; i < all->count; i++) {
        const struct wake_candidate *candidate = &all->plan[i];
        if ((candidate->state == WAKE_BACKOFF || candidate->state == WAKE_QUARANTINED) &&
            candidate->retry_at_ms > now_ms && candidate->retry_at_ms < next_ms) {
            next_ms = candidate->retry_at_ms;
        }
        if (spares && candidate->state == WAKE_OFF && candidate->spare_at_ms > now_ms &&
            candidate->spare_at_ms < next_ms) {
            next_ms = candidate->spare_at_ms;
        }
    }
    if (next_ms != UINT64_MAX && rooster->marked.count == 0) {
        loop_timer_set(rooster->look_timer, next_ms - now_ms);
    }
}

void choose_due(struct rooster *rooster)
{
    const struct candidates *all = &rooster->candidates;
    uint64_t now_ms = loop_now_ms(rooster->env.loop);
    for (size_t i = 0; i < all->count; i++) {
        if (all->plan[i].state == WAKE_QUARANTINED && all->plan[i].retry_at_ms <= now_ms) {
            look_mark(all->nodes[i]);
        }
    }
}

void choose_wakes(struct rooster *rooster)
{
    struct candidates *all = &rooster->candidates;
    uint64_t now_ms = loop_now_ms(rooster->env.loop);
    const struct wake_limits limits = limits_of(rooster, now_ms);
    bool dry = config_bool(rooster->env.config, "ROOSTER_DRY_RUN");
    size_t count = all->count;
    size_t taken = wake_plan_choose(all->plan, count, &limits, now_ms, all->chosen);
    struct node **nodes = mem_alloc((taken + 1) * sizeof *nodes); /* candidates come and go */
    for (size_t i = 0; i < taken; i++) {
        nodes[i] = all->nodes[all->chosen[i]];
    }
    for (size_t i = 0; i < taken; i++) {
        struct node *node = nodes[i];
        if (node->look.number != rooster->looks) {
            look_see(node);
        }
        if (!is_wanted(node) && node->guard.reserve.spare && guards_missing(rooster) > 0) {
            node->guard.reserve.reserving = true;
        }
        if (!is_wanted(node)) {
            look_at(node); /* nobody waits for it any more */
            continue;
        }
        if (dry) {
            only_say(node);
        } else if (!still_up_ask(node)) {
            node_wake(node);
        }
        guards_count(node);
        choose_from(node);
    }
    mem_free(nodes);
    mark_over_watts(rooster);
    look_again(rooster, now_ms,
               taken < count && limits.per_minute_max > 0 &&
                   limits.last_minute + (int64_t)taken >= limits.per_minute_max);
    if (dry && taken > 0) {
        look_soon(rooster); /* the rest, beyond ROOSTER_MAX_UNHIBERNATE */
    }
}

void choose_fini(struct rooster *rooster)
{
    mem_free(rooster->candidates.plan);
    mem_free(rooster->candidates.nodes);
    mem_free(rooster->candidates.chosen);
}
