/* startd/claim/suspend.h - suspends a claim's job, and continues it.
 *
 * A suspension is on disk before the schedd is told of it (by an ALIVE, at once), and survives the
 * startd's death: the starter keeps the job frozen, and the startd repeats the order when the
 * starter connects again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_SUSPEND_H
#define STARTD_CLAIM_SUSPEND_H

#include "startd/claim/claim.h"

/* Suspends the claim's job. by: who suspends it, the machine's policy or its user; must not be
 * SUSPENDED_BY_NONE. */
void claim_suspend(struct claim *claim, enum suspended_by by);
void claim_continue(struct claim *claim);

#endif
