/* wire/denials.h - logs the requests that are refused because of the caller's rights or limits.
 *
 * Design.  An operator wants one line that says who was refused what, and a caller who is refused a
 * million times must not fill the disk.  The first DENIALS_LOGGED refusals of a connection are all
 * logged.  After that, each pair of identity and verb gets one line a minute, with the number of
 * refusals of the pair since its last line.  These lines are not limited for each connection but
 * for each pair, because a hub's connection carries the requests of many callers, and a caller with
 * many refusals must not hide the refusals of other callers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_DENIALS_H
#define WIRE_DENIALS_H

#include "wire/verbs.h"

#define DENIALS_LOGGED 16 /* the first DENIALS_LOGGED refusals of a connection are all logged */
/* milliseconds; after the first DENIALS_LOGGED refusals, one line in this time for each identity
 * and verb */
#define DENIALS_MS 60000
/* How many pairs of identity and verb are remembered.  A refusal of a pair for which there is no
 * room is logged when the connection's number of refusals is a power of two. */
#define DENIALS_KEPT 1024

struct caller;
struct denials;
struct wire;

struct denials *denials_create(void);
void denials_destroy(struct denials *denials); /* NULL is allowed */

/* Logs the event wire.denied: caller's request `verb` on the connection wire was refused, because
 * of `why`.  After the connection's first DENIALS_LOGGED refusals, only one line for each identity
 * and verb is logged in DENIALS_MS, and the refusals between two lines are only counted. */
void denials_tell(struct wire *wire, const struct caller *caller, enum wire_verb verb,
                  const char *why);

#endif
