/* startd/meter.h - what this machine draws: the parts of meter.c, for meter_nut.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_METER_H
#define STARTD_METER_H

#include "startd/startd.h"

struct meter_nut;

struct meter_nut *meter_nut_create(struct startd *startd);
void meter_nut_destroy(struct meter_nut *nut);
void meter_nut_reload(struct meter_nut *nut); /* another configuration */
/* What the UPS said, unless that is too long ago; below 0: it is not known. */
double meter_nut_watts(const struct meter_nut *nut);

#endif
