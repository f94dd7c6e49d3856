/* wire/wire_private.h - what the files of wire/ know of one another.
 *
 *   wire_context.c  what the connections of a process share; connections that a revocation ends
 *   wire_known.c    what is known of tokens: our own, the pool's keys, which are revoked
 *   greeting.c      who is at the other end, and what it may be called
 *   wire.c          one connection: frames that come in, greeting, pings, its turns
 *   wire_out.c      ... what it sends, and that it is over
 *   wire_limits.c   what a peer that has proved nothing, and one identity, may use
 *   request_view.c  what a handler sees of a request
 *   call.c          requests of ours: replies, windows, deadlines
 *   request.c       requests of the peer: who made them, answers, parts
 *   relay.c         requests of ours that a hub carries
 *
 * The life of a connection.  A wire is GREETING, then READY, then OVER; wire_fail() is the only way
 * to OVER.  What the end means to others (closed, -ECONNRESET, gone) is told in the wire's turn
 * (the context's timer `turn`), which also writes what was gathered in `out` during a turn of the
 * loop, so that no callback runs inside the call that caused it.  wire_close() gives the wire up:
 * it is freed by the next turn, or by wire_context_destroy(), which tells nobody anything any more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_WIRE_PRIVATE_H
#define WIRE_WIRE_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/strbuf.h"
#include "base/stream/stream.h"
#include "wire/credential.h"
#include "wire/frame.h"
#include "wire/id_table.h"
#include "wire/instance.h"
#include "wire/revocations.h"
#include "wire/token.h"
#include "wire/token_cache.h"
#include "wire/wire.h"
#include "wire/wire_limits.h"

struct ad;
struct ad_pool;
struct err;
struct loop_timer;
struct stream;
struct strmap;

/* ---- who calls: shared by the connection and the requests that outlive it -------------------- */

struct caller {
    unsigned refs;
    struct wire_peer peer; /* its texts are below */
    struct token token;    /* zero over a Unix socket, and where no token is looked at */
    char identity[512];
    char name[WIRE_NAME_MAX + 1];
    char
        instance[INSTANCE_TEXT_SIZE]; /* as said in the greeting, and later by INSTANCE; "": none */
    char address[FRAME_FROM_MAX];
};

struct caller *caller_create(const char *address);
struct caller *caller_ref(struct caller *caller);
void caller_unref(struct caller *caller); /* NULL is allowed */

/* ---- context --------------------------------------------------------------------------------- */

struct wire_context {
    struct loop *loop;
    struct os *os;
    struct log *log;
    char *ca_file, *uid_domain; /* NULL: none */
    char *pool;                 /* whose tokens are good here; NULL: that of our own token */
    char collector_pin[STREAM_PIN_SIZE]; /* "": none */
    uid_t admin_uid;
    char *keys_path;         /* NULL: nobody is accepted by token */
    struct token_keys *keys; /* NULL: none there */
    uint64_t keys_read_ms;
    bool keys_were_read;
    struct token_cache *tokens; /* of others */
    struct credential own;
    struct instance instance; /* of relayed requests that come to us */
    struct strmap *revoked;
    void (*on_revoked)(void *arg, const char *token_id); /* NULL: nobody asks */
    void *on_revoked_arg;
    struct revocations *revocations; /* what the collector tells of them */
    struct ad_pool *args_pool;       /* of requests, and of replies where wire has no other */
    struct wire *first;              /* all wires, also those that are only waiting to be freed */
    TAILQ_HEAD(wire_turns, wire) turns; /* those that get a turn after what runs now */
    size_t turn_count;
    struct loop_timer *turn; /* set while there are some */
    struct wire_limits *limits;
    struct denials *denials;
};

/* Reads the public keys again, unless that was done a moment ago: a new key, or none so far.  True
 * when they were read. */
bool wire_context_reload_keys(struct wire_context *context);
/* The timer `turn`. */
void wire_context_turns(void *context);
/* Frees all wires, telling nobody. */
void wire_context_sweep(struct wire_context *context);
/* Our own token and key, read again if the last reading is older than max_age_ms.  NULL: there is
 * none, and own.why says why. */
const struct credential *wire_context_own(struct wire_context *context, uint64_t max_age_ms);
/* The pool whose tokens are good here; "": not known. */
const char *wire_context_pool(struct wire_context *context);

