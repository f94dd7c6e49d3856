/* startd/owner/owner_plan.h - decides whether a job of a schedd may run in the account of the job's
 * owner.
 *
 * A schedd says who owns its jobs; how far it is believed only the pool's administrator decides:
 * the schedd's token names a UID_DOMAIN and, if wanted, a pattern of owners.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_OWNER_OWNER_PLAN_H
#define STARTD_OWNER_OWNER_PLAN_H

#include <stdbool.h>

/* Returns whether the token covers this user. user: the job's, OWNER@DOMAIN. uid_domain and owners
 * are the token's; "" means no domain, and all owners.  Domains are compared ignoring case, names
 * are not. */
bool owner_plan_is_believed(const char *uid_domain, const char *owners, const char *user);

#endif
