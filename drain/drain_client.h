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
    /* Called when the startd offers to drain.  The startd then waits until the requester calls
     * drain_client_commit() or drain_client_destroy(), in this callback or later. offer (borrowed)
     * contains the estimates, Machine, and CommitWithin (seconds).  Not called for a request with
     * `estimate`, which has no offer. */
    void (*offered)(void *arg, const char *id, const struct ad *offer);
    /* Called once, at the end of the transaction. code DRAIN_OK: the machine is draining, and its
     * record of that is on disk; or, with `estimate`, answer contains the estimates.  Other codes:
     * text says which machine refused, and why. answer may be NULL.  This callback may call
     * drain_client_destroy(). */
    void (*done)(void *arg, enum drain_code code, const char *text, const struct ad *answer);
};

/* Sends a request to the startd of that machine. hub: a ready connection to the collector, which
 * must outlive the client.  Returns 0; or, with the reason in err, and then no event is called:
 * -ENOTCONN: hub is not connected; -EBUSY: too many requests on hub are unanswered; -EMSGSIZE: the
 * request is too large; -ENOKEY: this process has no token and key. */
int drain_client_start(struct wire *hub, const char *machine, const struct drain_request *request,
                       const struct drain_client_events *events, void *arg,
                       struct drain_client **ret, struct err *err);
/* Commits the startd's offer.  Must be called at most once, after the event `offered`. */
void drain_client_commit(struct drain_client *client);
/* Asks the machine's startd to cancel its drain request `id` (NULL or "": the request that is in
 * force), even if all slots are drained already: START is then evaluated again. reason: why, for
 * people.  Of the events, only `done` is called.  Returns 0; or, with the reason in err, and then
 * no event is called: -ENOTCONN: hub is not connected; -EBUSY: too many requests on hub are
 * unanswered; -EMSGSIZE: the request is too large; -ENOKEY: this process has no token and key. */
int drain_client_cancel(struct wire *hub, const char *machine, const char *id, const char *reason,
                        const struct drain_client_events *events, void *arg,
                        struct drain_client **ret, struct err *err);
/* Frees the client, and cancels an offer that was not committed.  No event is called afterwards.
 * NULL is allowed. */
void drain_client_destroy(struct drain_client *client);

#endif
