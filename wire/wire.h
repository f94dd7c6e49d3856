/* wire/wire.h - requests, streams of replies, uplinks: how daemons and commands talk.
 *
 * One connection (struct wire) carries many requests at once, in both directions: after the
 * greeting there is no client and no server.  A message is a verb with an argument ad, a list of
 * ads and a blob, any of which may be missing; a reply has a status, a line of text and the same
 * three.  A reply may come in parts.  docs/protocol/wire.md describes every frame.
 *
 * Who may call which verb is decided here, by the table in wire/verbs.c (verb, name, scope,
 * deadline): a handler is only called for a peer that may.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "wire/secret_list.h"
#include "wire/verbs.h"

struct ad;
struct ad_pool;
struct err;
struct incoming;
struct log;
struct loop;
struct os;
struct strbuf;
struct tls_identity;
struct token_keys;
struct wire;
struct wire_request;

#define WIRE_VERSION     2
#define WIRE_VERSION_MIN 2 /* the oldest that is spoken: 1 knew tokens without a holder's key */
#define WIRE_FRAME_MAX   ((size_t)16 << 20) /* bytes of one frame */
#define WIRE_ADS_MAX     4096               /* ads in one message; longer lists go in parts */
/* unanswered requests of one peer, and the bytes that they hold; more are refused with -EBUSY */
#define WIRE_REQUESTS_MAX      4096
#define WIRE_REQUEST_BYTES_MAX ((size_t)64 << 20)
/* bytes that wait for a peer that does not read; it is dropped above that */
#define WIRE_OUTPUT_MAX  ((size_t)64 << 20)
#define WIRE_NAME_MAX    255 /* bytes of an uplink name */
#define WIRE_GREETING_MS 10000
/* silence after which a PING is sent; no answer for as long again: closed */
#define WIRE_PING_MS 20000
/* parts of one reply that may be on their way unacknowledged */
#define WIRE_WINDOW_BYTES ((size_t)1 << 20)

/* What a message carries.  All borrowed for the call. */
struct wire_body {
    const struct ad *args;       /* may be NULL */
    const struct ad *const *ads; /* ad_count of them */
    size_t ad_count;
    /* More ads behind them, as wire_ad_begin() and wire_ad_end() put them into a buffer. */
    const struct strbuf *encoded;
    size_t encoded_count;
    const void *blob;
    size_t blob_length;
    /* What proves something (wire/secret_list.h), ads in order and args last. */
    const struct wire_secret *secrets;
    size_t secret_count;
};

/* Around what ad_encode() or ad_project() appends: an ad for wire_body.encoded. */
size_t wire_ad_begin(struct strbuf *out);
void wire_ad_end(struct strbuf *out, size_t begin);

/* ---- who is at the other end ----------------------------------------------------------------- */

struct wire_peer {
    /* "alice@pool", "startd@pool"; "" before the greeting or unauthenticated */
    const char *identity;
    uint32_t scopes;      /* SCOPE_* bits of wire/verbs.h */
    const char *token_id; /* "" over a Unix socket */
    const char *pattern;  /* name pattern of the token: what it may advertise; "" = any */
    const char *uid_domain, *owners; /* of a schedd's token: as whom its jobs may run (token.h) */
    /* how many slots it may advertise: of each Machine, or, when the token itself says a number,
     * in all */
    uint32_t slots;
    bool slots_in_all;
    bool has_uid; /* Unix socket */
    uid_t uid;
    const char *name;    /* uplink name said in the greeting ("startd/wn01"), "" for none */
    const char *address; /* for messages */
    /* the request came through a hub; identity and scopes are the original caller's, verified here
     */
    bool relayed;
};

/* May this peer speak for that name?  Asked of the uplink name and of the Name of each ad that it
 * advertises: the pattern of its token, if it has one, must match what follows the last '@' or '/'
 * ("slot1@wn01", "startd/wn01": "wn01").  Scopes are not looked at. */
bool wire_peer_may_advertise(const struct wire_peer *peer, const char *name);

/* ---- calls ----------------------------------------------------------------------------------- */

struct wire_reply {
    int status;       /* 0 or negative errno; -ETIMEDOUT and -ECONNRESET are made on this side */
    const char *text; /* one line when status < 0, else "" */
    bool more;        /* another part follows */
    /* of who answered through a hub; "" when the hub did, and for direct calls */
    const char *token_id;
    /* borrowed; NULL when none; the callback may take ads by wire_reply_take_ad() */
    struct ad *args;
    struct ad **ads;
    size_t ad_count;
    const void *blob;
    size_t blob_length;
    const struct wire_secret *secrets;
    size_t secret_count;
};
typedef void (*wire_reply_f)(void *arg, struct wire_reply *reply);
/* Ads in replies are decoded into the pool (classad/ad_pool.h; NULL: that of wire's context), which
 * outlives wire. */
