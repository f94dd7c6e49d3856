/* wire/wire_private.h - what the files of wire/ share with one another, and nobody else.
 *
 *   wire_context.c  what the connections of a process share; closes connections of revoked tokens
 *   wire_known.c    what is known of tokens: the process's own, the pool's keys, revoked tokens
 *   greeting.c      who is at the other end, and which name it may use
 *   wire.c          one connection: incoming frames, greeting, pings, work in its turn
 *   wire_out.c      one connection: outgoing frames, and its end
 *   wire_limits.c   limits of an unproved peer, and of one identity
 *   request_view.c  what a handler sees of a request
 *   call.c          requests of this process: replies, windows, deadlines
 *   request.c       the peer's requests: who made them, answers, parts
 *   relay.c         requests of this process that a hub carries
 *
 * The life of a connection.  A wire is GREETING, then READY, then OVER; only wire_fail() makes it
 * OVER.  The callbacks about its end (closed, -ECONNRESET, gone) run in the wire's next turn: the
 * context's timer `turn` works on each wire in the list `turns`.  The turn also writes what was
 * collected in `out`.  So no callback runs inside the call that caused it.  wire_close() gives the
 * wire up: the next turn frees it, or wire_context_destroy(), which calls no callbacks any more.
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

/* ---- who calls ------------------------------------------------------------------------------- */

#define CALLER_IDENTITY_MAX 512 /* most bytes of a caller's identity, with the terminating zero */

/* What a caller's token says (struct token in wire/token.h), its texts as long as they are: ten
 * thousand connections of a collector each have one. */
struct caller_token {
    char *texts; /* all texts, one behind the other; NULL: no token, and the texts are "" */
    const char *id, *identity, *pool, *pattern, *uid_domain, *owners;
    int64_t expires_s;
};

/* The sender of requests: who it is and what it may do.  Counted by reference, because a connection
 * shares it with its requests, which may outlive the connection. */
struct caller {
    unsigned refs;
    struct wire_peer peer; /* its texts are in the other members of this struct */
    /* the caller's token; empty on a Unix socket, and where no token is asked for */
    struct caller_token token;
    char *identity, *name, *address; /* never NULL */
    /* the caller's instance id (wire/instance.h), from its greeting or its last request INSTANCE;
     * "": none */
    char instance[INSTANCE_TEXT_SIZE];
};

struct caller *caller_create(const char *address);
struct caller *caller_ref(struct caller *caller);
void caller_unref(struct caller *caller); /* NULL is allowed */

/* ---- context --------------------------------------------------------------------------------- */

struct wire_context {
    struct loop *loop;
    struct os *os;
    struct log *log;
    /* path of the pool's CA, NULL: none; domain for identities on Unix sockets, NULL: none */
    char *ca_file, *uid_domain;
    /* the pool whose tokens are accepted; NULL: the pool in this process's token, else uid_domain
     */
    char *pool;
    char collector_pin[STREAM_PIN_SIZE]; /* "": none */
    uid_t admin_uid;
    char *keys_path;         /* directory of the pool's public keys; NULL: no token is accepted */
    struct token_keys *keys; /* the pool's public keys; NULL: none found */
    uint64_t keys_read_ms;
    bool keys_were_read;
    struct token_cache *tokens; /* cache of verified tokens of peers */
    struct credential own;      /* the token and key of this process */
    /* where the process says that the collector refuses it; NULL: nowhere */
    char *complaint_dir, *complaint_name;
    bool complained;          /* true: it said so, and was not accepted since */
    struct instance instance; /* accepts each relayed request to this process only once */
    struct strmap *revoked;   /* keys: token ids that are refused */
    /* called for each newly revoked token; NULL: no callback is set */
    void (*on_revoked)(void *arg, const char *token_id);
    void *on_revoked_arg;
    struct revocations *revocations; /* the revocations that the collector publishes */
    /* pool of ads (classad/ad_pool.h) for requests, and for replies if wire.pool is NULL */
    struct ad_pool *args_pool;
    struct wire *first; /* all wires, also those that wait to be freed */
    /* wires that the timer `turn` works on after the current callback: it writes their output,
     * reads input that waits, and ends or frees them */
    TAILQ_HEAD(wire_turns, wire) turns;
    size_t turn_count;
    size_t attended;         /* number of wires for which wire_attend() was called */
    struct loop_timer *turn; /* calls wire_context_turns() when wires wait for their turns */
    struct wire_limits *limits;
    struct denials *denials;
    struct loop_timer *token_timer; /* calls wire_context_watch_token() each day */
};

