/* startd/slot/slot_fixed.h - attributes that are the same in the ads of all slots, or of all slots
 * of a type.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOT_FIXED_H
#define STARTD_SLOT_SLOT_FIXED_H

#include "startd/slot/slot_types_plan.h"

struct ad;
struct startd;

/* Ads with the attributes that do not change from slot to slot; a pointer is NULL until its ad is
 * needed. */
struct slot_fixed {
    struct ad *machine;
    /* policy attributes for each slot type, by its number; [0]: slots without a type */
    struct ad *rules[SLOT_TYPES_MAX + 1];
};

const struct ad *slot_fixed_machine(struct startd *startd);
/* Returns the policy expressions of a slot type and the attributes of STARTD_ATTRS, borrowed. */
const struct ad *slot_fixed_rules(struct startd *startd, int type_id);
/* Frees the ads of struct slot_fixed, so that they are made again when they are needed.  Must be
 * called when the configuration or the file transfer plug-ins have changed. */
void slot_fixed_forget(struct startd *startd);

#endif
