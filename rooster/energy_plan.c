/* rooster/energy_plan.c - see energy_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/energy_plan.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "classad/ad.h"

bool energy_plan_is_known(const struct energy_watts *watts)
{
    return watts->asleep_w > 0 || watts->idle_w > 0 || watts->busy_w > 0;
}

static double clip_share(double share)
{
    return share >= 1 ? 1 : share > 0 ? share : 0; /* not a number: 0 */
}

double energy_plan_jobs_w(const struct energy_watts *watts, enum energy_mode mode, double share)
{
    return mode == ENERGY_ON ? watts->busy_w * clip_share(share) : 0;
}

double energy_plan_draw_w(const struct energy_watts *watts, enum energy_mode mode, double share)
{
    switch (mode) {
    case ENERGY_ASLEEP:
        return watts->asleep_w;
    case ENERGY_ON:
        return watts->idle_w * (1 - clip_share(share)) + energy_plan_jobs_w(watts, mode, share);
    case ENERGY_UNKNOWN:
    default:
        return 0;
    }
}

void energy_plan_add(struct energy_sum *sum, const struct energy_watts *watts,
                     enum energy_mode mode, double busy_cores, double cores, double seconds)
{
    if (!(seconds > 0) || mode == ENERGY_UNKNOWN) {
        return;
    }
    double share = cores > 0 ? busy_cores / cores : 0;
    sum->used_j += energy_plan_draw_w(watts, mode, share) * seconds;
    sum->jobs_j += energy_plan_jobs_w(watts, mode, share) * seconds;
    if (mode == ENERGY_ON) {
        sum->on_s += seconds;
        sum->busy_core_s += clip_share(share) * cores * seconds;
    } else {
        sum->asleep_s += seconds;
        double gain_w = watts->idle_w - watts->asleep_w;
        sum->saved_j += gain_w > 0 ? gain_w * seconds : 0;
    }
}

void energy_plan_join(struct energy_sum *into, const struct energy_sum *sum, double share)
{
    into->on_s += sum->on_s * share;
    into->asleep_s += sum->asleep_s * share;
    into->busy_core_s += sum->busy_core_s * share;
    into->used_j += sum->used_j * share;
    into->jobs_j += sum->jobs_j * share;
    into->saved_j += sum->saved_j * share;
}

static int64_t day_of(double at_s)
{
    int64_t whole_s = (int64_t)at_s;
    return whole_s - whole_s % ENERGY_DAY_S;
}

size_t energy_plan_days(double from_s, double to_s, int64_t first_day_s,
                        struct energy_part parts[ENERGY_PARTS_MAX])
{
    int64_t last_s = day_of(to_s > 0 ? to_s : 0);
    last_s = last_s > first_day_s ? last_s : first_day_s;
    int64_t earliest_s = last_s - (ENERGY_PARTS_MAX - 1) * ENERGY_DAY_S;
    earliest_s = earliest_s > first_day_s ? earliest_s : first_day_s;
    int64_t day_s = from_s > (double)earliest_s ? day_of(from_s) : earliest_s;
    size_t count = 0;
    double left = 1;
    for (; day_s < last_s && to_s > from_s; day_s += ENERGY_DAY_S) {
        double until_left = (to_s - (double)(day_s + ENERGY_DAY_S)) / (to_s - from_s);
        parts[count++] = (struct energy_part){.day_s = day_s, .share = left - until_left};
        left = until_left;
    }
    parts[count++] = (struct energy_part){.day_s = last_s, .share = left};
    return count;
}

static double growth_of(double before, double now)
{
    return now > before ? now - before : 0; /* not a number: 0 */
}

struct energy_counter energy_plan_growth(struct energy_counter *seen,
                                         const struct energy_counter *now, int64_t began_s)
{
    struct energy_counter growth = {.since_s = now->since_s};
    if (seen->since_s == now->since_s) {
        growth.joules = growth_of(seen->joules, now->joules);
        growth.seconds = growth_of(seen->seconds, now->seconds);
        seen->joules += growth.joules;
        seen->seconds += growth.seconds;
        return growth;
    }
    if (now->since_s >= began_s) {
        growth.joules = growth_of(0, now->joules);
        growth.seconds = growth_of(0, now->seconds);
    }
    *seen = *now;
    return growth;
}

static const struct {
    const char *name;
    size_t at;
    double scale;
} FIGURES[] = {
    {"OnSeconds", offsetof(struct energy_sum, on_s), 1},
    {"AsleepSeconds", offsetof(struct energy_sum, asleep_s), 1},
    {"BusyCoreSeconds", offsetof(struct energy_sum, busy_core_s), 1},
    {"EnergyUsed", offsetof(struct energy_sum, used_j), ENERGY_JOULES_PER_KWH},
    {"EnergyOfJobs", offsetof(struct energy_sum, jobs_j), ENERGY_JOULES_PER_KWH},
    {"EnergySaved", offsetof(struct energy_sum, saved_j), ENERGY_JOULES_PER_KWH},
};

void energy_plan_write(const struct energy_sum *sum, struct ad *ad)
{
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++) {
        double value;
        memcpy(&value, (const char *)sum + FIGURES[i].at, sizeof value);
        ad_set_real(ad, FIGURES[i].name, value / FIGURES[i].scale);
    }
}

void energy_plan_read(const struct ad *ad, struct energy_sum *ret)
{
    for (size_t i = 0; i < ARRAY_COUNT(FIGURES); i++) {
        double value = ad_real_or(ad, FIGURES[i].name, 0) * FIGURES[i].scale;
        value = value > 0 && isfinite(value) ? value : 0;
        memcpy((char *)ret + FIGURES[i].at, &value, sizeof value);
    }
}

double energy_plan_busy_cores(const struct ad *slot)
{
    const char *activity = ad_string_or(slot, "Activity", "Busy");
    const char *state = ad_string_or(slot, "State", "");
    bool claimed = strcmp(state, "Claimed") == 0 || strcmp(state, "Preempting") == 0;
    if (!claimed || strcmp(activity, "Idle") == 0 || strcmp(activity, "Suspended") == 0) {
        return 0;
    }
    double cores = ad_real_or(slot, "Cpus", 1);
    return cores > 0 && isfinite(cores) ? cores : 0;
}
