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

/* Most bytes that one stream reads or writes before others get their turn. */
#define STREAM_TURN_BYTES ((size_t)128 << 10)

/* What a stream is doing.  LINGER: it has sent its end and waits for the peer's
 * (stream_event.c). */
enum phase { CONNECTING, PREFACE, HANDSHAKE, OPEN, LINGER, ENDED };

struct stream_in {  /* the state of reading */
    unsigned wants; /* LOOP_READ or LOOP_WRITE: what reading, or the handshake, waits for */
    bool paused;
    bool tell; /* true: readable() must be called */
    bool due;  /* true: there may be input although the socket is not readable */
    bool busy; /* true while stream_read_in() is running */
};

struct stream_out { /* the state of writing */
    unsigned wants; /* LOOP_READ or LOOP_WRITE: what writing waits for */
    int error;      /* negative errno when writing has failed; 0: none */
    bool blocked;
    bool was_full; /* true: drained() must be called when little output is left */
};

struct stream {
    struct hub *hub;
    struct loop *loop;
    struct stream_events events;
    void *arg;
    unsigned refs;
    enum phase phase;
    bool owned;     /* true: the owner has called neither stream_close() nor stream_finish() */
    bool finishing; /* true: the stream is in the list hub->finishing */
    struct stream_in in;
    struct stream_out out;
    bool soon; /* true: the stream is in the queue hub->soon */
    TAILQ_ENTRY(stream) soon_entry;
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

    struct stream_inbuf input;
    size_t input_max;
    struct stream_outbuf output;
    struct stranger stranger;
};

TAILQ_HEAD(stream_queue, stream);

struct hub { /* all streams of a loop */
    struct loop *loop;
    struct stream_queue soon; /* streams that get a turn after the current callback */
    size_t soon_count;
    bool tick_deferred;
    LIST_HEAD(, stream) finishing;
    struct resolver *resolver;
    struct tls_sockets *sockets; /* NULL before the first TLS connection */
    /* shared input buffer of STREAM_BLOCK bytes; NULL: a stream has borrowed it */
    unsigned char *block;
};

/* ---- of stream_event.c ---- */

/* Calls a callback of the owner and measures its time. what: kind of callback, for reports of
 * callbacks that take too long. */
void stream_call_owner(struct stream *s, const char *what, void (*call)(void *arg));
/* Ends the connection and tells the owner.  The caller must hold a reference to the stream. */
void stream_end(struct stream *s, int code, const char *reason);
/* Gives the stream a turn after the current callback. */
void stream_soon(struct stream *s);

/* ---- of stream_input_event.c ---- */

/* Returns whether input may be read: not paused, not full, in a phase that reads. */
bool stream_may_read(const struct stream *s);
/* Reads the available input, up to the limit of one turn, and tells the owner. */
void stream_read_in(struct stream *s);

#endif
