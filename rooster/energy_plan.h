/* rooster/energy_plan.h - a model of what machines draw, and sums of it.
 *
 * Pure.  The model has three figures for each machine, in watts: its draw when it is asleep, when
 * it is on and idle, and when all its cores are at work.  Between the last two the draw grows
 * linearly with the share of cores that run jobs.  So each job is charged its cores' share of the
 * difference between busy and idle, the machine itself is charged the rest, and the sums agree:
 *      used = jobs + idle + asleep.
 * Saved energy is what the machine would have drawn on and idle, minus what it drew asleep.  This
 * is a model and not a measurement, because it works for every machine.
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
    /* draw when asleep, idle and busy, watts, >= 0; all 0: not known */
    double asleep_w, idle_w, busy_w;
};

/* How a period of a machine is counted: not at all, as on, or as asleep. */
enum energy_mode { ENERGY_UNKNOWN, ENERGY_ON, ENERGY_ASLEEP };

struct energy_sum { /* sums of energy (joules) and time (seconds), all >= 0 */
    double on_s, asleep_s;
    double busy_core_s; /* seconds in which cores ran jobs, sum of all cores */
    double used_j;      /* energy that the whole machine drew */
    double jobs_j;      /* the part of used_j that jobs are charged */
    /* energy saved by sleep: what the machine would have drawn on and idle while it was asleep,
     * minus what it drew */
    double saved_j;
};

/* Returns whether the watts are known: not all of them are 0. */
bool energy_plan_is_known(const struct energy_watts *watts);
/* Returns the draw of a machine in that mode, in watts, with that share of its cores (clipped to
 * 0..1) at work; 0 for ENERGY_UNKNOWN. */
double energy_plan_draw_w(const struct energy_watts *watts, enum energy_mode mode, double share);
/* Returns the part of energy_plan_draw_w() that jobs are charged, in watts. */
double energy_plan_jobs_w(const struct energy_watts *watts, enum energy_mode mode, double share);
/* Adds to sum the energy and the seconds of a period in which a machine was in that mode, with
 * busy_cores of its cores at work.  seconds below 0: adds nothing. */
void energy_plan_add(struct energy_sum *sum, const struct energy_watts *watts,
                     enum energy_mode mode, double busy_cores, double cores, double seconds);
/* Adds the part `share` (0 to 1) of each member of `sum` to `into`. */
void energy_plan_join(struct energy_sum *into, const struct energy_sum *sum, double share);

#define ENERGY_DAY_S          INT64_C(86400)
#define ENERGY_PARTS_MAX      12
#define ENERGY_JOULES_PER_KWH 3600000.0

struct energy_part { /* a part of a period that is split at midnight UTC */
    int64_t day_s;
    double share;
};
/* Splits the time from from_s to to_s (seconds since 1970) into days, at most ENERGY_PARTS_MAX.
 * Time before first_day_s, and time before the last ENERGY_PARTS_MAX days, is added to the first of
 * these parts.  Returns the number of parts, at least 1; their shares add up to 1. */
size_t energy_plan_days(double from_s, double to_s, int64_t first_day_s,
                        struct energy_part parts[ENERGY_PARTS_MAX]);

struct energy_counter { /* an energy counter of a machine (startd/machine/meter.c) */
    int64_t since_s;    /* time at which the counter was 0, seconds since 1970 */
    double joules, seconds;
};
/* Returns by how much the counter has grown since *seen, the values that were counted last, and
 * sets *seen to *now.  seen->since_s 0: the counter was never seen.  A counter that restarted
 * counts from its start; but if it started before began_s, the time at which this rooster's
 * database began, it counts from now on.  A counter that fell back, because its machine had not
 * saved its last values, counts again when it exceeds *seen, which stays as it was until then. */
struct energy_counter energy_plan_growth(struct energy_counter *seen,
                                         const struct energy_counter *now, int64_t began_s);

/* Sets OnSeconds, AsleepSeconds, BusyCoreSeconds, EnergyUsed, EnergyOfJobs and EnergySaved in ad,
 * the last three in kWh. */
void energy_plan_write(const struct energy_sum *sum, struct ad *ad);
/* Reads from ad the attributes that energy_plan_write() sets; a missing or invalid attribute gives
 * 0. */
void energy_plan_read(const struct ad *ad, struct energy_sum *ret);

/* Returns how many cores of this slot are at work: its cores if it has a claim that is neither idle
 * nor suspended, else 0. */
double energy_plan_busy_cores(const struct ad *slot);

#endif