void wire_set_pool(struct wire *wire, struct ad_pool *pool);
/* owned by the caller; the slot becomes NULL */
struct ad *wire_reply_take_ad(struct wire_reply *reply, size_t index);

#define WIRE_NO_DEADLINE UINT64_MAX
/* Sends a request; call gets the reply (parts, then the last), never inside wire_call().
 * deadline_ms 0: the verb's own; WIRE_NO_DEADLINE: none.  A deadline restarts with each part; a
 * WATCH has none.  Returns a number > 0 for wire_cancel(); or, and then call is not called:
 * -ENOTCONN before the greeting is done or after the end, -EBUSY with WIRE_REQUESTS_MAX calls
 * unanswered, -EMSGSIZE when the message is too large for one frame. */
int64_t wire_call(struct wire *wire, enum wire_verb verb, const struct wire_body *body,
                  uint64_t deadline_ms, wire_reply_f call, void *arg);
/* Sends a request that is answered only if there is something to say against it: the reply comes to
 * the connection's `complaint` event then.  For what is sent all the time and made good by the next
 * one: for the peer of ten thousand an answer costs as much as the request.  Returns as
 * wire_call(), but never -EBUSY. */
int64_t wire_tell(struct wire *wire, enum wire_verb verb, const struct wire_body *body);
/* call is not called any more; the peer is told */
void wire_cancel(struct wire *wire, int64_t request);

/* Sends the request through the hub at the other end of wire to the uplink of that name, signed
 * with the key of our token, which the receiver verifies itself; what it answers is signed as well,
 * and was verified when call is called.  -EHOSTUNREACH as a reply's status: no such uplink;
 * -EBADMSG: an answer that the uplink of that name has not signed.  A name that ends in '/'
 * ("rooster/") means any one of that kind, the same one for all callers of the hub as long as it is
 * there. Requests to one receiver may overtake one another: some are signed a second time
 * (relay.c). Returns as wire_call(), or -ENOKEY without a token and key of our own. */
int64_t wire_relay(struct wire *wire, const char *uplink_name, enum wire_verb verb,
                   const struct wire_body *body, uint64_t deadline_ms, wire_reply_f call,
                   void *arg);

/* ---- answering ------------------------------------------------------------------------------- */

/* Called for each request that the peer may make.  The handler answers now or later, exactly once
 * with a last reply. */
typedef void (*wire_handler_f)(void *arg, struct wire_request *request);

enum wire_verb wire_request_verb(const struct wire_request *request);
const struct wire_peer *wire_request_peer(const struct wire_request *request);
/* NULL once that connection is gone */
struct wire *wire_request_wire(const struct wire_request *request);
/* never NULL: an empty ad when none came */
const struct ad *wire_request_args(const struct wire_request *request);
/* 0 for a verb whose ads are bytes */
size_t wire_request_ad_count(const struct wire_request *request);
const struct ad *wire_request_ad(const struct wire_request *request, size_t index);
struct ad *wire_request_take_ad(struct wire_request *request, size_t index);
/* Of a verb whose ads are bytes (wire_verb_ads_are_bytes(): UPDATE, whose receiver decodes each ad
 * against the one that it replaces): the next ad in binary form, NULL at the end.  Only inside the
 * handler, before it answers; the bytes are hostile, and borrowed until the handler returns. */
const void *wire_request_next_ad_bytes(struct wire_request *request, size_t *length);
size_t wire_request_ad_bytes_left(const struct wire_request *request); /* how many follow */
/* The request's own secret of that kind (of its args); "" when there is none. */
const char *wire_request_secret(const struct wire_request *request, enum wire_secret_kind kind);
/* All that came, ads in order and args last; they live as long as the request. */
const struct wire_secret *wire_request_secrets(const struct wire_request *request, size_t *count);
const void *wire_request_blob(const struct wire_request *request, size_t *length);

