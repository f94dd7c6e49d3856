/* schedd/claim/claim_peer.h - serves the connections that startds make to the schedd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_CLAIM_PEER_H
#define SCHEDD_CLAIM_CLAIM_PEER_H

struct incoming;
struct schedd;

/* Starts to serve a new connection with the route "claim".  Takes over incoming. */
void claim_peers_accept(struct schedd *schedd, struct incoming *incoming);
/* closes all connections that startds have made to the schedd */
void claim_peers_fini(struct schedd *schedd);

#endif
