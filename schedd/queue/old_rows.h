/* schedd/queue/old_rows.h - converts rows of the store that an older version of the schedd wrote.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_OLD_ROWS_H
#define SCHEDD_QUEUE_OLD_ROWS_H

#include "store/store.h"

/* The steps from version 1 of the store to SCHEDD_STORE_VERSION.
 *
 * 1 to 2: the nonce, which proves a run, moves from the job's row in "jobs" to a row in "nonces".
 * The claim id is removed from the job's row, too: it is the key of the claim's row already.  The
 * private notes of the schedd about a run lose the prefix "_roost_priv" of their names; in rows of
 * "history" these notes are dropped.
 */
extern const struct store_migration OLD_ROWS[];

#define SCHEDD_STORE_VERSION 2

#endif
