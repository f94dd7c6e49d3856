/* startd/claim/claim_record.h - the durable record of a claim, and how long a claim's memory is
 * needed.
 *
 * A claim that ends may have commits and calls under way whose callbacks need it (claim.pending):
 * its memory stays until the last callback.
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
    struct vec commits; /* struct claim: commits under way, oldest first */
    struct vec dead;    /* struct claim: destroyed, but callbacks are still to come */
};

/* Writes the claim to the store, then calls done(claim), unless done is NULL or the claim was
 * destroyed meanwhile. */
void claim_commit(struct claim *claim, void (*done)(void *claim));
void claim_forget_record(struct claim *claim); /* removes the claim from the store */
/* Must be the first call in each callback that was counted in claim.pending.  Returns true if the
 * claim was destroyed: then the callback must return. */
bool claim_came_back(struct claim *claim);
/* Frees all such claims; last of all, when no callback can come any more. */
void claims_release_rest(struct startd *startd);

#endif
