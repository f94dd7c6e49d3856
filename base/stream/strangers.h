/* base/stream/strangers.h - limits the accepted connections whose peers have not yet proved who
 * they are ("strangers").
 *
 * Pure: a callback closes a connection, and the time is passed in.
 *
 * Problem: a connection costs memory and a descriptor before its peer has proved anything, and
 * anybody can open thousands.  Solution: a table of fixed size.  When it is full, the address with
 * the most connections loses its oldest one.  So one address cannot keep others out, and silent
 * connections make room for new ones.
 *
 * A full table is not always an attack: ten thousand machines connect at once when a collector is
 * started again, and each needs a round trip for its proof.  If the oldest connection were closed
 * at once, all of them would be cut shortly before their proof, and would connect again for ever.
 * So each connection is given some time, the patience, before it may be closed, and the listener
 * accepts nobody meanwhile (new ones wait in the kernel).  Each proof lengthens the patience; each
 * connection that had to be closed shortens it.
 *
 * A process that has more to do than it can do makes everybody wait, and then nobody is to blame:
 * after the patience a connection may be closed only if one that came later, by the patience, has
 * proved itself, or if nobody has proved anything for so long.
 *
 * A short patience must not keep out for ever those whose proofs take longer (far away, or on a
 * machine that is busy).  So a quarter of a large table is for second chances: a connection that
 * would have to be closed gets a place there for STRANGERS_SECOND_MS if one is free.  If it proves
 * itself, the patience grows towards twice the time that it took.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STRANGERS_H
#define BASE_STREAM_STRANGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define STRANGERS_MAX 512 /* most strangers of one process, by default */
/* milliseconds; the first value of the patience: the time for which a connection is not closed,
 * even when the table is full, so that its peer can prove who it is */
#define STRANGERS_PATIENCE_MS     250
#define STRANGERS_PATIENCE_MIN_MS 20
/* The least patience with a connection whose TLS handshake has begun: its peer is there, and may be
 * slow because it is one of many that were all started at once. */
#define STRANGERS_BEGUN_MS  1000
#define STRANGERS_SECOND_MS 2500 /* milliseconds; also the largest patience */
/* a table at least so large has places for second chances */
#define STRANGERS_SECOND_FROM 256
#define STRANGERS_HOST_MAX    64 /* bytes of an address without its port, with the zero */

struct strangers;
struct strangers_host;

/* One connection's place in the table.  Its owner keeps this struct; when zeroed it is not in a
 * table. */
struct stranger {
    struct strangers *table;     /* NULL: not in a table */
    struct strangers_host *host; /* NULL: has a second chance */
    TAILQ_ENTRY(stranger) entry;
    uint64_t since_ms, second_ms; /* when it came, and when it got its second chance */
    bool begun;                   /* its TLS handshake has begun */
    /* Called with `arg` to close the connection, which is no longer in the table then. */
    void (*leave)(void *arg);
    void *arg;
};

/* Writes the part of peer (a text from stream_peer()) that says where the peer is, and returns ret:
 * "192.0.2.7" for "tcp:192.0.2.7:40112"; the network "2001:db8:0:1" for an IPv6 address, because a
 * whole /64 belongs to one customer; "uid 1000" for a Unix socket. */
const char *strangers_host_of(const char *peer, char ret[STRANGERS_HOST_MAX]);

/* Makes an empty table for at most max connections. */
struct strangers *strangers_create(size_t max);
/* Takes all connections out of the table without closing them.  NULL is allowed. */
void strangers_destroy(struct strangers *table);

/* Returns how many ms to wait before the next connection is admitted; 0: admit it now. hurry: so
 * many wait that STRANGERS_BEGUN_MS does not count. */
uint64_t strangers_wait_ms(const struct strangers *table, uint64_t now_ms, bool hurry);
/* Closes the oldest connections of the busiest addresses, or gives them second chances, until the
 * table has room for one more. */
void strangers_make_room(struct strangers *table, uint64_t now_ms);
/* Adds a connection. peer: the text that stream_peer() gives. leave(arg) must close the
 * connection. */
void strangers_add(struct strangers *table, struct stranger *stranger, const char *peer,
                   uint64_t now_ms, void (*leave)(void *arg), void *arg);
/* Gives the place of `from` in its table, with its age, to `to`, which must not be in a table;
 * leave and arg are then those of `to`.  Does nothing if `from` is not in a table. */
void strangers_replace(struct stranger *from, struct stranger *to, void (*leave)(void *arg),
                       void *arg);
/* Says that the connection's TLS handshake has begun. */
void strangers_begin(struct stranger *stranger);
/* Takes a connection out of its table, because it was closed.  Does nothing if the connection is
 * not in a table. */
void strangers_remove(struct stranger *stranger);
/* The same, because its peer has proved who it is. */
void strangers_prove(struct stranger *stranger, uint64_t now_ms);

/* Changes how many connections the table may hold.  If there are more, the excess is closed when a
 * new connection comes. */
void strangers_set_max(struct strangers *table, size_t max);
size_t strangers_count(const struct strangers *table);
/* Returns how many connections strangers_make_room() has closed. */
uint64_t strangers_sent_away(const struct strangers *table);
/* Returns the address (strangers_host_of()) of the connection that strangers_make_room() closed
 * last; "" if it has closed none. */
const char *strangers_last_host(const struct strangers *table);

#endif
