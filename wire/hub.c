/* wire/hub.c - the hub: keeps uplinks by name, and answers RELAY.
 *
 * The hub adds only the caller's address to what it carries, and passes replies, windows and
 * cancels on unchanged.  It neither decodes a relayed body nor checks the caller's scopes, because
 * the receiver must do that itself anyway.  It knows the full names and the instances of its
 * uplinks (wire/instance.h), and answers a request that is not signed for them with what to sign.
 * Callers that may only advertise (every glidein) may relay only the two questions of a machine
 * that would sleep: for permission, and about the queue.  Those that have only a ticket (glideins
 * that were just started) may exchange it.
 *
 * Lifetimes.  A relay connects a request of the caller with a call on an uplink.  The call ends in
 * relay_reply() (an answer, or -ECONNRESET when the uplink is lost), the request in relay_gone()
 * (the caller is gone, or cancels).  Whichever comes first ends the other one and frees the relay.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "wire/wire_private.h"

struct hub {
    struct wire_context *context;
    struct strmap *uplinks;      /* name -> struct wire */
    char any[WIRE_NAME_MAX + 1]; /* the uplink that was chosen last where any of a kind will do */
    struct relay *first;
};

struct relay {
    struct hub *hub;
    struct relay *previous, *next;
    struct wire_request *request;
    struct wire *uplink;
    int64_t call;
};

struct hub *hub_create(struct wire_context *context)
{
    struct hub *hub = mem_zalloc(sizeof *hub);
    hub->context = context;
    hub->uplinks = strmap_create(STRMAP_CASE_IGNORED);
    return hub;
}

static void relay_free(struct relay *relay)
{
    if (relay->previous != NULL) {
        relay->previous->next = relay->next;
    } else {
        relay->hub->first = relay->next;
    }
    if (relay->next != NULL) {
        relay->next->previous = relay->previous;
    }
    mem_free(relay);
}

void hub_destroy(struct hub *hub)
{
    if (hub == NULL) {
        return;
    }
    while (hub->first != NULL) {
        struct relay *relay = hub->first;
        struct wire_request *request = relay->request;
        wire_cancel(relay->uplink, relay->call);
        relay_free(relay);
        wire_reply_error(request, -ECONNRESET, "the hub is stopping");
    }
    strmap_destroy(hub->uplinks, NULL);
    mem_free(hub);
}

int hub_add(struct hub *hub, struct wire *wire, struct err *err)
{
    const struct wire_peer *peer = wire_peer(wire);
    if (peer->name[0] == '\0') {
        return 0;
    }
    struct wire *other = strmap_get(hub->uplinks, peer->name);
    if (other != NULL && other != wire) {
        if (strcmp(wire_peer(other)->identity, peer->identity) != 0) {
            wire_fail(wire, -EEXIST, true, "uplink name '%s' is in use by %s", peer->name,
                      wire_peer(other)->identity);
            return err_set(err, -EEXIST, "uplink name '%s' is in use by %s", peer->name,
                           wire_peer(other)->identity);
        }
        wire_fail(other, -ESTALE, true, "replaced by a newer connection of '%s'", peer->name);
    }
    (void)strmap_set(hub->uplinks, peer->name, wire);
    return 0;
}

void hub_remove(struct hub *hub, struct wire *wire)
{
    const char *name = wire_peer(wire)->name;
    if (name[0] != '\0' && strmap_get(hub->uplinks, name) == wire) {
        (void)strmap_remove(hub->uplinks, name);
    }
}

/* ---- relays ---------------------------------------------------------------------------------- */

static void relay_reply(void *arg, const struct frame *reply)
{
    struct relay *relay = arg;
    struct wire_request *request = relay->request;
    if ((reply->flags & FRAME_FLAG_MORE) == 0) {
        relay_free(relay);
    }
    wire_reply_raw(request, reply);
}

static void relay_gone(void *arg)
{
    struct relay *relay = arg;
    wire_cancel(relay->uplink, relay->call);
    relay_free(relay);
}

static void relay_window(void *arg, uint32_t bytes)
{
    struct relay *relay = arg;
    wire_call_return_window(relay->uplink, relay->call, bytes);
}

/* Returns the uplink that is meant by "rooster/".  It is searched once and remembered, because ten
 * thousand callers may ask. */
