/* schedd/claim/claim_peer.h - the startds' connections.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_CLAIM_PEER_H
#define SCHEDD_CLAIM_CLAIM_PEER_H

struct incoming;
struct schedd;

void claim_peers_accept(struct schedd *schedd, struct incoming *incoming);
void claim_peers_fini(struct schedd *schedd);

#endif
