/* schedd/revoked.h - what the schedd ends when a token is revoked, besides the token's connections.
 *
 * When the token of a machine is revoked, the claims of that machine end: their jobs are evicted
 * and the runs are told to stop, as if the lease had expired.  When the token of a user is revoked,
 * the tickets issued for it end, and so do the clients that used these tickets at a shadow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_REVOKED_H
#define SCHEDD_REVOKED_H

struct ad;
struct schedd;

/* To be called once after the claims were loaded: ends the claims whose token is already revoked,
 * and handles each later revocation. */
void revoked_start(struct schedd *schedd);

/* Answers a shadow that has connected.  guests: comma-separated ids of the tokens that the shadow's
 * clients use.  Sets in answer the attribute Revoked to the ids of those tokens that are revoked;
 * if none is, the attribute is not set. */
void revoked_hello(const struct schedd *schedd, const char *guests, struct ad *answer);

#endif
