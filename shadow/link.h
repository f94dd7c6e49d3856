/* shadow/link.h - a link: the connection of a starter or of a client to the shadow.
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
    struct run *run;     /* the starter's run; NULL: not known yet, or over */
    struct guest *guest; /* the client; NULL: this is a starter's connection */
    /* job id, nonce of the run and claim epoch that the starter sent; "", "" and 0: none yet */
    char id[RUN_ID_SIZE];
    char nonce[RUN_NONCE_SIZE];
    int64_t epoch;
    bool stays; /* the starter stays connected for another run after this one */
};

struct wire *link_wire(const struct link *link); /* the connection; never NULL */
/* Notes whether the starter wants to stay connected for another run. */
void link_stays(struct link *link, bool stays);
/* To be called when the link's run is over: closes the link, unless its starter stays for another
 * run. */
void link_let_go(struct link *link);
/* Takes the link off its run and frees it.  The caller closes its wire. */
void link_destroy(struct link *link);
void link_close(struct link *link); /* frees the link and closes its wire */

#endif
