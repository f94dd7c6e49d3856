/* schedd/job_owner.h - finds the Unix account that owns a caller's jobs, and refuses jobs of root.
 *
 * Design.  A caller proves who it is by the uid of its Unix socket, or by a token whose identity
 * has the schedd's UID_DOMAIN or the pool's name as its domain.  Its jobs belong to the Unix
 * account of that name.  Root cannot own jobs: the files of such a job would be read and written by
 * a shadow with root's rights, so anybody who could speak as root to one schedd, or lie to that
 * shadow, would control its host.  Instead, root may submit in the name of an ordinary account
 * (SUBMIT_ROOT_AS), and only over the Unix socket, where the kernel confirms that the caller is
 * root.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_OWNER_H
#define SCHEDD_JOB_OWNER_H

#include <stddef.h>

struct err;
struct schedd;
struct wire_peer;

/* Finds the Unix account that owns the jobs of this caller.  Writes its name to ret (size bytes,
 * OWNER_NAME_MAX + 1 are enough) and returns 0; or -EPERM with err for a caller that this schedd
 * cannot serve, such as root without SUBMIT_ROOT_AS. */
int owner_of_caller(struct schedd *schedd, const struct wire_peer *peer, char *ret, size_t size,
                    struct err *err);

/* Checks a value of SUBMIT_ROOT_AS.  Returns 0 for "" or the name of a Unix account other than
 * root; else -EINVAL with err. */
int owner_check_root_as(const char *account, struct err *err);

/* To be called once after the queue was loaded: holds each job of root that could still run, and
 * pauses the factories that would make more. */
void owner_hold_jobs_of_root(struct schedd *schedd);

#endif
