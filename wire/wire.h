/* wire/wire.h - requests, streams of replies and uplinks: how daemons and commands talk.
 *
 * One connection (struct wire) carries many requests at once, in both directions; after the
 * greeting there is no client and no server.  A message has a verb, an argument ad, a list of ads
 * and a blob (raw bytes), any of which but the verb may be missing.  A reply has a status, a line
 * of text, and optionally an argument ad, ads and a blob, too.  A reply may come in parts.
 * docs/protocol/wire.md describes every frame.
 *
 * Who may call which verb is decided here, by the table in wire/verbs.c (verb, name, scope,
 * deadline): a handler is called only for a peer that may call the verb.
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

#define WIRE_VERSION 2
/* oldest accepted version of the protocol: tokens of version 1 had no holder's key */
#define WIRE_VERSION_MIN 2
#define WIRE_FRAME_MAX   ((size_t)16 << 20) /* most bytes of one frame */
#define WIRE_ADS_MAX     4096 /* most ads in one message; a longer list is sent in parts */
/* Two limits for the unanswered requests of one peer: their number, and the bytes that they
 * hold.  Further requests are refused with -EBUSY. */
#define WIRE_REQUESTS_MAX      4096
#define WIRE_REQUEST_BYTES_MAX ((size_t)64 << 20)
/* Bytes that wait for a peer that does not read; with more, the connection is closed. */
#define WIRE_OUTPUT_MAX ((size_t)64 << 20)
/* most bytes of an uplink name, without the terminating zero */
#define WIRE_NAME_MAX    255
#define WIRE_GREETING_MS 10000 /* milliseconds; time limit for the greeting */
/* Milliseconds of silence after which the side that dialled sends a PING, and the other side;
 * earlier by less than LOOP_GRID_MS, so that PINGs of many connections come at one time.
 * Twice WIRE_PING_MS of silence closes the connection. */
#define WIRE_PING_MS          20000
#define WIRE_PING_ACCEPTED_MS 25000
/* The same for a peer that this side attends to (wire_attend()): after so much silence it is sent a
 * PING, and when it has not answered in time, it counts as silent.  With many such peers the PINGs
 * come later, up to WIRE_PING_MS, so that a process sends at most WIRE_PINGS_S_MAX a second.  Up to
 * WIRE_TOGETHER_MAX of them get their PINGs at multiples of LOOP_GRID_MS: of more, the answers
 * would come in a burst. */
#define WIRE_ATTEND_MS      6000
#define WIRE_ATTEND_MIN_MS  4500 /* less silence than that is not worth a PING */
#define WIRE_ATTEND_GRID_MS 1000
#define WIRE_TOGETHER_MAX   100
#define WIRE_ANSWER_MS      3000
#define WIRE_PINGS_S_MAX    250
/* Returns the time after which a process that attends to `attended` peers knows, and has told
 * others, that one of them is silent. */
uint64_t wire_silence_ms(size_t attended);
/* Most bytes of a reply's parts that are under way, not yet acknowledged by the caller. */
#define WIRE_WINDOW_BYTES ((size_t)1 << 20)

/* The content of a message.  Everything is borrowed for the call. */
struct wire_body {
    const struct ad *args;       /* arguments; may be NULL */
    const struct ad *const *ads; /* ads of the message, ad_count of them */
    size_t ad_count;
    /* Further ads, which follow `ads`, already encoded by wire_ad_begin() and wire_ad_end(). */
    const struct strbuf *encoded;
    size_t encoded_count;
    const void *blob;
    size_t blob_length;
    /* Secrets of the message (wire/secret_list.h): first those of the ads, in order of the ads,
     * then those of args. */
    const struct wire_secret *secrets;
    size_t secret_count;
};

/* To append an ad for wire_body.encoded: call wire_ad_begin(), then ad_encode() or ad_project(),
 * then wire_ad_end() with the `begin` that wire_ad_begin() returned. */
size_t wire_ad_begin(struct strbuf *out);
void wire_ad_end(struct strbuf *out, size_t begin);

/* ---- who is at the other end ----------------------------------------------------------------- */

