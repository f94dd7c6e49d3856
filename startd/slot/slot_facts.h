/* startd/slot/slot_facts.h - finds slots, and computes what is free of a slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOT_FACTS_H
#define STARTD_SLOT_SLOT_FACTS_H

struct resources;
struct slot;
struct startd;

/* Finds the slot that offers this claim id; returns NULL if no slot does.  Compares in constant
 * time, because claim ids are secret. */
struct slot *slot_by_claim_id(struct startd *startd, const char *claim_id);
struct slot *slot_by_name(struct startd *startd, const char *name);
/* Sets *ret to the resources of a partitionable slot that are not in use by its dynamic slots. */
void slot_free_resources(const struct slot *slot, struct resources *ret);

#endif
