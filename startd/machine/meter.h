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

/* Must be called before the slots are made.  0 or -errno. */
int meter_open(struct startd *startd, struct err *err);
void meter_reload(struct startd *startd);
void meter_close(struct startd *startd); /* also if meter_open() was not called or failed */
/* Measures now, and counts the energy since the last time. */
void meter_look(struct startd *startd);
/* Writes power and energy into the ad of a slot. */
void meter_write(const struct slot *slot, struct ad *ad);
/* Writes ReservedWatts and UsedWatts, by which a starter counts the energy of its run. */
void meter_put_rates(const struct startd *startd, struct ad *args);
/* Takes over what a starter has counted for the claim's run so far: EnergyJoules and CoreSeconds.
 * ends: the run is over. */
void meter_count(struct claim *claim, const struct ad *args, bool ends);

#endif
