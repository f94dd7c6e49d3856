/* base/stream/stream_parts_event.h - the parts of a stream, for stream_event.c and
 * stream_input_event.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STREAM_STREAM_PARTS_EVENT_H
#define BASE_STREAM_STREAM_PARTS_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include "base/loop_event.h"
#include "base/stream/stream_buffer.h"
#include "base/stream/stream_event.h"

struct loop_timer;
struct tls;
struct tls_sockets;

/* Most bytes that one stream reads or writes before other streams may read and write. */
#define STREAM_TURN_BYTES ((size_t)128 << 10)
/* Most steps of TLS handshakes of accepted connections in one turn of the loop, about 2 ms.  When
 * ten thousand machines dial at once, those that are connected already are served between. */
#define STREAM_TURN_HANDSHAKES 8
/* While so many of them wait, no connection is accepted: it would only wait here. */
#define STREAM_HANDSHAKES_MAX 64

/* What a stream is doing.  LINGER: the stream has sent its last byte and waits until the peer ends
 * the connection, too (stream_event.c). */
enum phase { CONNECTING, PREFACE, HANDSHAKE, OPEN, LINGER, ENDED };

struct stream_in {  /* one stream's state of reading */
    unsigned wants; /* LOOP_READ or LOOP_WRITE: what reading, or the handshake, waits for */
    bool paused;
    bool tell; /* true: the callback readable() of struct stream_events must be called */
    /* true: the next turn must try to read, even if the socket is not reported as readable: input
     * may be left in the socket or in the buffers of TLS */
    bool due;
    bool busy; /* true while stream_read_in() is running */
};

struct stream_out { /* one stream's state of writing */
    unsigned wants; /* LOOP_READ or LOOP_WRITE: what writing waits for */
    int error;      /* negative errno when writing has failed; 0: no error */
    bool blocked;
    /* true: drained() must be called when fewer than STREAM_DRAINED bytes are queued */
    bool was_full;
};

struct stream_wait {   /* of a client: what its server says before TLS */
    uint64_t since_ms; /* when the first word STREAM_WAIT_WORD came; 0: none came */
    unsigned length;   /* bytes of an incomplete word */
    bool over;         /* true: TLS has begun, no word can come any more */
};

struct stream {
    struct hub *hub;
    struct loop *loop;
    struct stream_events events;
    void *arg;
    unsigned refs;
    enum phase phase;
    bool owned; /* true: the owner has called neither stream_close() nor stream_finish() */
    /* true: stream_finish() was called, and the connection is not closed yet */
    bool finishing;
    struct stream_in in;
    struct stream_out out;
    bool soon; /* true: queued to read, write or call its owner after the current callback */
    TAILQ_ENTRY(stream) soon_entry;
    bool accepted; /* true: this end is the server */
    bool shakes;   /* true: in hub->handshakes */
    TAILQ_ENTRY(stream) shakes_entry;
    LIST_ENTRY(stream) finishing_entry;

    int fd;
    struct loop_fd *watch;
    struct tls *tls;
    struct loop_timer *deadline;
    struct connector *connector;
    char *peer;
    char *address; /* for a client of a Unix socket: the address that it connects to */
    struct stream_credentials credentials;
    char *preface; /* for a client: the preface to send; NULL once it is sent */
    size_t preface_sent;
    struct stream_wait wait;

    struct stream_inbuf input;
    size_t input_max;
    struct stream_outbuf output;
    struct stranger stranger;
};

TAILQ_HEAD(stream_queue, stream);

struct hub { /* all streams of a loop */
    struct loop *loop;
    /* streams that read, write or call their owner after the current callback */
    struct stream_queue soon;
    size_t soon_count;
    /* accepted connections whose TLS handshake can go on; first come, first served */
    struct stream_queue handshakes;
    size_t handshake_count;
    bool tick_deferred;
    LIST_HEAD(, stream) finishing;
    struct resolver *resolver;
    struct tls_sockets *sockets; /* shared buffers of TLS; NULL before the first TLS connection */
    /* shared input buffer of STREAM_BLOCK bytes; NULL: not made yet, or a stream has borrowed it */
    unsigned char *block;
};

/* ---- of stream_event.c ---- */

/* Calls a callback of struct stream_events and measures its time. what: kind of callback, for
 * reports of callbacks that take too long. */
void stream_call_owner(struct stream *s, const char *what, void (*call)(void *arg));
/* Ends the connection and calls the owner's closed() with code (0 or a negative errno) and reason
 * (one line of text).  The caller must hold a reference to the stream. */
void stream_end(struct stream *s, int code, const char *reason);
/* Lets the stream read, write and call its owner soon, after the current callback. */
void stream_soon(struct stream *s);

/* ---- of stream_input_event.c ---- */

/* Returns whether input may be read: the stream is not paused, its input buffer is not full, and
 * its phase is one in which it reads. */
bool stream_may_read(const struct stream *s);
/* Reads the available input, at most STREAM_TURN_BYTES, and calls the owner's readable(). */
void stream_read_in(struct stream *s);

#endif