/* Reads the public keys again, unless this was tried in the last 2 seconds; called for a token with
 * an unknown key.  Returns whether they were read; if not, the old keys stay. */
bool wire_context_reload_keys(struct wire_context *context);
/* Callback of the timer `turn`: works on each wire in context->turns: writes its output, reads
 * input that waits, ends it or frees it. */
void wire_context_turns(void *context);
/* Frees all wires without calling their callbacks. */
void wire_context_sweep(struct wire_context *context);
/* Returns the token and key of this process, read again if they were last read more than max_age_ms
 * ago.  NULL: the process has none, and context->own.why says why. */
const struct credential *wire_context_own(struct wire_context *context, uint64_t max_age_ms);
/* Callback of the timer `token_timer`: warns if this process's token ends soon, and sets the timer
 * again. */
void wire_context_watch_token(void *context);
/* Returns the pool whose tokens are accepted; "": not known. */
const char *wire_context_pool(struct wire_context *context);

/* ---- greeting -------------------------------------------------------------------------------- */

/* Checks the token in text and sets the caller's identity, scopes, id and pattern from it.  *holder
 * is the public key whose private part the caller must still prove to have; valid until the next
 * token is checked.  Returns 0 or a negative errno with err. */
int greeting_judge_token(struct wire_context *context, const char *text, struct caller *caller,
                         struct evp_pkey_st **holder, struct err *err);
/* Sets identity and scopes of a peer on a Unix socket. */
void greeting_judge_uid(const struct wire_context *context, uid_t uid, struct caller *caller);
/* Checks whether the caller may use that uplink name.  Returns 0; -EACCES: the scopes or the name
 * pattern of its token do not allow the name; -EINVAL: the name is malformed. */
int greeting_judge_name(const struct caller *caller, const char *name, struct err *err);
/* Adds the token of this process, and the proof for this route and uplink name, to args, the
 * arguments of HELLO.  binding: channel binding of the TLS connection; NULL (a Unix socket):
 * nothing is added.  Returns 0, or a negative errno with err. */
int greeting_offer_proof(struct wire_context *context, const char *route, const char *name,
                         const uint8_t *binding, struct ad *args, struct err *err);
/* How and where a HELLO came in. */
struct greeting_place {
    const struct wire_accept *how;
    const char *route;
    const uint8_t *binding; /* channel binding of the TLS connection; NULL on a Unix socket */
};
/* Checks a whole HELLO and fills caller; caller->peer must have the uid already if it is known.
 * *hello is the ad that the caller sent along, NULL when none; it lives as long as message.
 * Returns 0, or a negative errno with err. */
int greeting_judge_hello(struct wire_context *context, const struct frame *frame,
                         const struct frame_message *message, const struct greeting_place *place,
                         struct caller *caller, const struct ad **hello, struct err *err);

/* Notes for `roost start` that the collector refuses this process, and which token it has; why
 * NULL: the collector has accepted it. */
void wire_context_complain(struct wire_context *context, const char *why);

/* ---- connection ------------------------------------------------------------------------------ */

enum wire_state { WIRE_GREETING, WIRE_READY, WIRE_OVER };

struct wire_end { /* how a connection ends: set by wire_fail() */
    int status;
    char *why;
    bool given_up; /* true: wire_close() was called, and the wire's next turn frees it */
    bool told;     /* true: the callback closed was called, or must not be called */
    bool finish;   /* true: what is queued is sent before the end */
    int refused;   /* the server's reason to refuse our greeting, a negative errno; 0: it did not */
};

struct wire_life { /* whether the peer is heard */
    uint64_t last_input_ms, pinged_ms;
    uint64_t clock_set_ms; /* when the clock was last set for the next PING */
    bool pinged;           /* true: nothing has come since the last PING was sent */
    bool attended;         /* wire_attend() was called */
    bool doubted;          /* the answer is overdue; what may have come meanwhile is read first */
    bool silent;           /* the event `silent` has reported the peer's silence */
};

