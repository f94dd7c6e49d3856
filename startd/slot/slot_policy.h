/* startd/slot/slot_policy.h - the expressions of the owner's policy that a slot has, read from the
 * configuration.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOT_POLICY_H
#define STARTD_SLOT_SLOT_POLICY_H

struct slot;

/* Reads SUSPEND, CONTINUE ... as the configuration has them for the slot's type.  An expression
 * that cannot be parsed is logged, and false. */
void slot_policy_load(struct slot *slot);
void slot_policy_unload(struct slot *slot); /* frees them */

#endif
