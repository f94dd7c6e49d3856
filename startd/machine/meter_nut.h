/* startd/machine/meter_nut.h - asks a UPS (by NUT's program upsc) how much power this machine
 * draws.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_MACHINE_METER_NUT_H
#define STARTD_MACHINE_METER_NUT_H

struct meter_nut;
struct startd;

struct meter_nut *meter_nut_create(struct startd *startd);
void meter_nut_destroy(struct meter_nut *nut);
/* To be called when the configuration has changed: asks the UPS at once, or stops asking if no UPS
 * is configured any more. */
void meter_nut_reload(struct meter_nut *nut);
/* Returns the watts that the UPS reported last; a negative number if it reported none, or too long
 * ago. */
double meter_nut_watts(const struct meter_nut *nut);

#endif
