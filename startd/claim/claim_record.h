/* startd/claim/claim_record.h - a claim on the disk, and how long its memory is needed.
 *
 * A claim that ends may still have commits and calls under way that call back with it (pending):
 * its memory stays until the last has come back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_CLAIM_RECORD_H
#define STARTD_CLAIM_CLAIM_RECORD_H

#include <stdbool.h>

#include "base/vec.h"

struct claim;
struct startd;

struct claim_memory {
    struct vec commits; /* of claims, on their way to the disk, oldest first */
    struct vec dead;    /* claims that are gone, but for callbacks still to come */
};

/* done, which may be NULL, is not called for a claim that was destroyed meanwhile. */
void claim_commit(struct claim *claim, void (*done)(void *claim));
void claim_forget_record(struct claim *claim);
/* First line of each callback that was counted in pending: true when the claim is gone. */
bool claim_came_back(struct claim *claim);
void claims_release_rest(struct startd *startd); /* last of all: nothing calls back any more */

#endif
