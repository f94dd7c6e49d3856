/* startd/claim/suspend.h - suspends a claim's job, and continues it.
 *
 * A suspension is durable before the schedd hears of it (by an ALIVE, at once), and survives the
 * startd's death: the starter keeps the job frozen, and gets the order again when it says hello.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_SUSPEND_H
#define STARTD_CLAIM_SUSPEND_H

#include "startd/claim/claim.h"

/* Suspends the claim's job. by: who wants that; must not be SUSPENDED_BY_NONE. */
void claim_suspend(struct claim *claim, enum suspended_by by);
void claim_continue(struct claim *claim);

#endif
