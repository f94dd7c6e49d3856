/* starter/job/joules.h - counts the energy that the run uses, in joules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_JOULES_H
#define STARTER_JOB_JOULES_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct starter;

struct starter_joules {
    double reserved_w, used_w; /* watts for each core that the job has, for each CPU at work */
    double cores;
    uint64_t looked_ms;            /* loop time of the last count; 0: nothing has run yet */
    uint64_t told_ms;              /* loop time when the startd was told last */
    double cpu_s, core_s, total_j; /* counted so far */
};

/* Takes over the current rates from a message of the startd. */
void joules_rates(struct starter *starter, const struct ad *args);
/* Starts counting when the first process of the run starts; later calls do nothing. */
void joules_begin(struct starter *starter);
/* Counts up to now. cpu_s: CPU time that the run has used in all. */
void joules_look(struct starter *starter, double cpu_s);
/* Adds RemoteEnergyUsed (kWh) to args, for the job ad. */
void joules_report(const struct starter *starter, struct ad *args);
/* Adds EnergyJoules and CoreSeconds to args, for the startd. */
void joules_put(const struct starter *starter, struct ad *args);
/* Tells the startd the energy used so far and asks for the current rates: now, or only if the last
 * time is long ago (at_once false). */
void joules_tell(struct starter *starter, bool at_once);

#endif
