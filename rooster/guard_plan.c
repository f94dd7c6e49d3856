/* rooster/guard_plan.c - decides whether a machine may go to sleep: see guard_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/guard_plan.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"

#define DAY_S         INT64_C(86400)
#define AGAIN_S       60 /* where nothing says when it will be otherwise */
#define AGAIN_SOON_S  10 /* what is not known, or is over soon */
#define AGAIN_CYCLE_S 1800
#define AGAIN_MAX_S   3600

/* ---- sleeps that pay */

void guard_rests_add(struct guard_rests *rests, int64_t seconds)
{
    if (seconds >= 0) {
        rests->seconds[rests->count++ % GUARD_RESTS_MAX] = seconds;
    }
}

int64_t guard_rests_expected_s(const struct guard_rests *rests)
{
    int64_t sorted[GUARD_RESTS_MAX];
    size_t count = rests->count < GUARD_RESTS_MAX ? rests->count : GUARD_RESTS_MAX;
    if (count < GUARD_RESTS_LEAST) {
        return -1;
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = i;
        for (; at > 0 && sorted[at - 1] > rests->seconds[i]; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = rests->seconds[i];
    }
    return sorted[count / 2];
}

int64_t guard_break_even_s(const struct energy_watts *watts, int64_t boot_s, double cycle_j)
{
    double gain_w = watts->idle_w - watts->asleep_w;
    double most_w = watts->busy_w > watts->idle_w ? watts->busy_w : watts->idle_w;
    if (!(gain_w > 0) || boot_s < 0) {
        return 0;
    }
    double seconds = ((double)boot_s * (most_w - watts->asleep_w) + cycle_j) / gain_w;
    return seconds < (double)DAY_S ? (int64_t)seconds : DAY_S;
}

/* ---- the judgement */

const char *guard_kind_name(enum guard_kind kind)
{
    static const char *const NAMES[] = {
        [GUARD_NONE] = "None",      [GUARD_UNKNOWN] = "Unknown",      [GUARD_NO_WAY] = "NoWay",
        [GUARD_MIN_UP] = "MinUp",   [GUARD_BREAK_EVEN] = "BreakEven", [GUARD_CYCLES] = "Cycles",
        [GUARD_YOUNG] = "Young",    [GUARD_RESERVE] = "Reserve",      [GUARD_SHARE] = "Share",
        [GUARD_AT_ONCE] = "AtOnce", [GUARD_PER_MINUTE] = "PerMinute", [GUARD_DRY_RUN] = "DryRun",
    };
    return NAMES[kind];
}

/* Sets the verdict that the machine stays up; its text was already written (said).  Returns
 * true. */
static bool hold_back(struct guard_verdict *ret, enum guard_kind kind, int64_t again_s, int said)
{
    (void)said; /* -EBUSY: the text is there */
    ret->kind = kind;
    ret->again_s = again_s < 1 ? 1 : again_s > AGAIN_MAX_S ? AGAIN_MAX_S : again_s;
    return true;
}

/* Checks the guards that do not depend on other machines. */
static bool judge_machine(const struct guard_ask *ask, const struct guard_limits *limits,
                          struct guard_verdict *ret)
{
    if (!ask->can_wake && !ask->order.override) {
        return hold_back(
            ret, GUARD_NO_WAY, AGAIN_S,
            err_set(&ret->why, -EBUSY,
                    "the machine could not be woken: it has no 'node' section and no adapter "
                    "that magic packets wake"));
    }
    if (ask->up_s < limits->min_up_s) {
        return hold_back(ret, GUARD_MIN_UP, limits->min_up_s - ask->up_s,
                         err_set(&ret->why, -EBUSY,
                                 "the machine is up for %lld s, less than %lld s (ROOSTER_MIN_UP)",
                                 (long long)ask->up_s, (long long)limits->min_up_s));
    }
    if (ask->order.by_name) {
        return false;
    }
    int64_t pays_s = (int64_t)((double)ask->break_even_s * limits->break_even);
    if (ask->expected_s >= 0 && ask->expected_s < pays_s && ask->idle_s < pays_s) {
        return hold_back(
            ret, GUARD_BREAK_EVEN, pays_s - ask->idle_s,
            err_set(&ret->why, -EBUSY,
                    "the machine's sleeps last %lld s, but save energy only after %lld s; it "
                    "is idle for %lld s (ROOSTER_BREAK_EVEN)",
                    (long long)ask->expected_s, (long long)pays_s, (long long)ask->idle_s));
    }
    if (limits->per_day_max > 0 && ask->sleeps_today >= limits->per_day_max) {
        return hold_back(
            ret, GUARD_CYCLES, AGAIN_CYCLE_S,
            err_set(&ret->why, -EBUSY,
                    "the machine slept %lld times in 24 hours (ROOSTER_MAX_SLEEPS_PER_DAY)",
                    (long long)ask->sleeps_today));
    }
    return false;
}

static int64_t at_once_max(const struct guard_pool *pool, const struct guard_limits *limits)
{
    int64_t most = limits->at_once_max > 0 ? limits->at_once_max : INT64_MAX;
    if (limits->at_once_max_percent > 0) {
        int64_t share = pool->machines * limits->at_once_max_percent / 100;
        share = share > 1 ? share : 1;
        most = share < most ? share : most;
    }
    return most;
}

/* Checks the guards that depend on the pool, in which this machine is not yet counted as going
 * down. */
static bool judge_pool(const struct guard_ask *ask, const struct guard_pool *pool,
                       const struct guard_limits *limits, struct guard_verdict *ret)
{
    if (pool->age_s < limits->min_age_s && limits->young_max > 0 &&
        pool->since_young >= limits->young_max) {
        return hold_back(
            ret, GUARD_YOUNG, limits->min_age_s - pool->age_s,
            err_set(&ret->why, -EBUSY,
                    "the collector started %lld s ago, and %lld machines have gone down "
                    "since (ROOSTER_COLLECTOR_MIN_AGE, ROOSTER_YOUNG_MAX_DOWN)",
                    (long long)pool->age_s, (long long)pool->since_young));
    }
    const char *with = pool->reserve_with != NULL ? pool->reserve_with : "";
    if (ask->in_reserve && pool->reserve_unknown) {
        return hold_back(ret, GUARD_RESERVE, AGAIN_SOON_S,
                         err_set(&ret->why, -EBUSY,
                                 "how many idle machines must stay awake is undefined "
                                 "(ROOSTER_RESERVE%s)",
                                 with));
    }
    if (ask->in_reserve && pool->idle <= pool->reserve) {
        return hold_back(
            ret, GUARD_RESERVE, with[0] != '\0' ? AGAIN_SOON_S : AGAIN_S,
            err_set(&ret->why, -EBUSY,
                    "%lld idle machines are awake; %lld must stay awake (ROOSTER_RESERVE%s)",
                    (long long)pool->idle, (long long)pool->reserve, with));
    }
    if (limits->down_max_percent > 0 &&
        (pool->down + 1) * 100 > pool->machines * limits->down_max_percent) {
        return hold_back(
            ret, GUARD_SHARE, AGAIN_S,
            err_set(
                &ret->why, -EBUSY,
                "%lld of %lld machines are down; at most %lld%% may be (ROOSTER_MAX_DOWN_PERCENT)",
                (long long)pool->down, (long long)pool->machines,
                (long long)limits->down_max_percent));
    }
    int64_t most = at_once_max(pool, limits);
    if (pool->going_down >= most) {
        return hold_back(
            ret, GUARD_AT_ONCE, AGAIN_SOON_S * (1 + pool->waiting / most),
            err_set(
                &ret->why, -EBUSY,
                "%lld machines are going down, the most allowed at a time (ROOSTER_MAX_GOING_DOWN)",
                (long long)pool->going_down));
    }
    if (limits->per_minute_max > 0 && pool->last_minute >= limits->per_minute_max) {
        return hold_back(ret, GUARD_PER_MINUTE, 60 * (1 + pool->waiting / limits->per_minute_max),
                         err_set(&ret->why, -EBUSY,
                                 "%lld machines went down in the last minute, the most allowed "
                                 "(ROOSTER_MAX_SLEEPS_PER_MINUTE)",
                                 (long long)pool->last_minute));
    }
    return false;
}

void guard_plan_judge(const struct guard_ask *ask, const struct guard_pool *pool,
                      const struct guard_limits *limits, struct guard_verdict *ret)
{
    *ret = (struct guard_verdict){.kind = GUARD_NONE};
    if (ask->unknown != NULL) {
        (void)hold_back(ret, GUARD_UNKNOWN, AGAIN_SOON_S,
                        err_set(&ret->why, -EBUSY, "the state of the machine is not known: %s",
                                ask->unknown));
        return;
    }
    if (!ask->order.forced && (judge_machine(ask, limits, ret) ||
                               (!ask->granted && judge_pool(ask, pool, limits, ret)))) {
        return;
    }
    if (limits->dry_run) {
        (void)hold_back(ret, GUARD_DRY_RUN, AGAIN_S,
                        err_set(&ret->why, -EBUSY,
                                "the machine would go to sleep without ROOSTER_DRY_RUN"));
    }
}
