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
void energy_plan_join(struct energy_sum *into, const struct energy_sum *sum);

/* As attributes: OnSeconds AsleepSeconds BusyCoreSeconds EnergyUsed EnergyOfJobs EnergySaved, the
 * last three in kWh. */
void energy_plan_write(const struct energy_sum *sum, struct ad *ad);
void energy_plan_read(const struct ad *ad, struct energy_sum *ret); /* what is no such figure: 0 */

/* The cores that a slot's ad says are at work: a claim that is neither idle nor suspended. */
double energy_plan_busy_cores(const struct ad *slot);

#endif
