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

/* Time from WELCOME to wire_proved(), where the accept says proves_later; milliseconds. */
#define WIRE_PROOF_MS 10000

/* A frame of at most this size is read without a reservation. */
#define WIRE_FRAME_FREE ((size_t)16 << 10)
/* Bytes reserved for unfinished frames: of one account, and of all accounts that are not
 * trusted. */
#define WIRE_ACCOUNT_FRAMES_MAX ((size_t)20 << 20)
#define WIRE_ALL_FRAMES_MAX     ((size_t)24 << 20)
/* Minimum speed of a frame: WIRE_STEP_BYTES, or all that is missing, in WIRE_STEP_MS. */
#define WIRE_STEP_BYTES ((size_t)64 << 10)
#define WIRE_STEP_MS    20000
/* Minimum speed while others wait for room: WIRE_MOVE_BYTES in WIRE_PRESSED_MS, and the whole frame
 * in WIRE_HOLD_MS (1 MiB/s and some seconds). */
#define WIRE_MOVE_BYTES     ((size_t)16 << 10)
#define WIRE_PRESSED_MS     1000
#define WIRE_HOLD_MS(bytes) (5000 + (bytes) / 1049)
#define WIRE_WAIT_MS        30000 /* how long a frame waits for room before its connection is closed */

/* Bytes of unanswered requests: of one account, and of all accounts.  Trusted accounts have
 * WIRE_REQUEST_BYTES_MAX instead of both.  When all accounts together have too many, each may still
 * have WIRE_REQUESTS_FREE. */
#define WIRE_ACCOUNT_REQUESTS_MAX ((size_t)20 << 20)
#define WIRE_ALL_REQUESTS_MAX     ((size_t)36 << 20)
#define WIRE_REQUESTS_FREE        ((size_t)64 << 10)

/* Output that waits for peers that do not read, of all accounts that are not trusted.  Above
 * WIRE_ALL_UNREAD_MAX, connections that have read nothing for WIRE_UNREAD_MS are closed, those of
 * the account with the most output first.  Less than WIRE_UNREAD_FREE of a connection is not
 * counted. */
#define WIRE_ALL_UNREAD_MAX ((size_t)24 << 20)
#define WIRE_UNREAD_FREE    ((size_t)32 << 10)
#define WIRE_UNREAD_MS      500

/* Unanswered requests, and bytes of unread output, of a peer that has not proved who it is. */
#define WIRE_STRANGER_REQUESTS 8
#define WIRE_STRANGER_BYTES    ((size_t)64 << 10)

/* Connections of one account: of a user; of a token with ADVERTISE (a machine, or many glideins),
 * plus some for each slot that the token allows; of the pool's own daemons, and of machines that
 * are known by their claim and address alone. */
#define WIRE_CONNECTIONS_USER     512
#define WIRE_CONNECTIONS_MACHINE  1024
#define WIRE_CONNECTIONS_PER_SLOT 4
#define WIRE_CONNECTIONS_MAX      20000

/* An account with any of these scopes is trusted. */
#define SCOPES_TRUSTED \
    (SCOPE_SCHEDD | SCOPE_ROOSTER | SCOPE_MASTER | SCOPE_NEGOTIATOR | SCOPE_ADMINISTRATOR)

#define WIRE_COMPLAINT_MS 60000 /* between two log lines about one account */

TAILQ_HEAD(wire_list, wire);

/* The part of struct wire that belongs to the limits.  Zero-initialized: a stranger's. */
struct wire_share {
    bool proved;
    struct wire_account *account; /* NULL: a stranger's connection, or one that we dialled */
    /* The unfinished frame that is being received. */
    size_t frame_size;   /* 0: no unfinished frame */
    size_t granted;      /* bytes reserved for the frame */
    uint64_t granted_ms; /* time of that reservation */
    size_t marked_bytes; /* received at marked_ms, when the current WIRE_STEP_MS began */
    uint64_t marked_ms;
    size_t moved_bytes; /* received at moved_ms, when the last WIRE_MOVE_BYTES were complete */
    uint64_t moved_ms;
    bool waits; /* waits for room; the stream is paused */
    uint64_t waits_since_ms;
    TAILQ_ENTRY(wire) frame_entry; /* in the list of partial or of waiting frames */
    /* Output that the peer has not read. */
    bool is_unread; /* the connection is in the list of those with unread output */
    size_t unread;
    uint64_t unread_ms; /* time at which the peer last read something */
    TAILQ_ENTRY(wire) unread_entry;
};

struct wire_limits *wire_limits_create(struct wire_context *context);
void wire_limits_destroy(struct wire_limits *limits); /* call it after all wires are freed */

/* Adds the connection to its account, once the peer has proved who it is; the account's limits hold
 * from now on.  Returns 0; or -EBUSY, with err, when the account has too many connections; that is
 * logged, and the caller ends the connection. */
int wire_limits_join(struct wire *wire, struct err *err);
/* Removes the connection from its account, if it has joined one. */
void wire_limits_leave(struct wire *wire);

/* Tells that the next frame is incomplete: `have` bytes of `size` have come (size 0: its length is
 * not known yet). */
void wire_limits_frame_partial(struct wire *wire, size_t size, size_t have);
/* Tells that the frame is complete; its reservation ends. */
void wire_limits_frame_whole(struct wire *wire);
/* Returns whether the peer only seems silent because its connection is not being read. */
bool wire_limits_is_waiting(const struct wire *wire);

/* Returns 0 if the peer may have one more unanswered request of that many bytes; else -EBUSY with
 * err. */
int wire_limits_request(struct wire *wire, size_t bytes, struct err *err);
void wire_limits_request_begins(struct wire *wire, size_t bytes);
void wire_limits_request_ends(struct wire *wire, size_t bytes);

/* Call it after a write: `pending` bytes wait for the peer.  May close connections. */
void wire_limits_output(struct wire *wire, size_t pending);

#endif
