/* wire/door.h - a listening TCP port with its TLS certificate; both can be replaced while it is
 * open.
 *
 * Connections that were accepted before keep the old certificate and port.  So a certificate can be
 * renewed, and a port moved, without disconnecting anybody.
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

/* Where to listen, and with which certificate.  All texts are borrowed for the call. */
struct door_place {
    const char *address;    /* address to listen at, as listener_create() takes it */
    const char *cert, *key; /* paths of PEM files */
    /* What the certificate must say, because clients check it; name NULL: any name. */
    const char *role, *name;
};

/* Loads the certificate and listens; call gets each incoming connection.  Borrows loop, os and log.
 * Returns 0 and sets *ret, or an error of tls_identity_load(), tls_identity_judge() or
 * listener_create(). */
int door_open(struct loop *loop, struct os *os, struct log *log, const struct door_place *place,
              listener_f call, void *arg, struct door **ret, struct err *err);
/* Reads the certificate again, and moves to place's address if the address changed.  *changed (may
 * be NULL) tells whether certificate or address is new.  The new address is opened before the old
 * one is closed.  Where both cannot be open at once (the same port on another host address), the
 * old one is closed first, and opened again if the new one fails.  Returns 0 or an error of
 * door_open(); after an error, certificate and address are the same as before. */
int door_change(struct door *door, const struct door_place *place, bool *changed, struct err *err);
void door_shut(struct door *door);  /* stops listening; the certificate stays loaded */
void door_close(struct door *door); /* NULL is allowed */

const struct tls_identity *door_identity(const struct door *door);
/* the address at which the door listens, with the real port number */
const char *door_address(const struct door *door);

#endif
