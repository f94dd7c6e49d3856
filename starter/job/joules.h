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
    /* The startd's rates: reserved_w: watts for each core of the slot; used_w: watts for each CPU
     * that the job keeps busy. */
    double reserved_w, used_w;
    double cores;
    /* when energy was last counted, ms of the loop's clock; 0: no process of the run has started
     * yet */
    uint64_t looked_ms;
    uint64_t told_ms; /* when the startd was last told the energy used, ms of the loop's clock */
    /* Counted so far: cpu_s: CPU seconds; core_s: seconds times cores of the slot; total_j:
     * joules. */
    double cpu_s, core_s, total_j;
};

/* Takes over the rates ReservedWatts and UsedWatts from args of a message of the startd. */
void joules_rates(struct starter *starter, const struct ad *args);
/* Starts counting the run's energy.  To be called whenever a process of the run starts; in each
 * run, only the first call has an effect. */
void joules_begin(struct starter *starter);
/* Adds the energy used since the last call. cpu_s: CPU seconds that the run has used since it
 * began. */
void joules_look(struct starter *starter, double cpu_s);
/* Adds RemoteEnergyUsed (kWh), an attribute of the job ad, to args. */
void joules_report(const struct starter *starter, struct ad *args);
/* Adds EnergyJoules and CoreSeconds, as used by the run so far, to args of a message to the
 * startd. */
void joules_put(const struct starter *starter, struct ad *args);
/* Tells the startd the energy used so far and asks for the current rates. at_once false: only if
 * that was not done within the last minute. */
void joules_tell(struct starter *starter, bool at_once);

#endif
