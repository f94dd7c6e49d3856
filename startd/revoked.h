/* startd/revoked.h - claims end because the token of their schedd was revoked.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_REVOKED_H
#define STARTD_REVOKED_H

struct startd;

/* After the claims were restored: those whose schedd's token is refused end at once, now and from
 * now on. */
void claims_revoked_start(struct startd *startd);

#endif
