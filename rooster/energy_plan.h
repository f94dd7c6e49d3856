/* rooster/energy_plan.h - models what a machine draws, and adds it up.
 *
 * Pure.  The model has three figures for each machine: the draw asleep, on and idle, and with all
 * cores at work.  Between the last two the draw is linear in the share of cores that run jobs.  So
 * each job is charged its cores' share of the difference, the rest is the machine's own, and all
 * adds up:
 *      used = jobs + idle + asleep.
 * Saved is what the machine would have drawn on and idle, minus what it drew asleep.  This is a
 * model and not a meter, because every machine has one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_ENERGY_PLAN_H
#define ROOSTER_ENERGY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ad;

struct energy_watts {
    double asleep_w, idle_w, busy_w; /* watts asleep, idle and busy, >= 0; all 0: not known */
};

/* How a machine is counted. */
enum energy_mode { ENERGY_UNKNOWN, ENERGY_ON, ENERGY_ASLEEP };

struct energy_sum { /* joules and seconds, all >= 0 */
    double on_s, asleep_s;
    double busy_core_s; /* seconds summed over the cores that ran jobs */
    double used_j;      /* drawn by the whole machine */
    double jobs_j;      /* the jobs' part of used_j */
    double saved_j;     /* see above */
};

/* Returns whether the watts are known: not all of them are 0. */
bool energy_plan_is_known(const struct energy_watts *watts);
/* Returns the draw in watts with that share (clipped to 0..1) of the cores at work; 0 for
 * ENERGY_UNKNOWN. */
double energy_plan_draw_w(const struct energy_watts *watts, enum energy_mode mode, double share);
/* Returns the jobs' part of energy_plan_draw_w(). */
double energy_plan_jobs_w(const struct energy_watts *watts, enum energy_mode mode, double share);
/* Adds `seconds` (nothing if below 0) of a machine in that mode with busy_cores of its cores at
 * work. */
void energy_plan_add(struct energy_sum *sum, const struct energy_watts *watts,
                     enum energy_mode mode, double busy_cores, double cores, double seconds);
/* Adds the given share of `sum` to `into`. */
void energy_plan_join(struct energy_sum *into, const struct energy_sum *sum, double share);

#define ENERGY_DAY_S          INT64_C(86400)
#define ENERGY_PARTS_MAX      12
#define ENERGY_JOULES_PER_KWH 3600000.0

struct energy_part { /* a part of a period that is split at midnight UTC */
    int64_t day_s;
    double share;
};
/* Splits the time from from_s to to_s (seconds since 1970) into days, at most ENERGY_PARTS_MAX.
 * What precedes first_day_s, or does not fit, is added to the first of these days.  Returns the
 * number of parts, at least 1; their shares add up to 1. */
size_t energy_plan_days(double from_s, double to_s, int64_t first_day_s,
                        struct energy_part parts[ENERGY_PARTS_MAX]);

struct energy_counter { /* an energy counter of a machine (startd/machine/meter.c) */
    int64_t since_s;    /* time at which the counter was 0, seconds since 1970 */
    double joules, seconds;
};
/* Returns by how much the counter has grown since *seen (since_s 0: never seen), and sets *seen to
 * now.  A counter that restarted is counted from its start; but if it started before began_s, when
 * we began to count at all, only from now on.  A counter that fell back, because its machine had
 * not saved its last values, grows again once it exceeds the value in *seen. */
struct energy_counter energy_plan_growth(struct energy_counter *seen,
                                         const struct energy_counter *now, int64_t began_s);

/* Sets OnSeconds AsleepSeconds BusyCoreSeconds EnergyUsed EnergyOfJobs EnergySaved, the last three
 * in kWh. */
void energy_plan_write(const struct energy_sum *sum, struct ad *ad);
/* Reads these attributes; a missing or invalid one gives 0. */
void energy_plan_read(const struct ad *ad, struct energy_sum *ret);

/* Returns how many cores of this slot are at work: those of a claim that is neither idle nor
 * suspended. */
double energy_plan_busy_cores(const struct ad *slot);

#endif
