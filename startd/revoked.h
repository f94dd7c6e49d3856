/* startd/revoked.h - ends claims whose schedd's token was revoked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_REVOKED_H
#define STARTD_REVOKED_H

struct startd;

/* Ends the claims of schedds whose token is refused: now, and from now on.  Called when the claims
 * have been restored. */
void claims_revoked_start(struct startd *startd);

#endif
