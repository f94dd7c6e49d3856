/* base/stream/strangers.h - the connections whose peers have not proved yet who they are: how many
 * a process keeps, and which of them goes when one more comes.
 *
 * Pure: who closes a connection is told by a callback, and the time is passed in.
 *
 * The problem: a connection costs memory and a descriptor before its peer has proved anything, and
 * whoever has a network card can open thousands.  The way chosen: a table of fixed size; when it is
 * full, the address with the most connections loses its oldest one.  So one address cannot keep
 * others out, and what is silent makes place for what is new.
 *
 * A full table is not always an attack: ten thousand machines dial at once when a collector is
 * started again, and each needs a round trip to prove itself.  If the oldest one went at once, all
 * of them would be cut shortly before their proof, and would dial again for ever.  So a connection
 * is given some patience before it has to go, and the listener accepts nobody meanwhile (they wait
 * in the kernel).  How long depends on what the table's connections come to: each proof lengthens
 * the patience, each connection that had to go shortens it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STRANGERS_H
#define BASE_STREAM_STRANGERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define STRANGERS_MAX             512 /* unproved connections of one process */
#define STRANGERS_PATIENCE_MS     250 /* at most, and at first */
#define STRANGERS_PATIENCE_MIN_MS 20
#define STRANGERS_HOST_MAX        64 /* bytes of an address without its port, with the zero */

struct strangers;
struct strangers_host;

/* One connection, kept by its owner; zero-initialized it is not counted. */
struct stranger {
    struct strangers *table; /* NULL: not counted */
    struct strangers_host *host;
    TAILQ_ENTRY(stranger) entry;
    uint64_t since_ms;
    void (*leave)(void *arg); /* closes the connection, which takes it out of the table */
    void *arg;
};

/* The part of a peer's text (stream_peer()) that says where it is: "192.0.2.7" of
 * "tcp:192.0.2.7:40112", the network "2001:db8:0:1" (/64: all of it is one customer's) of an
 * IPv6 address, "uid 1000" of a Unix socket's.  Returns ret. */
const char *strangers_host_of(const char *peer, char ret[STRANGERS_HOST_MAX]);

struct strangers *strangers_create(size_t max);
void strangers_destroy(struct strangers *table); /* NULL is allowed; nobody is counted any more */

/* How long to wait before one more is accepted; 0: it may come now. */
uint64_t strangers_wait_ms(const struct strangers *table, uint64_t now_ms);
/* Has one leave if the table is full. */
void strangers_make_room(struct strangers *table);
/* peer is the text of strangers_host_of(). */
void strangers_add(struct strangers *table, struct stranger *stranger, const char *peer,
                   uint64_t now_ms, void (*leave)(void *arg), void *arg);
/* `to` is counted in the place of `from`, as old as that; neither need be counted. */
void strangers_replace(struct stranger *from, struct stranger *to, void (*leave)(void *arg),
                       void *arg);
/* It is over, or its peer is no stranger any more (proved).  It need not be counted. */
void strangers_remove(struct stranger *stranger, bool proved);

/* Another limit than STRANGERS_MAX; those above it go as others come. */
void strangers_set_max(struct strangers *table, size_t max);
size_t strangers_count(const struct strangers *table);
uint64_t strangers_sent_away(const struct strangers *table); /* by strangers_make_room() */
/* Where the last of them came from; "" for none. */
const char *strangers_last_host(const struct strangers *table);

#endif
