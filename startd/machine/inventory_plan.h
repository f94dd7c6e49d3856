/* startd/machine/inventory_plan.h - what a script found on this machine, and which of it a job will
 * do with.
 *
 * MACHINE_RESOURCE_INVENTORY_<name> is HTCondor's: a command that prints Detected<name> = "id, id"
 * (or a number), for each unit an ad of its properties, named as the unit with '_' for what no name
 * can hold (GPU_c4a646d7 = [Capability = 7.5; ...]), and Common, an ad of what all of them have.  A
 * slot shows its units' ads as <name>_<unit>, a list of them as Available<name>, what they have in
 * common as <name>_<property>, and whatever else was printed as it is.  A job's Require<name> is
 * asked of each unit: countMatches() of a match asks the same of Available<name>.
 *
 * Pure.  The way rejected is the older one of HTCondor, flat names with the unit's in them
 * (CUDA0Capability): such attributes are shown, but tell nothing about a unit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_MACHINE_INVENTORY_PLAN_H
#define STARTD_MACHINE_INVENTORY_PLAN_H

#include "startd/slot/carve_plan.h"

/* Adds the kind as `found` has it, and sets its amount in total; `shown` gets what every slot is to
 * show.  -ENOENT: it does not say Detected<name>; and as carve_plan_kinds_add(). */
int inventory_plan_add(struct resource_kinds *kinds, const char *name, const struct ad *found,
                       struct resources *total, struct ad *shown, struct err *err);
/* Available<name> of each kind with properties, and the ads that it names. */
void inventory_plan_write(const struct resource_kinds *kinds, const struct resources *resources,
                          struct ad *ad);
/* Of kinds that the job has a Require<name> for: sets want's identifiers to those units that meet
 * it, and that it is picky. */
void inventory_plan_wish(const struct resource_kinds *kinds, const struct ad *job,
                         const struct ad_context *context, struct resources *want);

#endif
