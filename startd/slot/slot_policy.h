/* startd/slot/slot_policy.h - reads the owner's policy expressions of a slot from the
 * configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOT_POLICY_H
#define STARTD_SLOT_SLOT_POLICY_H

struct slot;

/* Reads the slot's policy (SUSPEND, CONTINUE, PREEMPT ...) from the configuration, for its slot
 * type.  An expression that cannot be parsed is logged and counts as false. */
void slot_policy_load(struct slot *slot);
void slot_policy_unload(struct slot *slot); /* frees the slot's policy expressions */

#endif
