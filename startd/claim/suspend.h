/* startd/claim/suspend.h - a claim's job stands still, or goes on.
 *
 * A suspension is durable before the schedd hears of it (ALIVE, at once), and survives our death:
 * the starter keeps the job frozen, and is told again when it says hello.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_SUSPEND_H
#define STARTD_CLAIM_SUSPEND_H

#include "startd/claim/claim.h"

void claim_suspend(struct claim *claim, enum suspended_by by); /* not BY_NONE */
void claim_continue(struct claim *claim);

#endif
