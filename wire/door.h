/* wire/door.h - a TCP port with its certificate, both of which can be changed while it is open.
 *
 * Connections that were accepted keep what they were accepted with: a certificate is renewed, and a
 * port moved, without cutting anybody off.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_DOOR_H
#define WIRE_DOOR_H

#include <stdbool.h>

#include "base/stream/stream.h"

struct door;
struct err;
struct log;
struct loop;
struct os;

struct door_place {
    const char *address;    /* of listener_create() */
    const char *cert, *key; /* paths of PEM files */
    /* what the certificate must say, because clients will ask; name NULL: any */
    const char *role, *name;
};

/* Borrows loop, os and log.  Errors of tls_identity_load(), tls_identity_judge() and
 * listener_create(). */
int door_open(struct loop *loop, struct os *os, struct log *log, const struct door_place *place,
              listener_f call, void *arg, struct door **ret, struct err *err);
/* Reads the certificate again and listens at the address, if that is another; *changed (may be
 * NULL) tells whether either is new.  The new address is opened before the old one is closed,
 * unless the two overlap (another host part with the same port): then the old one is open again if
 * the new one cannot be.  On failure all is as before. */
int door_change(struct door *door, const struct door_place *place, bool *changed, struct err *err);
void door_shut(struct door *door);  /* listens no more; the identity is still there */
void door_close(struct door *door); /* NULL is allowed */

const struct tls_identity *door_identity(const struct door *door);
const char *door_address(const struct door *door); /* with the real port */

#endif
