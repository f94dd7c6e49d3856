/* shadow/link.h - a connection of a starter, or of a client: who is at its other end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_LINK_H
#define SHADOW_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "shadow/run/shadow_run.h"

struct guest;
struct shadow;
struct wire;

struct link {
    struct shadow *shadow;
    struct wire *wire;
    struct run *run;     /* NULL: not known, or over */
    struct guest *guest; /* NULL: a starter's connection */
    char id[RUN_ID_SIZE];
    char nonce[RUN_NONCE_SIZE];
    int64_t epoch;
    bool stays; /* its starter wants to go on with another run when this one is over */
};

struct wire *link_wire(const struct link *link);
void link_stays(struct link *link, bool stays);
/* Its run is over: closed, unless its starter stays for the next one. */
void link_let_go(struct link *link);
/* Its run, if it has one, has no connection any more; its wire is the caller's. */
void link_destroy(struct link *link);
void link_close(struct link *link); /* and its wire */

#endif
