/* schedd/revoked.h - what ends here with a token that is revoked, besides its connections.
 *
 * A claim ends with the token of its machine: its job is evicted and its run is told to stop, as if
 * the lease were over.  A ticket, and the client who came with it, ends with the token of who asked
 * for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_REVOKED_H
#define SCHEDD_REVOKED_H

struct ad;
struct schedd;

/* After the claims were read: those that a revocation of before ends, end now; from then on each
 * that comes is heard of. */
void revoked_start(struct schedd *schedd);

/* A shadow is there (again): guests is its list of the tokens that its clients have ("id,id"), and
 * answer gets Revoked, those of them that are refused. */
void revoked_hello(const struct schedd *schedd, const char *guests, struct ad *answer);

#endif
