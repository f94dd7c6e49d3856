/* startd/owner/owner_plan.h - decides whether a job of a schedd may run in the account of the job's
 * owner.
 *
 * A schedd says who owns its jobs.  The pool's administrator decides for which owners the schedd is
 * believed: its token names a UID_DOMAIN and, if wanted, a pattern of owners.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_OWNER_OWNER_PLAN_H
#define STARTD_OWNER_OWNER_PLAN_H

#include <stdbool.h>

/* Returns whether the schedd's token lets jobs of this user run in the user's account. user: the
 * attribute User of the job, OWNER@DOMAIN. uid_domain and owners come from the token: the domain
 * ("": none, so always false) and a pattern of owners ("": all owners).  Domains are compared
 * ignoring case, owners are not. */
bool owner_plan_is_believed(const char *uid_domain, const char *owners, const char *user);

#endif
