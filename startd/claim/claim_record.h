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
    struct vec commits; /* struct commit (claim_record.c): writes to disk under way, oldest first */
    /* struct claim: destroyed, but callbacks that need the memory are still to come */
    struct vec dead;
};

/* Writes the claim to the store.  When it is on disk, calls done(claim), unless done is NULL or the
 * claim was destroyed meanwhile. */
void claim_commit(struct claim *claim, void (*done)(void *claim));
void claim_forget_record(struct claim *claim); /* removes the claim from the store */
/* Each callback that was counted in claim.pending must call this function first; it subtracts the
 * callback from that count.  Returns true if the claim was destroyed: then its memory may be freed
 * already, and the callback must return. */
bool claim_came_back(struct claim *claim);
/* Frees all claims that are kept only for callbacks.  Must be called after the store and all
 * connections were closed, when no callback can come any more. */
void claims_release_rest(struct startd *startd);

#endif
