/* rooster/energy_plan.h - what a machine draws, and what that comes to.
 *
 * Pure.  The model is of three figures of a machine: asleep, on and idle, all cores at work.
 * Between the last two it is linear in the share of cores that run jobs, so that each job has its
 * cores' share of the busy draw, the rest is the machine's own, and all of it adds up:
 *     used = jobs + idle + asleep.
 * Saved is what the machine would have drawn, on and idle, over what it drew asleep.  A model, not
 * a meter; chosen before a meter because every machine has one.
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
    double asleep_w, idle_w, busy_w; /* >= 0; all 0: not known */
};

enum energy_mode { ENERGY_UNKNOWN, ENERGY_ON, ENERGY_ASLEEP };

struct energy_sum { /* joules and seconds, all >= 0 */
    double on_s, asleep_s;
    double busy_core_s; /* of cores that ran jobs */
    double used_j;      /* the whole machine */
    double jobs_j;      /* of that the jobs' share */
    double saved_j;
};

bool energy_plan_is_known(const struct energy_watts *watts);
/* What is drawn with that share (0 to 1, cut to that) of the cores at work; 0 for ENERGY_UNKNOWN.
 */
double energy_plan_draw_w(const struct energy_watts *watts, enum energy_mode mode, double share);
/* The jobs' part of that. */
double energy_plan_jobs_w(const struct energy_watts *watts, enum energy_mode mode, double share);
/* Adds `seconds` (below 0: none) of a machine in that mode, busy_cores of its cores at work. */
void energy_plan_add(struct energy_sum *sum, const struct energy_watts *watts,
                     enum energy_mode mode, double busy_cores, double cores, double seconds);
/* Adds that share of sum. */
void energy_plan_join(struct energy_sum *into, const struct energy_sum *sum, double share);

#define ENERGY_DAY_S          INT64_C(86400)
#define ENERGY_PARTS_MAX      12
#define ENERGY_JOULES_PER_KWH 3600000.0

struct energy_part { /* of a time that contains midnights, UTC */
    int64_t day_s;
    double share;
};
/* Splits from_s to to_s (seconds since 1970) into its days, at most ENERGY_PARTS_MAX: what is
 * before first_day_s, or before so many days, is of the first of them.  Returns how many; at least
 * one, and the shares add up to 1. */
size_t energy_plan_days(double from_s, double to_s, int64_t first_day_s,
                        struct energy_part parts[ENERGY_PARTS_MAX]);

struct energy_counter { /* that a machine keeps (startd/machine/meter.c) */
    int64_t since_s;    /* when it began at 0 */
    double joules, seconds;
};
/* How much it has grown since it was seen last (since_s 0: never), and *seen is what it says now.
 * One that began anew is counted from its beginning, unless that was before we counted at all
 * (began_s): then from now on.  One that says less than it did, because what it had not written
 * down was lost, grows again when it has passed what it said. */
struct energy_counter energy_plan_growth(struct energy_counter *seen,
                                         const struct energy_counter *now, int64_t began_s);

/* As attributes: OnSeconds AsleepSeconds BusyCoreSeconds EnergyUsed EnergyOfJobs EnergySaved, the
 * last three in kWh. */
void energy_plan_write(const struct energy_sum *sum, struct ad *ad);
void energy_plan_read(const struct ad *ad, struct energy_sum *ret); /* what is no such figure: 0 */

/* The cores that a slot's ad says are at work: a claim that is neither idle nor suspended. */
double energy_plan_busy_cores(const struct ad *slot);

#endif
