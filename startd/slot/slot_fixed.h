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

struct slot_fixed { /* NULL: not made yet */
    struct ad *machine;
    struct ad *rules[SLOT_TYPES_MAX + 1]; /* by type */
};

const struct ad *slot_fixed_machine(struct startd *startd);
const struct ad *slot_fixed_rules(struct startd *startd, int type_id); /* policy and STARTD_ATTRS */
/* Must be called when the configuration or the transfer plug-ins have changed. */
void slot_fixed_forget(struct startd *startd);

#endif
