/* startd/machine/meter.h - what the machine draws, and what its jobs have of that.
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

int meter_open(struct startd *startd, struct err *err); /* before slots */
void meter_reload(struct startd *startd);
void meter_close(struct startd *startd); /* NULL is allowed for what it makes */
void meter_look(struct startd *startd);
void meter_write(const struct slot *slot, struct ad *ad);
/* ReservedWatts, UsedWatts: at which its starter counts a run. */
void meter_put_rates(const struct startd *startd, struct ad *args);
/* The run of the claim has had EnergyJoules and CoreSeconds so far; ends: and has no more. */
void meter_count(struct claim *claim, const struct ad *args, bool ends);

#endif
