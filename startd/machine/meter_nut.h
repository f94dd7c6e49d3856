/* startd/machine/meter_nut.h - what a UPS says that this machine draws.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_MACHINE_METER_NUT_H
#define STARTD_MACHINE_METER_NUT_H

struct meter_nut;
struct startd;

struct meter_nut *meter_nut_create(struct startd *startd);
void meter_nut_destroy(struct meter_nut *nut);
void meter_nut_reload(struct meter_nut *nut); /* another configuration */
/* What the UPS said, unless that is too long ago; below 0: it is not known. */
double meter_nut_watts(const struct meter_nut *nut);

#endif
