/* wire/wire_private.h - what the files of wire/ know of one another.
 *
 *   wire_context.c  what the connections of a process share; tokens of our own, revocations
 *   greeting.c      who is at the other end, and what it may be called
 *   wire.c          one connection: bytes in and out, greeting, pings, its end
 *   request_view.c  what a handler sees of a request
 *   request.c       requests in both directions: replies, parts, windows, deadlines, relayed calls
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
#include "base/stream.h"
#include "wire/frame.h"
#include "wire/id_table.h"
#include "wire/token.h"
#include "wire/wire.h"

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
    struct token token;    /* zero over a Unix socket without one */
    char *token_text;      /* as said in the greeting, for relays; NULL: none */
    char identity[512];
    char name[WIRE_NAME_MAX + 1];
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
    char *token_path, *ca_file, *uid_domain; /* NULL: none */
    char collector_pin[STREAM_PIN_SIZE];     /* "": none */
    uid_t admin_uid;
    char *keys_path;         /* NULL: nobody is accepted by token */
    struct token_keys *keys; /* NULL: none there */
    uint64_t keys_read_ms;
    struct strmap *revoked;
    char *token; /* our own, as last read */
    uint64_t token_read_ms;
    struct ad_pool *args_pool; /* of requests, and of replies where wire has no other */
    struct wire *first;        /* all wires, also those that are only waiting to be freed */
    TAILQ_HEAD(wire_turns, wire) turns; /* those that get a turn after what runs now */
    size_t turn_count;
    struct loop_timer *turn; /* set while there are some */
};

/* Reads the public keys again, unless that was done a moment ago: a new key, or none so far.  True
 * when they were read. */
bool wire_context_reload_keys(struct wire_context *context);
/* The timer `turn`. */
void wire_context_turns(void *context);
/* Frees all wires, telling nobody. */
void wire_context_sweep(struct wire_context *context);
/* Our own token, read again if the last reading is older than max_age_ms; "" when there is none. */
const char *wire_context_token(struct wire_context *context, uint64_t max_age_ms);

/* ---- greeting -------------------------------------------------------------------------------- */

/* Checks a token text and sets the caller's identity, scopes, id and pattern from it. */
int greeting_judge_token(struct wire_context *context, const char *text, struct caller *caller,
                         struct err *err);
/* Sets identity and scopes of a peer of a Unix socket. */
void greeting_judge_uid(const struct wire_context *context, uid_t uid, struct caller *caller);
/* May the caller be reached under that name?  -EACCES, -EINVAL. */
int greeting_judge_name(const struct caller *caller, const char *name, struct err *err);
/* The highest version that both speak, or -EPROTONOSUPPORT. */
int greeting_version(uint16_t newest, uint16_t oldest, struct err *err);
/* All of HELLO.  The caller has its uid already where there is one.  *hello is the ad inside, NULL
 * when none, and lives as long as message. */
int greeting_judge_hello(struct wire_context *context, const struct frame *frame,
                         const struct frame_message *message, const struct wire_accept *how,
                         struct caller *caller, const struct ad **hello, struct err *err);

/* ---- connection ------------------------------------------------------------------------------ */

enum wire_state { WIRE_GREETING, WIRE_READY, WIRE_OVER };

struct wire {
    struct wire_context *context;
    struct wire *previous, *next;
    struct ad_pool *pool; /* of the ads in replies; not ours */
    enum wire_state state;
    bool dialled;
    bool given_up;    /* wire_close() was called: freed by the next turn */
    bool told;        /* closed was called, or never will be */
    bool finish;      /* what is queued is sent before the end */
    bool input_waits; /* the budget of a turn ran out with input left */
    bool pinged;      /* nothing came since our PING */
    struct stream *stream;
    TAILQ_ENTRY(wire) turn_entry;
    bool in_turns;
    struct loop_timer *clock, *deadlines;
    struct wire_events events;
    void *arg;
    struct wire_accept how; /* accepted */
    struct caller *caller;
    uint32_t server_scopes;
    struct strbuf out;
    uint64_t last_input_ms, pinged_ms;
    int end_status;
    char *end_why;
    unsigned denied_count;

    /* calls of ours, requests of the peer */
    struct id_table calls, requests;
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
/* What is in `out` goes in this turn. */
void wire_flush_later(struct wire *wire);
/* Closes the frame begun in wire->out.  0 or -EMSGSIZE. */
int wire_frame_end(struct wire *wire, size_t begin, const void *blob, size_t blob_length);

/* ---- requests -------------------------------------------------------------------------------- */

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
    bool quiet; /* a success of which there is nothing to say is not answered */
    bool cancelled;
    bool ending; /* gone() runs */
    void (*drained)(void *arg);
    void *drained_arg;
    void (*gone)(void *arg);
    void *gone_arg;
    void (*window)(void *arg, uint32_t bytes);
    void *window_arg;
};

/* Frames of the peer, connection READY.  0, or a negative errno with err: the peer is dropped. */
int request_take(struct wire *wire, const struct frame *frame, struct err *err);
int request_reply(struct wire *wire, const struct frame *frame, struct err *err);
int request_cancel(struct wire *wire, const struct frame *frame, struct err *err);
int request_window(struct wire *wire, const struct frame *frame, struct err *err);
void request_deadlines(void *wire);            /* the timer */
void request_tell_all_over(struct wire *wire); /* -ECONNRESET to calls, gone to requests */
void request_drop_all(struct wire *wire);      /* frees them, telling nobody */

/* Calls of the hub, whose replies are passed on as they came.  reply->body is empty (length 0) when
 * it was made on this side. */
typedef void (*wire_raw_f)(void *arg, const struct frame *reply);
int64_t wire_call_relayed(struct wire *wire, uint16_t verb, uint32_t deadline_ms, const char *token,
                          const char *from, const void *body, size_t body_length, wire_raw_f call,
                          void *arg);
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
