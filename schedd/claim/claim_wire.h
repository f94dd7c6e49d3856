/* schedd/claim/claim_wire.h - the connection between a claim and its startd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_CLAIM_WIRE_H
#define SCHEDD_CLAIM_CLAIM_WIRE_H

struct claim;
struct schedd;
struct wire;

/* One connection of a startd. */
struct claim_peer {
    struct schedd *schedd;
    struct wire *wire;
    struct claim *claim; /* NULL before the request CLAIM, and after the claim's end */
};

struct wire *claim_wire(const struct claim *claim); /* NULL while the startd is not connected */
void claim_wire_close(struct claim *claim);         /* closes the claim's connection, if any */
/* Answers the startd's CLAIM request, if one still waits for its answer, with the error status and
 * why. */
void claim_wire_refuse(struct claim *claim, int status, const char *why);
/* Closes a connection, takes it off its claim, and frees peer.  The claim itself goes on until its
 * lease expires. */
void claim_wire_end(struct claim_peer *peer);

#endif
