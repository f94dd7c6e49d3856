/* startd/machine/inventory_plan.h - reads which units of a resource, such as GPUs, an inventory
 * script found on this machine, and decides which of these units suit a job.
 *
 * MACHINE_RESOURCE_INVENTORY_<name> is HTCondor's: a command that prints Detected<name> = "id, id"
 * (or a number); for each unit an ad of its properties, named as the unit with '_' for characters
 * that no name can contain (GPU_c4a646d7 = [Capability = 7.5; ...]); and Common, an ad of the
 * properties that all units share.  A slot's ad shows the ads of its units as <name>_<unit>, a list
 * of them as Available<name>, the shared properties as <name>_<property>, and everything else that
 * was printed unchanged.  A job's Require<name> is evaluated for each unit; countMatches() in a
 * job's Requirements does the same with Available<name>.
 *
 * Pure.  Rejected: HTCondor's older form, flat names that contain the unit's name
 * (CUDA0Capability).  Such attributes are shown, but say nothing about a unit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_MACHINE_INVENTORY_PLAN_H
#define STARTD_MACHINE_INVENTORY_PLAN_H

#include "startd/slot/carve_plan.h"

/* Adds the kind of resource `name` to kinds, as `found`, the output of the inventory script,
 * describes it, and sets its amount in total.  Adds to `shown` the attributes that each slot's ad
 * must show.  Returns 0; -ENOENT if found lacks Detected<name>; -EINVAL
 * if Detected<name> or the name is not valid or the name is taken; -E2BIG if there are too many
 * kinds or units, or an identifier is too long. */
int inventory_plan_add(struct resource_kinds *kinds, const char *name, const struct ad *found,
                       struct resources *total, struct ad *shown, struct err *err);
/* For each kind of resource whose units have properties, writes into ad, a slot's ad,
 * Available<name> and the ads of the units that are in resources. */
void inventory_plan_write(const struct resource_kinds *kinds, const struct resources *resources,
                          struct ad *ad);
/* For each kind of resource whose units have identifiers and for which the job has a Require<name>:
 * puts the units that meet Require<name> into want->ids, and sets want->picky, which says that only
 * these units are suitable. */
void inventory_plan_wish(const struct resource_kinds *kinds, const struct ad *job,
                         const struct ad_context *context, struct resources *want);

#endif
