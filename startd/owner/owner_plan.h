/* startd/owner/owner_plan.h - may a job of that schedd run in its owner's account?
 *
 * A schedd says whose its jobs are, and nobody but the pool's administrator says how far that is
 * believed: its token names a UID_DOMAIN and, where wanted, a pattern of owners.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_OWNER_OWNER_PLAN_H
#define STARTD_OWNER_OWNER_PLAN_H

#include <stdbool.h>

/* user: of the job, OWNER@DOMAIN.  uid_domain and owners are the token's: "" is no domain, and all
 * owners.  Domains are compared without regard to case, names with. */
bool owner_plan_is_believed(const char *uid_domain, const char *owners, const char *user);

#endif
