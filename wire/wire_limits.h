/* wire/wire_limits.h - limits what one peer, and one identity, may use of a daemon.
 *
 * For the files of wire/ only (wire_private.h).
 *
 * The problem: a frame may have 16 MiB and a daemon has thousands of connections.  Whoever has one
 * token can open many connections and leave a frame unfinished in each.  There are two levels of
 * limits.
 *
 * A connection whose peer has not proved who it is belongs to a stranger.  It may send frames of at
 * most WIRE_STRANGER_FRAME_MAX, has a time limit, and is one of the few that
 * base/stream/strangers.h counts.  What proves a peer is the same on all routes: the greeting,
 * unless the accept says proves_later; then the owner calls wire_proved().
 *
 * A proved connection belongs to an account: that of its token's id; without a token, of its
 * identity (Unix sockets); without both, of its address.  An account has a maximum number of
 * connections and a maximum amount of memory, counted as it is really held:
 *    - a frame of more than WIRE_FRAME_FREE bytes is read only when account and process have room
 *      for all of it; until then the connection is not read.  A frame reserves its whole length,
 *      because two half-received frames could otherwise wait for each other for ever.
 *    - unanswered requests; further ones are refused with -EBUSY.
 *    - output that a peer does not read.
 *
 * A reservation costs its holder nothing, so it must not be kept by doing nothing.  A frame has to
 * grow by WIRE_STEP_BYTES in WIRE_STEP_MS, and by WIRE_MOVE_BYTES in WIRE_PRESSED_MS while others
 * wait for its room.
 *
 * Accounts of the pool's own daemons (scopes SCHEDD, ROOSTER, MASTER, NEGOTIATOR, ADMINISTRATOR)
 * are trusted: the limits of an account hold for them, the limits of the process do not.
 *
 * Rejected: a limit per connection, because connections are cheap; a limit per address, because ten
 * thousand glideins may come through one address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_WIRE_LIMITS_H
#define WIRE_WIRE_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

struct err;
struct wire;
struct wire_account;
struct wire_context;
struct wire_limits;

/* milliseconds; time from WELCOME to wire_proved() for a connection with
 * wire_accept.proves_later */
#define WIRE_PROOF_MS 10000

/* A frame of at most this many bytes is read without reserving memory for it. */
#define WIRE_FRAME_FREE ((size_t)16 << 10)
/* Most bytes reserved for unfinished frames: of one account (the connections of one token or
 * identity), and of all accounts together, except those of the pool's own daemons
 * (SCOPES_TRUSTED). */
#define WIRE_ACCOUNT_FRAMES_MAX ((size_t)20 << 20)
#define WIRE_ALL_FRAMES_MAX     ((size_t)24 << 20)
/* Minimum speed of an unfinished frame: WIRE_STEP_BYTES, or all that is missing, in WIRE_STEP_MS
 * (milliseconds). */
#define WIRE_STEP_BYTES ((size_t)64 << 10)
#define WIRE_STEP_MS    20000
/* Minimum speed of an unfinished frame while other connections wait for room: WIRE_MOVE_BYTES in
 * WIRE_PRESSED_MS, and the whole frame in WIRE_HOLD_MS (5 s, and 1 s for each MiB of it). */
#define WIRE_MOVE_BYTES     ((size_t)16 << 10)
#define WIRE_PRESSED_MS     1000
#define WIRE_HOLD_MS(bytes) (5000 + (bytes) / 1049)
/* milliseconds; how long a frame waits for memory to be reserved for it before its connection is
 * closed */
#define WIRE_WAIT_MS 30000

/* Most bytes of unanswered requests: of one account (the connections of one token or identity),
 * and of all accounts together.  The pool's own daemons (SCOPES_TRUSTED) have
 * WIRE_REQUEST_BYTES_MAX instead of both limits.  When all accounts together have too many
 * bytes, each may still have WIRE_REQUESTS_FREE. */
#define WIRE_ACCOUNT_REQUESTS_MAX ((size_t)20 << 20)
#define WIRE_ALL_REQUESTS_MAX     ((size_t)36 << 20)
#define WIRE_REQUESTS_FREE        ((size_t)64 << 10)

/* Most bytes of output that may wait for all peers together, without the pool's own daemons
 * (SCOPES_TRUSTED).  Above WIRE_ALL_UNREAD_MAX, connections whose peer has read nothing for
 * WIRE_UNREAD_MS milliseconds are closed, first those of the account (token or identity) with the
 * most output.  A connection for which at most WIRE_UNREAD_FREE bytes wait does not count. */
