/* wire/denials.h - what callers are refused for their rights or limits, in the log.
 *
 * Design.  An operator wants one line that says who was refused what, and a caller who is refused a
 * million times must not fill the disk.  The first DENIALS_LOGGED refusals of a connection are all
 * logged.  After that it is one line a minute for each identity and verb, with how many there were:
 * over a hub's connection come the requests of many callers, and the noise of one of them must not
 * hide the others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_DENIALS_H
#define WIRE_DENIALS_H

#include "wire/verbs.h"

#define DENIALS_LOGGED 16
#define DENIALS_MS     60000
/* Pairs of identity and verb that are remembered; without room for one more, the refusals of a
 * connection are logged when their number is a power of two. */
#define DENIALS_KEPT 1024

struct caller;
struct denials;
struct wire;

struct denials *denials_create(void);
void denials_destroy(struct denials *denials); /* NULL is allowed */

/* Logs wire.denied with peer, identity, verb and reason, or counts it. */
void denials_tell(struct wire *wire, const struct caller *caller, enum wire_verb verb,
                  const char *why);

#endif