/* Who is at the other end of a connection, and what they may do. */
struct wire_peer {
    /* "alice@pool", "startd@pool"; "" before the greeting and for an unauthenticated peer. */
    const char *identity;
    uint32_t scopes;      /* SCOPE_* bits of wire/verbs.h */
    const char *token_id; /* id of the peer's token; "" over a Unix socket */
    const char *pattern;  /* names that the token allows to advertise, a glob; "": any */
    /* whom the jobs of a schedd with this token may run as (wire/token.h) */
    const char *uid_domain, *owners;
    /* How many slots the peer may advertise: in all if slots_in_all (the token says a number), else
     * of each Machine. */
    uint32_t slots;
    bool slots_in_all;
    bool has_uid; /* true: uid is known, the peer is on a Unix socket */
    uid_t uid;
    const char *name;    /* uplink name from the greeting ("startd/wn01"); "": none */
    const char *address; /* address of the peer, for log and error messages */
    /* True: the request came through a hub; identity and scopes are those of the original
     * caller, verified by this process. */
    bool relayed;
};

/* Returns whether the peer may use this uplink name, or this Name in an ad.  True if its token has
 * no pattern, or the pattern matches what follows the last '@' or '/' in name ("slot1@wn01",
 * "startd/wn01": "wn01").  Scopes are not checked. */
bool wire_peer_may_advertise(const struct wire_peer *peer, const char *name);

/* ---- calls ----------------------------------------------------------------------------------- */

/* A reply, or one part of it. */
struct wire_reply {
    /* 0 or a negative errno; -ETIMEDOUT, -ECONNRESET: set by the caller's side, no reply came */
    int status;
    const char *text; /* reason in one line when status < 0, else "" */
    bool more;        /* true: another part of the reply follows */
    /* Id of the token of the daemon that answered through a hub; "" when the hub itself answered,
     * and for direct calls. */
    const char *token_id;
    /* The members from here on are borrowed for the callback, which may keep an ad by
     * wire_reply_take_ad().  args: the reply's arguments; NULL: none. */
    struct ad *args;
    struct ad **ads;
    size_t ad_count;
    const void *blob;
    size_t blob_length;
    const struct wire_secret *secrets;
    size_t secret_count;
};
typedef void (*wire_reply_f)(void *arg, struct wire_reply *reply);
/* Sets the pool of ads (classad/ad_pool.h) in which the ads of later replies are made; it must
 * outlive wire.  NULL: the pool of ads of wire's context. */
void wire_set_pool(struct wire *wire, struct ad_pool *pool);
/* Returns the ad, owned by the caller from now on; its entry in reply->ads becomes NULL. */
struct ad *wire_reply_take_ad(struct wire_reply *reply, size_t index);

#define WIRE_NO_DEADLINE UINT64_MAX
/* Sends a request.  call gets the reply (each part, then the last one), never inside wire_call().
 * deadline_ms: 0 means the verb's own deadline, WIRE_NO_DEADLINE means none.  The deadline restarts
 * with each part; a WATCH has none.  Returns a number > 0 for wire_cancel().  On error call is
 * never called: -ENOTCONN before the greeting is done or after the end; -EBUSY with
 * WIRE_REQUESTS_MAX calls unanswered; -EMSGSIZE when the message does not fit in one frame. */
int64_t wire_call(struct wire *wire, enum wire_verb verb, const struct wire_body *body,
                  uint64_t deadline_ms, wire_reply_f call, void *arg);
/* Sends a request that is answered only if the peer has something to report; such a reply goes to
 * the connection's `complaint` event.  Use it for frequent requests, the loss of each of
 * which is repaired by the next request: for a daemon with ten thousand peers an answer costs as
 * much as the request.  Returns as wire_call(), but never -EBUSY. */
int64_t wire_tell(struct wire *wire, enum wire_verb verb, const struct wire_body *body);
/* Gives up a request: its callback is not called any more, and a frame CANCEL tells the
 * peer. */
void wire_cancel(struct wire *wire, int64_t request);

