/* schedd/claim/claim_wire.h - the connection between a claim and its startd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_CLAIM_WIRE_H
#define SCHEDD_CLAIM_CLAIM_WIRE_H

#include <stdbool.h>

struct claim;
struct schedd;
struct wire;

/* One connection of a startd. */
struct claim_peer {
    struct schedd *schedd;
    struct wire *wire;
    /* the claim that uses the connection; NULL before the startd's request CLAIM, and after the
     * claim's end */
    struct claim *claim;
    bool silent; /* the startd does not answer on the connection */
};

/* Returns the connection of the claim's startd, borrowed; NULL: the startd is not connected. */
struct wire *claim_wire(const struct claim *claim);
void claim_wire_close(struct claim *claim); /* closes the claim's connection, if any */
/* If a CLAIM request of the startd still waits for its answer, refuses the request with this error
 * (status) and its reason (why). */
void claim_wire_refuse(struct claim *claim, int status, const char *why);
/* Closes a connection, takes it off its claim, and frees peer.  The claim itself goes on until its
 * lease expires. */
void claim_wire_end(struct claim_peer *peer);

#endif
