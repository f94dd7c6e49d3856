/* startd/claim/old_claims.h - conversion of what an older startd wrote to the store, and of
 * messages of its starters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_OLD_CLAIMS_H
#define STARTD_CLAIM_OLD_CLAIMS_H

#include "store/store.h"

/* Steps from version 1 of the store to STARTD_STORE_VERSION.  1 to 2: the claim id is removed from
 * the rows of "claims", because it is their key already. */
extern const struct store_migration STARTD_OLD_ROWS[];

#define STARTD_STORE_VERSION 2

/* The attribute that contained the claim id in rows of version 1. */
#define OLD_CLAIM_ID "ClaimId"

#endif
