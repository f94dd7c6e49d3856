/* startd/machine/meter.h - measures how much power the machine draws, and which part its jobs
 * cause.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_MACHINE_METER_H
#define STARTD_MACHINE_METER_H

#include <stdbool.h>

struct ad;
struct claim;
struct err;
struct slot;
struct startd;

/* Restores the energy counters from the store.  Must be called before the slots are made.  Returns
 * 0 or -errno. */
int meter_open(struct startd *startd, struct err *err);
void meter_reload(struct startd *startd);
/* Stops measuring, and saves the energy counters.  May be called even if meter_open() was not
 * called or failed. */
void meter_close(struct startd *startd);
/* Measures the power draw now, unless it did so less than a second ago, and adds the energy since
 * the last measurement to the counters. */
void meter_look(struct startd *startd);
/* Writes the machine's power draw and energy counters into the ad of a slot. */
void meter_write(const struct slot *slot, struct ad *ad);
/* Writes ReservedWatts and UsedWatts, the rates by which a starter counts the energy of its run,
 * into args of a message to the starter. */
void meter_put_rates(const struct startd *startd, struct ad *args);
/* Takes over what a starter has counted for the claim's run so far, from EnergyJoules and
 * CoreSeconds in args, and adds the increase to the counter of the job's user. ends: the run is
 * over, so the counters are written to disk soon. */
void meter_count(struct claim *claim, const struct ad *args, bool ends);

#endif