/* body may be NULL; ends the request */
void wire_reply_ok(struct wire_request *request, const struct wire_body *body);
void wire_reply_error(struct wire_request *request, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What answering the request holds in memory besides the request itself counts as bytes of it until
 * it is over (docs/protocol/wire.md, section 8).  -EBUSY with err: that is more than the caller may
 * have; nothing is counted then. */
int wire_request_charge(struct wire_request *request, size_t bytes, struct err *err);
/* The handler has logged, or logs, why it refuses: else wire_reply_error() and wire_reply_refusal()
 * log what is about the caller's rights and limits (-EACCES, -EPERM, -EDQUOT, -ENOKEY and the like)
 * as wire.denied, with identity, verb and peer. */
void wire_request_logged(struct wire_request *request);
/* The same, with attributes for who wants more than a line (args may be NULL). */
void wire_reply_refusal(struct wire_request *request, const struct ad *args, int status,
                        const char *why);
/* A part; more may follow.  It is sent in any case; returns false when that filled the window: wait
 * for the drained callback before the next.  One that is too large for a message ends the answer
 * with -EMSGSIZE at the peer; what the handler says afterwards is not heard. */
bool wire_reply_part(struct wire_request *request, const struct wire_body *body);
void wire_request_on_drained(struct wire_request *request, void (*drained)(void *arg), void *arg);
/* Called when the peer cancels or is gone before the last reply: the handler's state for this
 * request ends here, the request is freed after it.  Without it the request stays until it is
 * answered, and the answer goes nowhere. */
void wire_request_on_gone(struct wire_request *request, void (*gone)(void *arg), void *arg);

/* ---- connections ----------------------------------------------------------------------------- */

struct wire_events {
    void (*ready)(void *arg, struct wire *wire); /* greeting done both ways; may be NULL */
    /* may be NULL: all requests are refused with -ENOSYS */
    wire_handler_f request;
    /* What the peer has against a request sent by wire_tell(): a failure, or a reply that says more
     * than that it is done.  May be NULL. */
    wire_reply_f complaint;
    /* Over; the wire is freed afterwards by its owner with wire_close().  status -EACCES: the
     * greeting was refused, why says for what. */
    void (*closed)(void *arg, struct wire *wire, int status, const char *why);
};

/* what all connections of a process share: loop, os, log, token, keys, pool name */
struct wire_context;

struct wire_context_options {
    struct loop *loop;
    struct os *os;
    struct log *log;
    /* our own token and the key that it is bound to, read at each dial; NULL or absent file: none
     * (Unix sockets only) */
    const char *token_path;
    /* directory with the pool's public signing keys (for verifying), NULL: none: no TCP peer is
     * accepted, and no answer through a hub */
    const char *pool_keys;
    bool keys_when_asked; /* they are read when the first is needed: of a tool, which may end before
                           */
    /* the pool whose tokens are good here; NULL or "": that of our own token, else uid_domain */
    const char *pool;
    /* the pool's CA: what dialled servers must show, unless a pin is given */
    const char *ca_file;
    /* SHA-256 of the collector's certificate, hex, colons and case do not matter: what is dialled
     * on the route "collector" must show that one.  NULL or "": the CA's, as all others */
    const char *collector_pin;
    const char *uid_domain; /* identity of Unix peers: user@uid_domain */
    uid_t admin_uid;        /* this uid and root are ADMINISTRATOR over a Unix socket */
    /* where a daemon keeps the revocations that it knows (wire/revocations.h), NULL: nowhere */
    const char *revocations_path;
};
int wire_context_create(const struct wire_context_options *options, struct wire_context **ret,
                        struct err *err);
/* Takes over other paths of token, keys, CA and another uid_domain (the rest of options is not
 * looked at), and reads them anew; connections stay as they are.  Errors of the keys: all is as
 * before. */
int wire_context_change(struct wire_context *context, const struct wire_context_options *options,
                        struct err *err);
/* After hubs, uplinks and watch servers, and not inside a callback of a wire.  Frees the wires that
 * are left, telling nobody.  NULL is allowed. */
void wire_context_destroy(struct wire_context *context);
/* Token ids that are refused from now on, at greetings, and by the receiver of a relay; connections
 * that use one are closed, and requests made with one through a hub are ended. */
void wire_context_revoke(struct wire_context *context, const char *token_id);
/* revoked is called after that, once for each id that was not refused before: what hangs on a token
 * without being a connection of it (claims, tickets) ends there.  One for each context. */
void wire_context_on_revoked(struct wire_context *context,
                             void (*revoked)(void *arg, const char *token_id), void *arg);
/* The token has expired: its id need not be remembered any more. */
void wire_context_forget(struct wire_context *context, const char *token_id);
struct loop *wire_context_loop(const struct wire_context *context);
bool wire_context_is_revoked(const struct wire_context *context, const char *token_id);

struct wire_dial {
    const char *address;
    const char *route;
    const char *name;       /* our uplink name, "" for none */
    const char *pin;        /* of the server's certificate; NULL: the pool's CA, and the role that
                             * belongs to the route (wire/wire_trust.c) */
    const char *server;     /* with the CA: the server's name in its ad; NULL: any of that role */
    const struct ad *hello; /* more to say in the greeting (shadow: job id); may be NULL */
    const struct wire_secret *secrets; /* that go with it (shadow: nonce), all of SECRET_OF_ARGS */
    size_t secret_count;
    /* What the dialled server itself may ask of us on this connection (it has a certificate, no
     * token): SCOPE_SCHEDD on a claim's connection.  0: only verbs that need no scope. */
    uint32_t server_scopes;
};
/* Dials; dial is copied.  The outcome comes as ready or closed. */
int wire_dial(struct wire_context *context, const struct wire_dial *dial,
              const struct wire_events *events, void *arg, struct wire **ret, struct err *err);
/* What else a caller says in its greeting. */
struct wire_hello {
    const struct ad *ad; /* never NULL */
    const struct wire_secret *secrets;
    size_t secret_count;
};
/* The secret of that kind; "" when there is none. */
const char *wire_hello_secret(const struct wire_hello *hello, enum wire_secret_kind kind);

/* The listening side: takes incoming.  identity NULL for Unix sockets.  admit may refuse a peer
 * whose greeting is otherwise right (a shadow that checks the job's nonce): returns 0 or -EACCES
 * with err.  With no_token the token is not asked for: admit alone
 * decides. */
struct wire_accept {
    const struct tls_identity *identity;
    bool no_token;
    /* The greeting proves nothing (the proof is a claim id in a request, say): the peer stays a
     * stranger, whose frames, requests and time are few, until the owner says wire_proved(). */
    bool proves_later;
    /* With no_token: what an admitted peer may ask (SCOPE_ADVERTISE on the schedd's route `claim`,
     * where the claim id is the proof); 0: only verbs that need no scope.  A token that such a peer
     * sends nevertheless is ignored. */
    uint32_t scopes;
    int (*admit)(void *arg, const struct wire_peer *peer, const struct wire_hello *hello,
                 struct err *err);
};
int wire_accept(struct wire_context *context, struct incoming *incoming,
                const struct wire_accept *how, const struct wire_events *events, void *arg,
                struct wire **ret, struct err *err);
/* The peer of an accepted connection has proved who it is.  Allowed in admit; does nothing when it
 * is proved already.  The connection ends if its identity has too many. */
void wire_proved(struct wire *wire);
/* The largest frame that a dialled server said it would take when it welcomed us: less than
 * WIRE_FRAME_MAX while it does not know who we are. */
size_t wire_peer_frame_max(const struct wire *wire);
/* Ends it, at the latest in the next turn of the loop.  No callback afterwards but -ECONNRESET for
 * calls and gone for requests, in the next turn; those, too, are dropped by wire_context_destroy().
 * NULL is allowed. */
void wire_close(struct wire *wire);
void wire_finish(struct wire *wire); /* sends what is queued, then closes */
const struct wire_peer *wire_peer(const struct wire *wire);
bool wire_is_ready(const struct wire *wire);

/* What the connections that were accepted cost now, and how often a limit was crossed
 * (wire/wire_limits.h). */
struct wire_figures {
    size_t strangers; /* connections whose peers have proved nothing */
    uint64_t strangers_sent_away;
    size_t identities, connections;                  /* proved ones */
    size_t frame_bytes, request_bytes, unread_bytes; /* held for them */
    const char *busiest;                             /* identity with the most bytes; "": none */
    size_t busiest_bytes;
    uint64_t complaints;
    const char *last_offender; /* "": none, or long ago */
};
/* The texts are good until the loop goes on. */
void wire_context_figures(const struct wire_context *context, struct wire_figures *ret);

/* ---- uplink: a connection that is always being made ------------------------------------------ */

struct uplink;
struct uplink_events {
    void (*up)(void *arg, struct wire *wire); /* (again) connected: send full state now */
    /* may be NULL; dialled again with jittered back-off, 50 ms to 5 s */
    void (*down)(void *arg, const char *why);
    wire_handler_f request;
    wire_reply_f complaint; /* as of struct wire_events */
};
/* address may be a comma-separated list, tried in turn. */
int uplink_create(struct wire_context *context, const struct wire_dial *dial,
                  const struct uplink_events *events, void *arg, struct uplink **ret,
                  struct err *err);
/* Another list of addresses: an uplink to one that is no longer in it is made anew.  -EINVAL: the
 * list is empty; all stays. */
int uplink_change(struct uplink *uplink, const char *address, struct err *err);
void uplink_destroy(struct uplink *uplink);
struct wire *uplink_wire(const struct uplink *uplink); /* NULL while down */

/* ---- hub: the other end of uplinks ----------------------------------------------------------- */

/* Keeps the uplinks by name and carries RELAY requests down to them with the caller's token and
 * proof, neither of which it could use itself.  A
 * second uplink of the same name replaces the first when its identity is the same, else it is
 * refused. */
struct hub;
struct hub *hub_create(struct wire_context *context);
void hub_destroy(struct hub *hub);
/* From the ready callback; a wire without name is fine.  -EEXIST: the name is another identity's;
 * the peer has been told, and the wire is over (close it, or wait for closed). */
int hub_add(struct hub *hub, struct wire *wire, struct err *err);
void hub_remove(struct hub *hub, struct wire *wire);
void hub_relay(struct hub *hub, struct wire_request *request); /* answers the RELAY request */

#endif
