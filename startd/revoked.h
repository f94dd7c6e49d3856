/* startd/revoked.h - ends claims whose schedd's token was revoked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_REVOKED_H
#define STARTD_REVOKED_H

struct startd;

/* Ends all claims of schedds whose token has been revoked, and from now on the claims of each token
 * that becomes revoked.  Must be called after the claims were restored. */
void claims_revoked_start(struct startd *startd);

#endif