struct wire {
    struct wire_context *context;
    struct wire *previous, *next;
    struct ad_pool *pool; /* pool of ads (classad/ad_pool.h) for replies, borrowed */
    enum wire_state state;
    bool dialled;     /* true: this process dialled; false: it accepted */
    bool input_waits; /* true: input is left for the wire's next turn */
    struct stream *stream;
    TAILQ_ENTRY(wire) turn_entry;
    bool in_turns; /* true: the wire is in the list of wires that wait for their turns */
    struct loop_timer *clock, *deadlines;
    struct wire_events events;
    void *arg;
    /* route of the connection; if dialled, also the uplink name of this side, "": none */
    char *route, *said_name;
    /* if dialled: what HELLO will say besides the token; NULL once it is sent */
    struct ad *hello;
    struct secret_list *hello_secrets; /* secrets sent with hello */
    struct wire_accept how; /* for an accepted connection: the argument `how` of wire_accept() */
    struct caller *caller;
    uint32_t server_scopes; /* scopes of the dialled server (wire_dial.server_scopes) */
    size_t peer_frame_max;  /* largest frame that the dialled server accepts, from its WELCOME */
    struct strbuf out;      /* frames that the wire's next turn writes to the stream */
    struct wire_share share;
    struct wire_life life;
    struct wire_end end;
    unsigned denied_count; /* requests of this connection that were refused, for denials.h */

    /* This side's calls, the peer's requests, and this side's requests through the hub at the
     * other end; each table by number. */
    struct id_table calls, requests, relays;
    uint64_t last_relay;
    /* instance ids of receivers that were asked through the hub, by name; NULL: none yet */
    struct strmap *instances;
    /* numbers of this side's last call and of the peer's last request */
    uint64_t last_call, last_request;
    size_t request_bytes; /* bytes of the peer's unanswered requests */
    /* a request with undecoded ads whose handler is running; NULL: none */
    struct wire_request *handled;
    struct frame_ads handled_ads; /* undecoded ads that the running handler has not taken yet */
    /* loop_now_ms() at which the calls of this side are next checked for a missed deadline;
     * UINT64_MAX: no check is due */
    uint64_t deadline_next_ms;
    size_t calls_with_deadline;
};

/* Ends the connection: its state is OVER at once, and in the next turn the owner's callback closed
 * is called.  goodbye true: status and reason are first sent to the peer. */