/* ---- greeting -------------------------------------------------------------------------------- */

/* Checks a token text and sets the caller's identity, scopes, id and pattern from it.  *holder is
 * the key that the caller has yet to prove to have; it is good until the next token is judged. */
int greeting_judge_token(struct wire_context *context, const char *text, struct caller *caller,
                         struct evp_pkey_st **holder, struct err *err);
/* Sets identity and scopes of a peer of a Unix socket. */
void greeting_judge_uid(const struct wire_context *context, uid_t uid, struct caller *caller);
/* May the caller be reached under that name?  -EACCES, -EINVAL. */
int greeting_judge_name(const struct caller *caller, const char *name, struct err *err);
/* Adds token and proof to the arguments of HELLO; binding NULL: none are offered. */
int greeting_offer_proof(struct wire_context *context, const char *route, const char *name,
                         const uint8_t *binding, struct ad *args, struct err *err);
/* Where a HELLO came in. */
struct greeting_place {
    const struct wire_accept *how;
    const char *route;
    const uint8_t *binding; /* of the TLS connection; NULL over a Unix socket */
};
/* All of HELLO.  The caller has its uid already where there is one.  *hello is the ad inside, NULL
 * when none, and lives as long as message. */
int greeting_judge_hello(struct wire_context *context, const struct frame *frame,
                         const struct frame_message *message, const struct greeting_place *place,
                         struct caller *caller, const struct ad **hello, struct err *err);

/* ---- connection ------------------------------------------------------------------------------ */

enum wire_state { WIRE_GREETING, WIRE_READY, WIRE_OVER };

struct wire_end { /* how it ends: set by wire_fail() */
    int status;
    char *why;
    bool given_up; /* wire_close() was called: freed by the next turn */
    bool told;     /* closed was called, or never will be */
    bool finish;   /* what is queued is sent before the end */
};

struct wire {
    struct wire_context *context;
    struct wire *previous, *next;
    struct ad_pool *pool; /* of the ads in replies; not ours */
    enum wire_state state;
    bool dialled;
    bool input_waits; /* the budget of a turn ran out with input left */
    bool pinged;      /* nothing came since our PING */
    struct stream *stream;
    TAILQ_ENTRY(wire) turn_entry;
    bool in_turns;
    struct loop_timer *clock, *deadlines;
    struct wire_events events;
    void *arg;
    char *route, *said_name; /* said_name: ours, where we dialled */
    struct ad *hello; /* dialled: what HELLO will say besides the token; NULL once it is sent */
    struct secret_list *hello_secrets; /* beside it */
    struct wire_accept how;            /* accepted */
    struct caller *caller;
    uint32_t server_scopes;
    size_t peer_frame_max; /* as the server said in WELCOME */
    struct strbuf out;
    struct wire_share share;
    uint64_t last_input_ms, pinged_ms;
    struct wire_end end;
    unsigned denied_count;

    /* calls of ours, requests of the peer, relays through the hub at the other end */
    struct id_table calls, requests, relays;
    uint64_t last_relay;
    struct strmap *instances; /* of who was asked through the hub: name -> text; NULL: none yet */
    uint64_t last_call, last_request; /* numbers */
    size_t request_bytes;
    struct wire_request *handled; /* whose ads are bytes, while its handler runs */
    struct frame_ads handled_ads; /* those that it has not taken */
    uint64_t deadline_next_ms;    /* when `deadlines` is set for; UINT64_MAX: not */
};

/* Ends the connection: at once for us, told to the owner in the next turn.  goodbye: the peer is
 * told status and why first. */