static const char *any_of(struct hub *hub, const char *prefix)
{
    size_t length = strlen(prefix), at = 0;
    const char *name, *best = NULL;
    if (strncmp(hub->any, prefix, length) == 0 && strmap_get(hub->uplinks, hub->any) != NULL) {
        return hub->any;
    }
    while (strmap_next(hub->uplinks, &at, &name, NULL)) {
        bool fits = strncmp(name, prefix, length) == 0;
        best = fits && (best == NULL || strcmp(name, best) < 0) ? name : best;
    }
    if (best == NULL) {
        return prefix;
    }
    (void)snprintf(hub->any, sizeof hub->any, "%s", best);
    return hub->any;
}

static bool may_relay(const struct caller *caller, int64_t verb)
{
    uint32_t any =
        SCOPE_WRITE | SCOPE_SCHEDD | SCOPE_ROOSTER | SCOPE_NEGOTIATOR | SCOPE_ADMINISTRATOR;
    bool advertises = (caller->peer.scopes & SCOPE_ADVERTISE) != 0;
    bool has_ticket = (caller->peer.scopes & SCOPE_TICKET) != 0;
    return (advertises && (verb == VERB_POWER_DOWN_ASK || verb == VERB_POOL_FIGURES)) ||
           (has_ticket && verb == VERB_TICKET) || (caller->peer.scopes & any) != 0;
}

/* Answers with the name and instance that the caller must sign for first. */
static void relay_resolve(struct wire_request *request, const struct wire *uplink)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Uplink", uplink->caller->name);
    ad_set_string(args, "Instance", uplink->caller->instance);
    wire_reply_refusal(request, args, -ESTALE,
                       "this request must be signed for this instance of the daemon");
    ad_destroy(args);
}

void hub_relay(struct hub *hub, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const struct caller *caller = wire_request_caller(request);
    const char *name = ad_string_or(args, "Uplink", "");
    int64_t verb = ad_int_or(args, "Verb", 0);
    int64_t deadline_ms = ad_int_or(args, "Deadline", 0);
    int64_t number = ad_int_or(args, "Number", -1);
    const char *instance = ad_string_or(args, "Instance", "");
    const char *proof_letters = ad_string_or(args, "Proof", "");
    uint8_t proof[PROOF_BYTES];
    if (verb <= 0 || verb > UINT16_MAX || verb == VERB_RELAY || deadline_ms < 0 ||
        deadline_ms > UINT32_MAX) {
        wire_reply_error(request, -EINVAL, "RELAY: Verb is missing, or Deadline is out of range");
        return;
    }
    if (!may_relay(caller, verb)) {
        wire_reply_error(request, -EACCES, "RELAY: %s may not call %s", caller->identity,
                         wire_verb_name((enum wire_verb)verb));
        return;
    }
    bool any = name[0] != '\0' && name[strlen(name) - 1] == '/';
    const char *full = any ? any_of(hub, name) : name;
    struct wire *uplink = strmap_get(hub->uplinks, full);
    if (uplink == NULL || !wire_is_ready(uplink)) {
        wire_reply_error(request, -EHOSTUNREACH, "no daemon '%s' is connected to the collector",
                         name);
        return;
    }
    if (any || proof_letters[0] == '\0' || strcmp(instance, uplink->caller->instance) != 0) {
        relay_resolve(request, uplink);
        return;
    }
    struct relayed relayed = {.verb = (uint16_t)verb,
                              .deadline_ms = (uint32_t)deadline_ms,
                              .token = ad_string_or(args, "Token", ""),
                              .from = caller->address,
                              .instance = instance,
                              .number = (uint64_t)number,
                              .proof = proof};
    relayed.body = wire_request_blob(request, &relayed.body_length);
    if (number < 0 || relayed.body_length == 0 || relayed.token[0] == '\0' ||
        !proof_from_text(proof_letters, proof)) {
        wire_reply_error(request, -EINVAL, "RELAY: Token, Number, Proof or the body is missing");
        return;
    }
    struct relay *relay = mem_zalloc(sizeof *relay);
    relay->call = wire_call_relayed(uplink, &relayed, relay_reply, relay);
    if (relay->call < 0) {
        wire_reply_error(request, (int)relay->call, "uplink '%s': %s", full,
                         err_code_text((int)relay->call));
        mem_free(relay);
        return;
    }
    relay->hub = hub;
    relay->request = request;
    relay->uplink = uplink;
    relay->next = hub->first;
    if (hub->first != NULL) {
        hub->first->previous = relay;
    }
    hub->first = relay;
    wire_request_on_gone(request, relay_gone, relay);
    wire_request_on_window(request, relay_window, relay);
}
