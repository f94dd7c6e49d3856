/* rsyscall/grants.h - decides what a job may change of its owner's files.
 *
 * Design note: a hostile execute machine can change only what its job may change: what lies at or
 * below a few places, the granted paths (struct rsys_offer_grant).  The decision is based on where
 * a descriptor's file is now (/proc/self/fd), not on the client's path.  The places are looked up
 * once, when the job comes.  The job cannot move, remove or replace them, so no link that it makes
 * can redirect a later lookup.
 *
 * Some things a job cannot change even at or below a granted path:
 * - names that begin with a dot directly in the home directory, which login shells and desktops
 *   read, even when they do not exist yet;
 * - programs (executable files and shared objects) that existed before the job.  Nor can the job
 *   move something over the names of such programs, of links to them, or of directories that
 *   contain them: such a directory may be in the owner's PATH;
 * - directories from which interpreters load modules without being asked (such as site-packages)
 *   that existed before the job, and everything below them;
 * - the permission of others to write to a directory that existed before the job: another user of
 *   the host could then do there what the job may not.
 *
 * The job may change what it made itself; README.md says how that is known.
 *
 * All functions may block; many lanes (worker threads) use them at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_GRANTS_H
#define RSYSCALL_GRANTS_H

#include "rsyscall/parts.h"

struct err;
struct rsys_grants;
struct rsys_offer;

/* Looks up the granted paths of the offer. roots: descriptors of the offer's root directories, in
 * its order.  Returns 0; or -errno, with the directory named in err, if a directory that
 * the owner has granted is missing, outside of the roots, "/", above the home directory, or not
 * owned by the job's owner, or if a link leads out of the initial directory (-EPERM).  An initial
 * directory that is missing or refused is left out without an error. */
int rsys_grants_create(const struct rsys_offer *offer, const int *roots, struct rsys_grants **ret,
                       struct err *err);
void rsys_grants_destroy(struct rsys_grants *grants); /* NULL is allowed */

/* Decides whether the job may make a change to `name` in the directory fd or, if name is NULL, to
 * the file of fd itself.  Returns 0: it may; -EROFS: it may not; -EBUSY: the file is a granted path
 * itself, or a directory above one, and must stay.  RSYS_CHANGE_FILE with a name
 * means a new file of that name: whether the name exists already is not checked here, so the caller
 * must make the file by a call that fails with EEXIST then. */
int rsys_grants_judge(struct rsys_grants *grants, int fd, const char *name,
                      enum rsys_change change);

/* Returns whether the file of descriptor fd existed before the job began, as far as is known. */
bool rsys_grants_is_old(struct rsys_grants *grants, int fd);

/* Remembers that the job has made the file of descriptor fd. */
void rsys_grants_made(struct rsys_grants *grants, int fd);

#endif