void wire_fail(struct wire *wire, int status, bool goodbye, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* A sign of life. */
void wire_ping(struct wire *wire);
/* The wire gets a turn after what runs now: what is in `out` goes then. */
void wire_turn_take(struct wire *wire);
void wire_turn_forget(struct wire *wire);
void wire_out_init(struct wire *wire);
void wire_flush(struct wire *wire); /* writes what is in `out` */
void wire_send_opaque(struct wire *wire, enum frame_type type, uint64_t opaque); /* PING, PONG */
/* Closes the frame begun in wire->out.  0 or -EMSGSIZE. */
int wire_frame_end(struct wire *wire, size_t begin, const void *blob, size_t blob_length);

/* ---- requests -------------------------------------------------------------------------------- */

/* A relayed request is answered with signed replies. */
struct answering {
    uint8_t request_digest[P256_DIGEST_BYTES];
    uint64_t part; /* of the next reply */
};

/* One that the peer made: request.c keeps it, request_view.c shows it to its handler. */
struct wire_request {
    struct id_node node; /* first */
    struct wire *wire;   /* NULL: the connection is gone */
    struct caller *caller;
    enum wire_verb verb;
    struct frame_message message;
    void *blob;
    size_t bytes;     /* as counted against the peer */
    size_t in_flight; /* bytes of parts not returned by WINDOW */
    bool full;
    struct answering *answering; /* of a relayed request: what its answers are signed with */
    bool quiet;                  /* a success of which there is nothing to say is not answered */
    bool cancelled;
    bool logged;                 /* its refusal: by its handler */
    bool ending;                 /* gone() runs */
    void (*has_room)(void *arg); /* the peer reads again */
    void *has_room_arg;
    void (*gone)(void *arg);
    void *gone_arg;
    void (*window)(void *arg, uint32_t bytes);
    void *window_arg;
};

struct stream_trust;
/* What the server must show that is dialled so (wire_trust.c).  -EINVAL: there is nothing to know
 * it by. */
int wire_trust(const struct wire_context *context, const struct wire_dial *dial,
               struct stream_trust *ret, struct err *err);

/* Frames of the peer, connection READY.  0, or a negative errno with err: the peer is dropped. */
int request_take(struct wire *wire, const struct frame *frame, struct err *err);
int request_reply(struct wire *wire, const struct frame *frame, struct err *err);
int request_cancel(struct wire *wire, const struct frame *frame, struct err *err);
int request_window(struct wire *wire, const struct frame *frame, struct err *err);
void request_deadlines(void *wire);             /* the timer */
void request_output_drained(struct wire *wire); /* the peer reads again: more parts may go */
void call_tell_all_over(struct wire *wire);     /* -ECONNRESET to calls */
void call_drop_all(struct wire *wire);          /* frees them, telling nobody */
void request_tell_all_over(struct wire *wire);  /* -ECONNRESET to calls, gone to requests */
/* Ends the requests that a hub brought and that were made with that token. */
void request_end_revoked(struct wire *wire, const char *token_id);
void request_drop_all(struct wire *wire); /* frees them, telling nobody */

/* Calls whose replies are seen as frames: the hub passes them on, relay.c checks who signed them.
 * reply->body is empty (length 0) when it was made on this side. */
typedef void (*wire_raw_f)(void *arg, const struct frame *reply);
int64_t wire_call_raw(struct wire *wire, enum wire_verb verb, const struct wire_body *body,
                      uint64_t deadline_ms, wire_raw_f call, void *arg);
/* What a hub carries: the caller block of docs/protocol/wire.md section 2.2, and the body. */
struct relayed {
    uint16_t verb;
    uint32_t deadline_ms;
    const char *token, *from, *instance;
    uint64_t number;
    const uint8_t *proof;
    const void *body;
    size_t body_length;
};
int64_t wire_call_relayed(struct wire *wire, const struct relayed *relayed, wire_raw_f call,
                          void *arg);
/* ---- relays of our own: relay.c ---- */
/* True: the number is that of a relay of ours, which is over now. */
bool relay_cancel(struct wire *wire, int64_t number);
void relay_tell_all_over(struct wire *wire); /* -ECONNRESET to those that wait to ask again */
void relay_drop_all(struct wire *wire);      /* frees them, telling nobody */
/* Returns window to the answering side; unknown requests are left alone. */
void wire_call_return_window(struct wire *wire, int64_t request, uint32_t bytes);
/* Passes a reply on; the last one ends the request. */
void wire_reply_raw(struct wire_request *request, const struct frame *reply);
/* Called instead of keeping count when the peer returns window for parts passed on. */
void wire_request_on_window(struct wire_request *request, void (*window)(void *arg, uint32_t bytes),
                            void *arg);
/* wire_reply_part() of a body that was made before (frame_put_body()) and fits in a frame: many get
 * the same. */
bool wire_reply_part_made(struct wire_request *request, const void *body, size_t length);
const struct caller *wire_request_caller(const struct wire_request *request);

#endif
