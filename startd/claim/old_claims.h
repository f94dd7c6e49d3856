/* startd/claim/old_claims.h - converts what an older version of the startd wrote to the store, and
 * messages of starters of that version.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_OLD_CLAIMS_H
#define STARTD_CLAIM_OLD_CLAIMS_H

#include "store/store.h"

/* Conversions of the store's rows, from version 1 up to STARTD_STORE_VERSION.  From 1 to 2: the
 * claim id is removed from the rows of the table "claims", because it is their key already. */
extern const struct store_migration STARTD_OLD_ROWS[];

#define STARTD_STORE_VERSION 2

/* The attribute that contained the claim id in rows of version 1. */
#define OLD_CLAIM_ID "ClaimId"

#endif
