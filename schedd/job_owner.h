/* schedd/job_owner.h - whose a caller's jobs are, and that none are root's.
 *
 * Design.  What proves who calls is the uid of a Unix socket or the identity of a token, whose
 * domain is the schedd's UID_DOMAIN or the pool's name; the owner of jobs is the account of that
 * name.  Root owns none: a job of root would have its files read and
 * written by a shadow with root's rights, so whoever could speak as root to one schedd, or lie to
 * that shadow, would own its host.  Root may instead submit as an ordinary account
 * (SUBMIT_ROOT_AS), and only over the Unix socket, where the kernel says that it is root.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_OWNER_H
#define SCHEDD_JOB_OWNER_H

#include <stddef.h>

struct err;
struct schedd;
struct wire_peer;

/* The account that a caller's jobs belong to, into ret (OWNER_NAME_MAX + 1 bytes); -EPERM with err
 * for one whom this schedd cannot serve, root among them. */
int owner_of_caller(struct schedd *schedd, const struct wire_peer *peer, char *ret, size_t size,
                    struct err *err);

/* May SUBMIT_ROOT_AS say that?  "" and names of accounts that are not root's; else -EINVAL. */
int owner_check_root_as(const char *account, struct err *err);

/* After loading: every job of root that could still run is held, and no more are made for it. */
void owner_hold_jobs_of_root(struct schedd *schedd);

#endif
