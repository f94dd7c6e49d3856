/* startd/slot/slot_facts.h - slots are looked up, and what is free of one is computed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLOT_SLOT_FACTS_H
#define STARTD_SLOT_SLOT_FACTS_H

struct resources;
struct slot;
struct startd;

struct slot *slot_by_claim_id(struct startd *startd,
                              const char *claim_id); /* constant time per slot */
struct slot *slot_by_name(struct startd *startd, const char *name);
void slot_free_resources(const struct slot *slot, struct resources *ret); /* of what is not given */

#endif
