/* wire/wire_limits.h - what one peer, and one identity, may use of a daemon.
 *
 * Known to the files of wire/ only (wire_private.h).
 *
 * The problem: a frame may have 16 MiB, a daemon has thousands of connections, and whoever has one
 * token can open many of them and leave a frame unfinished in each.  The way chosen, in two steps:
 *
 * A connection whose peer has proved nothing yet is a stranger's: it may send frames of at most
 * WIRE_STRANGER_FRAME_MAX, has a time limit, and is one of the few that base/stream/strangers.h
 * counts. One notion of "proved" holds for all routes: the greeting proves a peer, unless the
 * accept says proves_later; then the owner says wire_proved().
 *
 * A proved connection belongs to an account: that of its token's id; without a token, of its
 * identity (Unix sockets); without both, of its address.  An account has a number of connections
 * and an amount of memory, counted as it is really held:
 *   - a frame of more than WIRE_FRAME_FREE bytes is read only when the account and the process have
 *     room for all of it; until then the connection is not read.  A frame reserves its whole
 *     length: two that are half there could otherwise wait for each other for ever.
 *   - requests unanswered; more are refused with -EBUSY.
 *   - output that a peer does not read.
 * A reservation costs its holder nothing, so it must not be kept by doing nothing: a frame has to
 * grow by WIRE_STEP_BYTES in WIRE_STEP_MS; and by WIRE_MOVE_BYTES in WIRE_PRESSED_MS while others
 * wait for its room.
 *
 * Accounts of the pool's own daemons (scopes SCHEDD, ROOSTER, MASTER, NEGOTIATOR, ADMINISTRATOR)
 * are trusted: they have the limits of an account, and do not share in those of the process.
 *
 * Rejected: a limit for each connection alone, because connections are cheap; one for each address,
 * because ten thousand glideins may come through one.
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

#define WIRE_PROOF_MS 10000 /* from WELCOME to the proof, on a route that proves later */

/* A frame up to this is read without a reservation. */
#define WIRE_FRAME_FREE ((size_t)16 << 10)
/* Reserved for unfinished frames: of one account, and of all that are not trusted. */
#define WIRE_ACCOUNT_FRAMES_MAX ((size_t)20 << 20)
#define WIRE_ALL_FRAMES_MAX     ((size_t)24 << 20)
/* How fast a frame must come: WIRE_STEP_BYTES, or the rest of it, in WIRE_STEP_MS. */
#define WIRE_STEP_BYTES ((size_t)64 << 10)
#define WIRE_STEP_MS    20000
/* While others wait for its room: WIRE_MOVE_BYTES in WIRE_PRESSED_MS, and all of it in
 * WIRE_HOLD_MS (1 MiB/s and some seconds). */
#define WIRE_MOVE_BYTES     ((size_t)16 << 10)
#define WIRE_PRESSED_MS     1000
#define WIRE_HOLD_MS(bytes) (5000 + (bytes) / 1049)
#define WIRE_WAIT_MS        30000 /* how long a frame waits for room; then its connection ends */

/* Requests unanswered: of one account, and of all; both not of trusted ones, which have
 * WIRE_REQUEST_BYTES_MAX.  When all have too much, each still has WIRE_REQUESTS_FREE. */
#define WIRE_ACCOUNT_REQUESTS_MAX ((size_t)20 << 20)
#define WIRE_ALL_REQUESTS_MAX     ((size_t)36 << 20)
#define WIRE_REQUESTS_FREE        ((size_t)64 << 10)

/* Output that waits for peers that do not read, of all accounts that are not trusted: above it the
 * connections go that have taken nothing for WIRE_UNREAD_MS, those of the account with the most
 * first.  What is below WIRE_UNREAD_FREE is not counted. */
#define WIRE_ALL_UNREAD_MAX ((size_t)24 << 20)
#define WIRE_UNREAD_FREE    ((size_t)32 << 10)
#define WIRE_UNREAD_MS      500

/* What an unproved peer may have unanswered and unread. */
#define WIRE_STRANGER_REQUESTS 8
#define WIRE_STRANGER_BYTES    ((size_t)64 << 10)

/* Connections of one account: of a user; of a token that may ADVERTISE, which a machine or many
 * glideins have, and each slot of the token's number may bring some more; of the pool's own
 * daemons, and of machines that are known by their claim and address alone. */
#define WIRE_CONNECTIONS_USER     512
#define WIRE_CONNECTIONS_MACHINE  1024
#define WIRE_CONNECTIONS_PER_SLOT 4
#define WIRE_CONNECTIONS_MAX      20000

/* Whose accounts are trusted. */
#define SCOPES_TRUSTED \
    (SCOPE_SCHEDD | SCOPE_ROOSTER | SCOPE_MASTER | SCOPE_NEGOTIATOR | SCOPE_ADMINISTRATOR)

#define WIRE_COMPLAINT_MS 60000 /* between two log lines on one account */

TAILQ_HEAD(wire_list, wire);

/* The part of a connection in all this; zero-initialized it is a stranger's. */
struct wire_share {
    bool proved;
    struct wire_account *account; /* NULL: a stranger's, or one that we dialled */
    /* the frame that is coming in */
    size_t frame_size; /* 0: none is unfinished */
    size_t granted;    /* of its room */
    uint64_t granted_ms;
    size_t marked_bytes; /* had come at marked_ms, when its time began (anew) */
    uint64_t marked_ms;
    size_t moved_bytes; /* had come at moved_ms, when it had grown by WIRE_MOVE_BYTES */
    uint64_t moved_ms;
    bool waits; /* for room; the stream is paused */
    uint64_t waits_since_ms;
    TAILQ_ENTRY(wire) frame_entry; /* in `partial`, or in `waiting` */
    /* output that is not read */
    bool is_unread;
    size_t unread;
    uint64_t unread_ms; /* when the peer took something the last time */
    TAILQ_ENTRY(wire) unread_entry;
};

struct wire_limits *wire_limits_create(struct wire_context *context);
void wire_limits_destroy(struct wire_limits *limits); /* after all wires */

/* The peer is proved: the connection joins its account, whose limits hold from now on.  -EBUSY with
 * err: the account has too many connections; logged, and the connection is to be ended. */
int wire_limits_join(struct wire *wire, struct err *err);
void wire_limits_leave(struct wire *wire); /* also of one that did not join */

/* The next frame is not there as a whole: so many bytes of `size` are (0: not even its length). */
void wire_limits_frame_partial(struct wire *wire, size_t size, size_t have);
void wire_limits_frame_whole(struct wire *wire);
/* Is the peer silent because it is not being read? */
bool wire_limits_is_waiting(const struct wire *wire);

/* May the peer have one more request, of so many bytes, unanswered?  Else -EBUSY with err. */
int wire_limits_request(struct wire *wire, size_t bytes, struct err *err);
void wire_limits_request_begins(struct wire *wire, size_t bytes);
void wire_limits_request_ends(struct wire *wire, size_t bytes);

/* After a write: so many bytes wait for the peer.  May end connections. */
void wire_limits_output(struct wire *wire, size_t pending);

#endif
