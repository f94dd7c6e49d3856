/* startd/slot/slot_facts.c - see slot_facts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "startd/slot/slot_facts.h"

#include <string.h>

#include "base/plant.h"
#include "base/text.h"
#include "startd/slot/carve_plan.h"
#include "startd/slot/slot.h"
#include "startd/startd_state.h"

struct slot *slot_by_claim_id(struct startd *startd, const char *claim_id)
{
    struct slot *found = NULL;
    size_t length = strlen(claim_id);
    for (size_t i = 0; i < startd->slot_count && length > 0; i++) {
        struct slot *slot = startd->slots[i];
        if (strlen(slot->claim_id) == length &&
            text_equal_secret(slot->claim_id, claim_id, length)) {
            found = slot;
        }
        for (size_t k = 0; k < slot->piece_ids.count; k++) {
            const char *id = slot->piece_ids.items[k];
            if (strlen(id) == length && text_equal_secret(id, claim_id, length)) {
                found = slot;
            }
        }
    }
    return found;
}

struct slot *slot_by_name(struct startd *startd, const char *name)
{
    for (size_t i = 0; i < startd->slot_count; i++) {
        if (strcmp(startd->slots[i]->name, name) == 0) {
            return startd->slots[i];
        }
    }
    return NULL;
}

void slot_free_resources(const struct slot *slot, struct resources *ret)
{
    const struct startd *startd = slot->startd;
    *ret = slot->total;
    for (size_t i = startd->machine_slots; i < startd->slot_count; i++) {
        if (startd->slots[i]->parent == slot && !PLANTED(piece_given_twice)) {
            carve_plan_subtract(startd->division.kinds, ret, &startd->slots[i]->total);
        }
    }
}