/* Sends a request through the hub at the other end of wire to the uplink of that name.  The request
 * is signed with the key of this process's token, and the receiver verifies the signature.  The
 * receiver signs the answer, and it is verified before call gets it.  A reply's status may be
 * -EHOSTUNREACH (no such uplink) or -EBADMSG (the answer is not signed by the uplink of that name).
 * A name that ends in '/' ("rooster/") means any uplink of that kind; the hub uses the same uplink
 * for all callers as long as this uplink is connected.  Requests to one receiver may overtake one
 * another, because some are signed a second time (relay.c).  Returns as wire_call(), or -ENOKEY
 * when this process has no token and key. */
int64_t wire_relay(struct wire *wire, const char *uplink_name, enum wire_verb verb,
                   const struct wire_body *body, uint64_t deadline_ms, wire_reply_f call,
                   void *arg);

/* ---- answering ------------------------------------------------------------------------------- */

/* Called for each request that the peer is allowed to make.  The handler answers now or later, with
 * exactly one last reply. */
typedef void (*wire_handler_f)(void *arg, struct wire_request *request);

enum wire_verb wire_request_verb(const struct wire_request *request);
const struct wire_peer *wire_request_peer(const struct wire_request *request);
/* Returns the connection of the request; NULL when the connection is gone. */
struct wire *wire_request_wire(const struct wire_request *request);
/* Returns the request's arguments; never NULL, an empty ad if none came. */
const struct ad *wire_request_args(const struct wire_request *request);
/* Returns the number of decoded ads; 0 for a verb whose ads are left as bytes. */
size_t wire_request_ad_count(const struct wire_request *request);
const struct ad *wire_request_ad(const struct wire_request *request, size_t index);
/* Returns the ad with this index, owned by the caller from now on. */
struct ad *wire_request_take_ad(struct wire_request *request, size_t index);
/* For a verb whose ads are left as bytes (wire_verb_ads_are_bytes(): UPDATE, whose receiver decodes
 * each ad against the ad that it replaces).  Returns the next ad in binary form, NULL at the end.
 * Only allowed in the handler, before it answers.  The bytes are not trusted, and borrowed until
 * the handler returns. */
const void *wire_request_next_ad_bytes(struct wire_request *request, size_t *length);
/* Returns how many ads wire_request_next_ad_bytes() will still return. */
size_t wire_request_ad_bytes_left(const struct wire_request *request);
/* Returns the secret of that kind that belongs to the request's arguments; "" when there is
 * none. */
const char *wire_request_secret(const struct wire_request *request, enum wire_secret_kind kind);
/* Returns all secrets of the request: first those of the ads, in order, then those of args.  They
 * live as long as the request. */
const struct wire_secret *wire_request_secrets(const struct wire_request *request, size_t *count);
const void *wire_request_blob(const struct wire_request *request, size_t *length);

