/* schedd/claim/claim_wire.c - see claim_wire.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/claim_wire.h"

#include <errno.h>
#include <stddef.h>

#include "base/mem.h"
#include "base/vec.h"
#include "schedd/claim/job_claims.h"
#include "schedd/schedd_state.h"
#include "wire/wire.h"

static void forget_peer(const struct claim_peer *peer)
{
    struct vec *peers = &peer->schedd->claimed.peers;
    for (size_t i = 0; i < peers->count; i++) {
        if (peers->items[i] == peer) {
            vec_remove_at(peers, i);
            break;
        }
    }
}

void claim_wire_end(struct claim_peer *peer)
{
    forget_peer(peer);
    if (peer->claim != NULL) {
        peer->claim->peer = NULL;
    }
    struct wire *wire = peer->wire;
    mem_free(peer);
    wire_close(wire);
}

struct wire *claim_wire(const struct claim *claim)
{
    return claim->peer != NULL ? claim->peer->wire : NULL;
}

void claim_wire_refuse(struct claim *claim, int status, const char *why)
{
    if (claim->claim_request != NULL) {
        struct wire_request *request = claim->claim_request;
        claim->claim_request = NULL;
        wire_reply_error(request, status, "%s", why);
    }
}

void claim_wire_close(struct claim *claim)
{
    struct claim_peer *peer = claim->peer;
    claim_wire_refuse(claim, -ENOKEY, "this claim has ended");
    if (peer != NULL) {
        peer->claim = NULL;
        claim->peer = NULL;
        forget_peer(peer);
        wire_finish(peer->wire); /* the answers that are queued still go out */
        mem_free(peer);
    }
}
