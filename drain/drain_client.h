/* drain/drain_client.h - asks a startd to drain: the requester's side of the transaction.
 *
 * For the command line, and later eventd and factory.  The request goes through the hub (RELAY) to
 * the machine's startd, which answers with fresh estimates and an id.  The startd then changes
 * nothing of its slots until it hears commit or cancel; the requester decides by the estimates,
 * quickly.  A requester whose connection ends has cancelled: the startd is told
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

/* Callbacks. */
struct drain_client_events {
    /* The startd waits for drain_client_commit() or drain_client_destroy(), which may be called
     * here or later.  offer (borrowed) has the estimates, Machine, and CommitWithin.  Not called
     * for a request with `estimate`, which has no offer. */
    void (*offered)(void *arg, const char *id, const struct ad *offer);
    /* The end, called once.  DRAIN_OK: the machine drains, durably (or, with `estimate`, answer has
     * the estimates).  Otherwise text says which machine and why.  answer may be NULL.  The client
     * may be destroyed here. */
    void (*done)(void *arg, enum drain_code code, const char *text, const struct ad *answer);
};

/* Sends a request.  hub: a ready connection to the collector, which must outlive the client.
 * Returns 0; or an error of wire_relay() (-ENOTCONN, -EBUSY, -EMSGSIZE) with err, and no event
 * comes. */
int drain_client_start(struct wire *hub, const char *machine, const struct drain_request *request,
                       const struct drain_client_events *events, void *arg,
                       struct drain_client **ret, struct err *err);
/* Commits the offer; call it once, after offered. */
void drain_client_commit(struct drain_client *client);
/* Ends the request of that id, or any request (id NULL or ""), draining or complete: START is
 * evaluated again.  Only done is called. */
int drain_client_cancel(struct wire *hub, const char *machine, const char *id, const char *reason,
                        const struct drain_client_events *events, void *arg,
                        struct drain_client **ret, struct err *err);
/* Frees the client; takes back an offer that was not committed.  No event comes afterwards.  NULL
 * is allowed. */
void drain_client_destroy(struct drain_client *client);

#endif
