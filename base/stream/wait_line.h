/* base/stream/wait_line.h - the line of connections that were accepted and wait for their turn.
 *
 * Problem: ten thousand machines dial at once when a collector is started again, and a process does
 * one or two thousand TLS handshakes per second.  The kernel keeps 4,096 connections for us; it
 * drops what comes then, and the peers' kernels try again after 1, 3 and 7 seconds.  Connections
 * that wait too long are given up by their peers, which dial again: the work is done twice, so the
 * others wait even longer, and under load such a storm never ends.
 *
 * Solution: everybody is accepted at once, which costs little, and waits here.  Nothing is read
 * from a connection in the line, and no memory but the entry is spent on it.  A peer that waits for
 * some time is sent the line STREAM_WAIT_WORD, again and again, and therefore does not give up: it
 * keeps its place.  So everybody dials once, in the order of coming.
 *
 * One turn in WAIT_LINE_NEWEST_PART is given to the connection that came last.  A machine that was
 * woken for a job, or a command, that comes in the middle of a storm is not behind all of it; and
 * a crowd of silent connections does not keep others out until the last of them was looked at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_WAIT_LINE_H
#define BASE_STREAM_WAIT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WAIT_LINE_MAX         8192 /* most connections in a line */
#define WAIT_LINE_NEWEST_PART 4
/* milliseconds from one word to a peer to the next; well below STREAM_HANDSHAKE_MS, because a busy
 * process is late */
#define WAIT_LINE_WORD_MS 3000

struct wait_line;

/* Makes an empty line for at most max connections.  Returns NULL, with errno set, if no descriptor
 * is left. */
struct wait_line *wait_line_create(size_t max);
/* Closes all connections, and frees the line.  NULL is allowed. */
void wait_line_destroy(struct wait_line *line);

size_t wait_line_count(const struct wait_line *line);
/* Returns how many connections the line has closed itself. */
uint64_t wait_line_dropped(const struct wait_line *line);
/* Returns whether no connection may be added: the line has its most, or less than an eighth of the
 * descriptors that this process may have is free. */
bool wait_line_is_full(const struct wait_line *line);
/* Adds a connected socket; the line owns it from then on.  CHECKs that the line is not full. */
void wait_line_add(struct wait_line *line, int fd, uint64_t now_ms);
/* If the line is full, closes the connection that has waited longest without having sent anything,
 * unless it came just now.  Returns whether a connection may be added. */
bool wait_line_make_room(struct wait_line *line, uint64_t now_ms);
/* Takes out the connection whose turn it is.  While many wait, a connection whose peer has sent
 * nothing loses its turn and becomes a silent one, until wait_line_hear().  Connections whose peers
 * have gone are closed.  Returns a descriptor, which the caller owns then; -1: none has its
 * turn. */
int wait_line_next(struct wait_line *line);
/* Returns a descriptor, owned by the line, that is readable when wait_line_hear() has work. */
int wait_line_silent_fd(const struct wait_line *line);
/* Gives the next turns to silent connections whose peers have sent something since, and closes
 * those whose peers have gone. */
void wait_line_hear(struct wait_line *line);
/* To be called about twice a second.  Sends the word to all peers that have waited for
 * WAIT_LINE_WORD_MS since they came, or since the last word; closes silent connections whose peers
 * have sent nothing in STREAM_HANDSHAKE_MS. */
void wait_line_tell(struct wait_line *line, uint64_t now_ms);

#endif
