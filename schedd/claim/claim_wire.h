/* schedd/claim/claim_wire.h - the connection that a claim has to its startd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_CLAIM_WIRE_H
#define SCHEDD_CLAIM_CLAIM_WIRE_H

struct claim;
struct schedd;
struct wire;

struct claim_peer {
    struct schedd *schedd;
    struct wire *wire;
    struct claim *claim; /* NULL before CLAIM, and after the claim's end */
};

struct wire *claim_wire(const struct claim *claim); /* NULL while there is none */
void claim_wire_close(struct claim *claim);         /* the claim's; none is fine */
/* Answers the CLAIM that waits, if there is one: it is not accepted. */
void claim_wire_refuse(struct claim *claim, int status, const char *why);
/* The connection is over; frees peer. */
void claim_wire_end(struct claim_peer *peer);

#endif
