/* drain/drain_client.h - asking a startd to drain: the transaction, seen from the requester.
 *
 * For the command line, and later eventd and factory.  The request goes through the hub (RELAY) to
 * the machine's own startd, which answers with fresh estimates and an id, and then lets nothing of
 * its slots change until it hears commit or cancel; the requester decides by the estimates,
 * quickly. Who goes away without a word has cancelled: the startd is told when the connection ends
 * (docs/protocol/drain.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DRAIN_DRAIN_CLIENT_H
#define DRAIN_DRAIN_CLIENT_H

#include "drain/drain.h"

struct ad;
struct drain_client;
struct err;
struct wire;

struct drain_client_events {
    /* The startd waits for drain_client_commit() or drain_client_destroy(), which may be called in
     * here or later.  offer, borrowed, has the estimates by the seed's names, Machine, and
     * CommitWithin.  Not called for a request with `estimate`, which has no offer. */
    void (*offered)(void *arg, const char *id, const struct ad *offer);
    /* The end, once.  DRAIN_OK: it drains, durably (or, with `estimate`, these are the estimates);
     * else text says which machine and why.  answer may be NULL.  The client may be destroyed in
     * here. */
    void (*done)(void *arg, enum drain_code code, const char *text, const struct ad *answer);
};

/* hub: a connection to the collector, ready, which outlives the client.  0; or what wire_relay()
 * says (-ENOTCONN, -EBUSY, -EMSGSIZE), err filled, and no event comes. */
int drain_client_start(struct wire *hub, const char *machine, const struct drain_request *request,
                       const struct drain_client_events *events, void *arg,
                       struct drain_client **ret, struct err *err);
/* After offered, once. */
void drain_client_commit(struct drain_client *client);
/* Ends a request of that id, or whichever is there (id NULL or ""), draining or drained: START
 * counts again.  Only done is called. */
int drain_client_cancel(struct wire *hub, const char *machine, const char *id, const char *reason,
                        const struct drain_client_events *events, void *arg,
                        struct drain_client **ret, struct err *err);
/* Takes an offer that was not committed back.  No event comes afterwards.  NULL is allowed. */
void drain_client_destroy(struct drain_client *client);

#endif