void wire_fail(struct wire *wire, int status, bool goodbye, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Sends a PING. */
void wire_ping(struct wire *wire);
/* Makes the wire have a turn after the current callback of the loop; the turn writes the frames
 * that wait to be sent. */
void wire_turn_take(struct wire *wire);
/* Removes the wire from the list of wires that wait for their turns. */
void wire_turn_forget(struct wire *wire);
void wire_out_init(struct wire *wire);
void wire_flush(struct wire *wire); /* writes now the frames that wait for the wire's turn */
/* sends a PING or PONG with this number */
void wire_send_opaque(struct wire *wire, enum frame_type type, uint64_t opaque);
/* Completes the frame that begins at `begin` in wire->out, and lets it be sent; blob, which is sent
 * last, is the end of its body.  Returns 0; or -EMSGSIZE, and the frame is dropped. */
int wire_frame_end(struct wire *wire, size_t begin, const void *blob, size_t blob_length);

/* ---- requests -------------------------------------------------------------------------------- */

/* What is needed to sign the replies to a relayed request. */
struct answering {
    uint8_t request_digest[P256_DIGEST_BYTES];
    uint64_t part; /* number of the next reply */
};

/* A request of the peer: request.c manages it, request_view.c shows it to its handler. */
struct wire_request {
    struct id_node node; /* must be the first member */
    struct wire *wire;   /* NULL: the connection is gone */
    struct caller *caller;
    enum wire_verb verb;
    struct frame_message message;
    void *blob;
    size_t bytes;     /* bytes that are counted against the peer for this request */
    size_t in_flight; /* bytes of parts not yet acknowledged by WINDOW */
    bool full;        /* true: the window is full, the handler must wait before the next part */
    /* for signing the replies to a relayed request; NULL: not relayed */
    struct answering *answering;
    bool quiet; /* true: plain success is not answered */
    bool cancelled;
    bool logged;                 /* true: the handler itself logs why it refuses */
    bool ending;                 /* true while the callback gone() is running */
    void (*has_room)(void *arg); /* called when further parts may be sent; NULL: none */
    void *has_room_arg;
    void (*gone)(void *arg);
    void *gone_arg;
    /* set by wire_request_on_window(): called with the bytes acknowledged by WINDOW; NULL: none */
    void (*window)(void *arg, uint32_t bytes);
    void *window_arg;
};

struct stream_trust;
/* Decides what certificate a dialled server must show (wire_trust.c).  Returns 0, or -EINVAL when
 * neither pin nor CA is known. */
int wire_trust(const struct wire_context *context, const struct wire_dial *dial,
               struct stream_trust *ret, struct err *err);

/* These four functions handle a frame REQUEST, REPLY, CANCEL or WINDOW of the peer in state READY.
 * They return 0; or a negative errno with err, and then the caller ends the connection. */
int request_take(struct wire *wire, const struct frame *frame, struct err *err);
int request_reply(struct wire *wire, const struct frame *frame, struct err *err);
int request_cancel(struct wire *wire, const struct frame *frame, struct err *err);
int request_window(struct wire *wire, const struct frame *frame, struct err *err);
/* Timer callback: ends with -ETIMEDOUT those calls of this side that were not answered in time. */
void request_deadlines(void *wire);
/* the peer has read output: lets handlers send further parts */
void request_output_drained(struct wire *wire);
/* answers all unanswered calls of this side with -ECONNRESET */
void call_tell_all_over(struct wire *wire);
/* frees all unanswered calls of this side without calling their callbacks */
void call_drop_all(struct wire *wire);
/* Ends all requests: this side's calls get -ECONNRESET, the peer's requests their gone callback. */
void request_tell_all_over(struct wire *wire);
/* Ends the requests that came through a hub with the token of this id. */
void request_end_revoked(struct wire *wire, const char *token_id);
/* Drops this side's calls and the peer's requests without calling a callback.  A request without a
 * gone callback is freed only when its handler answers it. */
void request_drop_all(struct wire *wire);

/* Callback of a call whose replies are wanted as frames: by the hub, which passes them on, and
 * by relay.c, which verifies their signature.  reply->body is empty (length 0) when this side
 * made the reply. */
typedef void (*wire_raw_f)(void *arg, const struct frame *reply);
int64_t wire_call_raw(struct wire *wire, enum wire_verb verb, const struct wire_body *body,
                      uint64_t deadline_ms, wire_raw_f call, void *arg);
/* A request that a hub carries to an uplink.  token, from, instance, number and proof are the
 * caller's (see struct frame); body is the encoded body. */
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
/* ---- requests of this process through a hub: relay.c ---- */
/* Ends the request that this side sent through the hub under this number; does nothing if the
 * request has ended.  Returns false if a request through the hub cannot have such a number. */
bool relay_cancel(struct wire *wire, int64_t number);
/* Ends this side's requests through the hub that wait to be signed again, with -ECONNRESET. */
void relay_tell_all_over(struct wire *wire);
/* frees this side's requests through the hub without calling any callback */
void relay_drop_all(struct wire *wire);
/* Tells the peer that answers this side's call `request` that so many bytes of the answer's parts
 * were consumed.  Does nothing when there is no such call. */
void wire_call_return_window(struct wire *wire, int64_t request, uint32_t bytes);
/* Sends a reply frame of another daemon on to the peer that made the request; the last such
 * frame ends the request. */
void wire_reply_raw(struct wire_request *request, const struct frame *reply);
/* Sets a callback: window(arg, bytes) is called when the peer acknowledges so many bytes of parts
 * that wire_reply_raw() has passed on.  They are then not counted in request->in_flight. */
void wire_request_on_window(struct wire_request *request, void (*window)(void *arg, uint32_t bytes),
                            void *arg);
/* Like wire_reply_part(), for a body that was encoded before (frame_put_body()) and fits in a
 * frame: the same bytes go to many peers. */
bool wire_reply_part_made(struct wire_request *request, const void *body, size_t length);
const struct caller *wire_request_caller(const struct wire_request *request);

#endif
