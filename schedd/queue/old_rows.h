/* schedd/queue/old_rows.h - rows that an older schedd wrote, as this one has them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_OLD_ROWS_H
#define SCHEDD_QUEUE_OLD_ROWS_H

#include "store/store.h"

/* Leads from version 1 of the store to SCHEDD_STORE_VERSION.
 *
 * 1 to 2: what proves a run leaves the rows of "jobs".  The nonce gets a row in "nonces"; the claim
 * id is the key of the claim's row already.  What the schedd notes for itself about a run lost the
 * prefix "_roost_priv" of its names; in rows of "history" it is dropped. */
extern const struct store_migration OLD_ROWS[];

#define SCHEDD_STORE_VERSION 2

#endif