#define WIRE_ALL_UNREAD_MAX ((size_t)24 << 20)
#define WIRE_UNREAD_FREE    ((size_t)32 << 10)
#define WIRE_UNREAD_MS      500

/* Limits for a peer that has not proved who it is: unanswered requests, bytes of unread output. */
#define WIRE_STRANGER_REQUESTS 8
#define WIRE_STRANGER_BYTES    ((size_t)64 << 10)

/* Most connections of one account: WIRE_CONNECTIONS_USER of a user; WIRE_CONNECTIONS_MACHINE, and
 * WIRE_CONNECTIONS_PER_SLOT for each slot that the token allows, of a token with the scope
 * ADVERTISE (a machine, or many glideins); WIRE_CONNECTIONS_MAX of one of the pool's own daemons,
 * or of a machine that is known by its claim and address alone. */
#define WIRE_CONNECTIONS_USER     512
#define WIRE_CONNECTIONS_MACHINE  1024
#define WIRE_CONNECTIONS_PER_SLOT 4
#define WIRE_CONNECTIONS_MAX      20000

/* An account (the connections of one token) with any of these scopes belongs to one of the
 * pool's own daemons, and is trusted: limits for all accounts together do not hold for it. */
#define SCOPES_TRUSTED                                                                \
    (SCOPE_SCHEDD | SCOPE_ROOSTER | SCOPE_MASTER | SCOPE_NEGOTIATOR | SCOPE_FACTORY | \
     SCOPE_ADMINISTRATOR)

/* milliseconds between two log lines about one account (the connections of one token or
 * identity) */
#define WIRE_COMPLAINT_MS 60000

TAILQ_HEAD(wire_list, wire);

/* What wire_limits.c keeps in each struct wire.  When zeroed: a stranger's connection. */
struct wire_share {
    bool proved;
    struct wire_account
        *account; /* NULL: a stranger's connection, or one that this process dialled */
    /* These members up to frame_entry: the unfinished frame that is being received. */
    size_t frame_size;   /* 0: no unfinished frame */
    size_t granted;      /* bytes reserved for the frame */
    uint64_t granted_ms; /* loop_now_ms() when the `granted` bytes were reserved */
    /* bytes of the frame that had been received when the current period of WIRE_STEP_MS began */
    size_t marked_bytes;
    uint64_t marked_ms;
    /* bytes of the frame that had been received when it last grew by WIRE_MOVE_BYTES */
    size_t moved_bytes;
    uint64_t moved_ms;
    bool waits; /* true: the frame waits for room, and its stream is paused */
    uint64_t waits_since_ms;
    /* place in the list of unfinished frames, or of frames that wait for room */
    TAILQ_ENTRY(wire) frame_entry;
    /* These members up to unread_entry: output that the peer has not read. */
    bool is_unread; /* true: the connection is in the list of those with unread output */
    size_t unread;
    /* loop_now_ms() when the peer last read something, or was first seen with unread output */
    uint64_t unread_ms;
    TAILQ_ENTRY(wire) unread_entry;
};

struct wire_limits *wire_limits_create(struct wire_context *context);
void wire_limits_destroy(struct wire_limits *limits); /* to be called after all wires are freed */

/* Adds the connection to its account (the connections of one token or identity), once the peer
 * has proved who it is; the account's limits hold from now on.  Returns 0; or -EBUSY, with err,
 * when the account has too many connections; this error is logged here, and the caller must end the
 * connection. */
int wire_limits_join(struct wire *wire, struct err *err);
/* Removes the connection from its account (the connections of one token or identity), if it was
 * added to one. */
void wire_limits_leave(struct wire *wire);

/* Tells that the next frame is incomplete: `have` bytes of `size` have come (size 0: its length is
 * not known yet). */
void wire_limits_frame_partial(struct wire *wire, size_t size, size_t have);
/* Tells that the frame which the peer is sending is complete; memory reserved for it is free
 * again. */
void wire_limits_frame_whole(struct wire *wire);
/* Returns true when the peer only seems silent because its connection is not being read. */
bool wire_limits_is_waiting(const struct wire *wire);

/* Returns 0 if the peer may have one more unanswered request of that many bytes; else -EBUSY with
 * err. */
int wire_limits_request(struct wire *wire, size_t bytes, struct err *err);
void wire_limits_request_begins(struct wire *wire, size_t bytes);
void wire_limits_request_ends(struct wire *wire, size_t bytes);

/* To be called after each write: `pending` bytes wait for the peer.  May close connections whose
 * peers do not read. */
void wire_limits_output(struct wire *wire, size_t pending);

#endif
