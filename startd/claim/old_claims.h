/* startd/claim/old_claims.h - what an older startd wrote, or its starters say, as this one has it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_OLD_CLAIMS_H
#define STARTD_CLAIM_OLD_CLAIMS_H

#include "store/store.h"

/* Leads from version 1 of the store to STARTD_STORE_VERSION.
 *
 * 1 to 2: the claim id leaves the rows of "claims"; it is their key already. */
extern const struct store_migration STARTD_OLD_ROWS[];

#define STARTD_STORE_VERSION 2

/* The attribute that had it. */
#define OLD_CLAIM_ID "ClaimId"

#endif