/* Answers the request with success, and ends it; body may be NULL. */
void wire_reply_ok(struct wire_request *request, const struct wire_body *body);
/* Answers the request with status, a negative errno, and a text, and ends it. */
void wire_reply_error(struct wire_request *request, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Counts memory that the handler holds for this request as bytes of the request, until the request
 * ends (docs/protocol/wire.md, section 8).  Returns 0; or -EBUSY, with err and nothing counted,
 * when that is more than the caller may have. */
int wire_request_charge(struct wire_request *request, size_t bytes, struct err *err);
/* Tells that the handler itself logs why it refuses.  Otherwise wire_reply_error() and
 * wire_reply_refusal() log errors about the caller's rights and limits (-EACCES, -EPERM, -EDQUOT,
 * -ENOKEY and the like) as wire.denied, with identity, verb and peer. */
void wire_request_logged(struct wire_request *request);
/* Like wire_reply_error(), with an ad of attributes that describe the refusal (args may be
 * NULL). */
void wire_reply_refusal(struct wire_request *request, const struct ad *args, int status,
                        const char *why);
/* Sends a part of the reply; further parts may follow.  The part is sent in any case.  Returns
 * false when it filled the window: then wait for the drained callback before the next part.  A part
 * too large for a message ends the answer with -EMSGSIZE at the peer; what the handler sends
 * afterwards is dropped. */
bool wire_reply_part(struct wire_request *request, const struct wire_body *body);
/* Sets a callback: drained is called when further parts of the reply may be sent, after
 * wire_reply_part() has returned false. */
void wire_request_on_drained(struct wire_request *request, void (*drained)(void *arg), void *arg);
/* Sets a callback: gone is called when the peer cancels the request or disconnects before the
 * last reply.  The handler frees its state for the request there; the request is freed after the
 * call. Without a gone callback the request stays until it is answered, and the answer is
 * dropped. */
void wire_request_on_gone(struct wire_request *request, void (*gone)(void *arg), void *arg);

/* ---- connections ----------------------------------------------------------------------------- */

/* Callbacks of a connection. */
struct wire_events {
    /* both sides have accepted the greeting; may be NULL */
    void (*ready)(void *arg, struct wire *wire);
    /* the peer has sent a request, see wire_handler_f; NULL: all requests are refused with
     * -ENOSYS */
    wire_handler_f request;
    /* Reply to a request sent by wire_tell(): a failure, or more than plain success.  May be
     * NULL. */
    wire_reply_f complaint;
    /* The connection is over; its owner frees it with wire_close().  status -EACCES: the greeting
     * was refused, `why` gives the reason. */
    void (*closed)(void *arg, struct wire *wire, int status, const char *why);
    /* A peer that this side attends to (wire_attend()) has not answered a PING; silent_ms: time
     * since its last byte.  Or it is heard again: silent_ms 0.  May be NULL. */
    void (*silent)(void *arg, struct wire *wire, uint64_t silent_ms);
};

#define TOKEN_ENDS_S (INT64_C(7) * 86400) /* so long before its end, a token should be renewed */

/* What all connections of a process share: loop, os, log, token, keys, name of the pool. */
struct wire_context;

struct wire_context_options {
    struct loop *loop;
    struct os *os;
    struct log *log;
    /* File with the token of this process and its private key, read at each dial.  NULL or no such
     * file: no token, Unix sockets only. */
    const char *token_path;
    /* Directory of the pool's public signing keys, which verify tokens.  NULL: none; then no TCP
     * peer is accepted and no answer through a hub. */
    const char *pool_keys;
    /* true: the public keys are read only when they are first needed; for a tool, which may end
     * without them */
    bool keys_when_asked;
    /* The pool whose tokens are accepted; NULL or "": the pool of the token at token_path, else
     * uid_domain. */
    const char *pool;
    /* The pool's CA, which must have signed the certificates of dialled servers, unless a pin is
     * set. */
    const char *ca_file;
    /* SHA-256 of the collector's certificate in hex; colons and case do not matter.  A server
     * dialled on the route "collector" must show this certificate.  NULL or "": the CA decides, as
     * for others. */
    const char *collector_pin;
    const char *uid_domain; /* peers on Unix sockets have the identity user@uid_domain */
    uid_t admin_uid;        /* this uid and root are ADMINISTRATOR on Unix sockets */
    /* Directory and name of the file in which `roost start` reads why a daemon cannot join the pool
     * (base/daemon/daemon_complaint.h); NULL: no file. */
    const char *complaint_dir, *complaint_name;
    /* File in which a daemon keeps the revocations that it knows (wire/revocations.h); NULL: no
     * file. */
    const char *revocations_path;
};
/* Makes a context; *ret is the caller's.  Returns 0, or an error of reading the keys. */
int wire_context_create(const struct wire_context_options *options, struct wire_context **ret,
                        struct err *err);
/* Applies new paths of token, keys and CA and a new uid_domain (other options are ignored), and
 * reads the files again.  Connections stay as they are.  Returns 0; or the error of reading the
 * keys, and then nothing is changed. */
int wire_context_change(struct wire_context *context, const struct wire_context_options *options,
                        struct err *err);
/* Frees the context, and the remaining wires without calling their callbacks.  To be called
 * after hubs, uplinks and watch servers are destroyed, and not inside a callback of a wire.
 * NULL is allowed. */
void wire_context_destroy(struct wire_context *context);
/* Refuses the token of this id from now on, at greetings and in relayed requests.  Closes
 * connections that use it, and ends requests that were made with it through a hub. */
void wire_context_revoke(struct wire_context *context, const char *token_id);
/* Sets the context's callback for revoked tokens.  revoked is called after
 * wire_context_revoke(), once for each token id that was not refused before, so that claims and
 * tickets of that token can end. */
void wire_context_on_revoked(struct wire_context *context,
                             void (*revoked)(void *arg, const char *token_id), void *arg);
/* Returns when this process's token ends, seconds since 1970, if that is less than TOKEN_ENDS_S
 * away (or past); else 0.  A process with a log warns of that, too, once a day. */
int64_t wire_context_token_ends_s(struct wire_context *context);
/* Forgets the revocation of a token, because the token has expired anyway. */
void wire_context_forget(struct wire_context *context, const char *token_id);
struct loop *wire_context_loop(const struct wire_context *context);
bool wire_context_is_revoked(const struct wire_context *context, const char *token_id);

/* How to dial a server. */
struct wire_dial {
    const char *address;
    const char *route;
    const char *name; /* uplink name of the side that dials; "": none */
    /* SHA-256 of the server's certificate; NULL: verify it with the pool's CA and the route's role
     * (wire/wire_trust.c) */
    const char *pin;
    /* name of the server as in its ad, which its certificate must have if the CA is used to verify
     * the certificate; NULL: any name */
    const char *server;
    /* further attributes for the greeting, such as the job id that a starter tells a shadow; may be
     * NULL */
    const struct ad *hello;
    /* secrets for the greeting, such as the nonce that a starter shows a shadow; `of` is
     * SECRET_OF_ARGS in each */
    const struct wire_secret *secrets;
    size_t secret_count;
    /* Scopes that the dialled server has when it sends requests on this connection, although
     * it has a certificate and no token: SCOPE_SCHEDD on a claim's connection.  0: the
     * server may use only verbs without a scope. */
    uint32_t server_scopes;
};
/* Dials a server; dial is copied.  The result comes later, as the event ready or closed.  Returns 0
 * and sets *ret, or a negative errno when dialling could not begin. */
int wire_dial(struct wire_context *context, const struct wire_dial *dial,
              const struct wire_events *events, void *arg, struct wire **ret, struct err *err);
/* What a caller sent in its greeting besides token and proof. */
struct wire_hello {
    const struct ad *ad; /* further attributes of the greeting; never NULL */
    const struct wire_secret *secrets;
    size_t secret_count;
};
/* Returns the secret of that kind in the greeting; "" when there is none. */
const char *wire_hello_secret(const struct wire_hello *hello, enum wire_secret_kind kind);

/* How to accept incoming connections. */
struct wire_accept {
    /* certificate and key of this server; NULL for Unix sockets */
    const struct tls_identity *identity;
    bool no_token; /* true: no token is asked for; the callback admit alone decides */
    /* True: the greeting proves nothing, and the proof comes later, for example as a claim id in
     * a request.  The peer's frames, requests and time are limited strictly until the owner
     * calls wire_proved(). */
    bool proves_later;
    /* With no_token: scopes of an admitted peer, such as SCOPE_ADVERTISE on the schedd's route
     * `claim`, where the claim id is the proof.  0: the peer may use only verbs without a scope.  A
     * token that such a peer sends is ignored. */
    uint32_t scopes;
    /* May refuse a peer whose greeting is valid (a shadow checks the job's nonce).  Returns 0, or
     * -EACCES with err.  May be NULL. */
    int (*admit)(void *arg, const struct wire_peer *peer, const struct wire_hello *hello,
                 struct err *err);
};
/* Makes a wire of an incoming connection, which it takes over, also when it fails.  The result
 * comes later, as the event ready or closed.  Returns 0 and sets *ret, or -ECONNABORTED when the
 * peer has gone. */
int wire_accept(struct wire_context *context, struct incoming *incoming,
                const struct wire_accept *how, const struct wire_events *events, void *arg,
                struct wire **ret, struct err *err);
/* Tells that the peer of an accepted connection has proved who it is.  May be called in admit; a
 * second call does nothing.  Closes the connection if the peer's identity has too many
 * connections. */
void wire_proved(struct wire *wire);
/* Attends to the peer from now on: its silence is noticed within seconds, and reported by the event
 * `silent` long before it ends the connection.  A second call does nothing. */
void wire_attend(struct wire *wire);
/* Returns the largest frame that the dialled server accepts, as it said in its greeting: less
 * than WIRE_FRAME_MAX until this side has proved who it is. */
size_t wire_peer_frame_max(const struct wire *wire);
/* Closes the connection from the loop, after wire_close() has returned.  This side's unanswered
 * calls then get -ECONNRESET and the peer's requests get their gone callback; no other callback
 * follows, and none at all after wire_context_destroy().  NULL is allowed. */
void wire_close(struct wire *wire);
void wire_finish(struct wire *wire); /* sends what is queued, then closes the connection */
const struct wire_peer *wire_peer(const struct wire *wire);
bool wire_is_ready(const struct wire *wire);

/* What accepted connections use now, and how often a limit was exceeded (wire/wire_limits.h). */
struct wire_figures {
    size_t strangers; /* connections whose peers have not proved who they are */
    /* connections of strangers that were closed because a newer stranger needed the room */
    uint64_t strangers_sent_away;
    /* peers that have proved who they are: identities, and their connections */
    size_t identities, connections;
    /* bytes held for peers that have proved who they are: unfinished frames, unanswered
     * requests, output that they have not read */
    size_t frame_bytes, request_bytes, unread_bytes;
    const char *busiest; /* identity that holds the most bytes; "": none */
    size_t busiest_bytes;
    uint64_t complaints;       /* connections ended or requests refused because of a limit */
    const char *last_offender; /* identity that exceeded a limit last; "": none, or long ago */
};
/* Fills *ret.  Its texts are valid until the caller returns to the loop. */
void wire_context_figures(const struct wire_context *context, struct wire_figures *ret);

/* ---- uplink: a connection that is dialled again whenever it ends ----------------------------- */

struct uplink;
struct uplink_events {
    /* The uplink has connected, for the first time or again.  The callback must send again what the
     * other end needs, because that end may know nothing of earlier connections. */
    void (*up)(void *arg, struct wire *wire);
    /* Disconnected; the uplink dials again by itself, with jittered back-off of 50 ms to 5 s.  May
     * be NULL. */
    void (*down)(void *arg, const char *why);
    wire_handler_f request;
    wire_reply_f complaint; /* reply to a request sent by wire_tell(), as in struct wire_events */
};
/* Makes an uplink, a connection that is dialled again whenever it ends.  address may be a
 * comma-separated list, whose entries are tried in turn.  Returns 0 and sets *ret, or a negative
 * errno. */
int uplink_create(struct wire_context *context, const struct wire_dial *dial,
                  const struct uplink_events *events, void *arg, struct uplink **ret,
                  struct err *err);
/* Sets another list of addresses.  If the current address is not in it, the uplink connects anew.
 * Returns 0, or -EINVAL for an empty list, and nothing changes. */
int uplink_change(struct uplink *uplink, const char *address, struct err *err);
void uplink_destroy(struct uplink *uplink);
/* the uplink's connection; NULL while down */
struct wire *uplink_wire(const struct uplink *uplink);

/* ---- hub: the other end of uplinks ----------------------------------------------------------- */

/* A hub keeps uplinks by name and carries RELAY requests to them, with the caller's token and
 * proof, neither of which the hub could use itself.  A second uplink of the same name replaces the
 * first if its identity is the same; otherwise it is refused. */
struct hub;
struct hub *hub_create(struct wire_context *context);
void hub_destroy(struct hub *hub);
/* Adds a connection as an uplink; call it in the ready callback.  A wire without a name is ignored.
 * Returns 0, or -EEXIST when an uplink of another identity has the name: the peer was told, and the
 * connection is over (call wire_close() now or in the callback closed). */
int hub_add(struct hub *hub, struct wire *wire, struct err *err);
void hub_remove(struct hub *hub, struct wire *wire);
/* Answers a RELAY request: carries it to the uplink that it names. */
void hub_relay(struct hub *hub, struct wire_request *request);

#endif
