/* rsyscall/grants.h - what of its owner's files a job may change.
 *
 * Design note: what a hostile execute machine can change is what its job was given to change: what
 * lies at or below a few places (struct rsys_offer_grant), and nothing else.  As with parts.h, what
 * counts is where a descriptor is now (/proc/self/fd), not the client's path.  The places are found
 * once, when the job comes, and cannot be moved, removed or replaced by the job: so no link that it
 * makes leads a later look elsewhere.
 *
 * Below a place, too, a job cannot change
 * - dot entries directly in the home: what login shells and desktops read, also what is not there
 *   yet;
 * - programs (files that can be executed, and shared objects) that were there before the job, nor
 *   take their names for something else, nor those of links to them or of directories that hold
 *   some: the owner may have the directory in PATH;
 * - directories from which interpreters load modules without being asked (site-packages and its
 *   kin) that were there before the job, with all below;
 * - who else may write to a directory that was there before the job: another account of the host
 *   would do in it what the job may not.
 * What the job itself made it may change.  README.md says how that is known.
 *
 * All of it may block; lanes use it, many at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef RSYSCALL_GRANTS_H
#define RSYSCALL_GRANTS_H

#include "rsyscall/parts.h"

struct err;
struct rsys_grants;
struct rsys_offer;

/* roots: descriptors of the offer's roots.  -errno with err, which names the directory: a granted
 * one is not there, is outside of the roots, is "/" or above the home, or is not the owner's to
 * give. */
int rsys_grants_create(const struct rsys_offer *offer, const int *roots, struct rsys_grants **ret,
                       struct err *err);
void rsys_grants_destroy(struct rsys_grants *grants); /* NULL is allowed */

/* May that be done to the name in the directory fd, or, without a name, to fd's own file?  0 or
 * -EROFS; -EBUSY: it is a place itself, or above one.  A name with RSYS_CHANGE_FILE is one that is
 * not there yet. */
int rsys_grants_judge(struct rsys_grants *grants, int fd, const char *name,
                      enum rsys_change change);

/* Was fd's file there before the job, as far as is known? */
bool rsys_grants_is_old(struct rsys_grants *grants, int fd);

/* The job made fd's file. */
void rsys_grants_made(struct rsys_grants *grants, int fd);

#endif
