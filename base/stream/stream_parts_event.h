/* base/stream/stream_parts_event.h - what a stream consists of: for stream_event.c and
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

#define STREAM_TURN_BYTES ((size_t)128 << 10) /* read or written before others get their turn */

enum phase { CONNECTING, PREFACE, HANDSHAKE, OPEN, LINGER, ENDED };

struct stream_in {  /* how far reading is */
    unsigned wants; /* LOOP_*: what reading (or shaking hands) waits for */
    bool paused;
    bool tell; /* the owner is to be told that there is input */
    bool due;  /* there may be input although the socket does not say so */
    bool busy; /* in stream_read_in() */
};

struct stream_out { /* how far writing is */
    unsigned wants; /* LOOP_*: what writing waits for */
    int error;      /* negative errno: writing is over */
    bool blocked;
    bool was_full; /* drained is owed once the output has shrunk */
};

struct stream {
    struct hub *hub;
    struct loop *loop;
    struct stream_events events;
    void *arg;
    unsigned refs;
    enum phase phase;
    bool owned;     /* the owner has neither closed nor finished it */
    bool finishing; /* in hub->finishing */
    struct stream_in in;
    struct stream_out out;
    bool soon; /* in hub->soon */
    TAILQ_ENTRY(stream) soon_entry;
    LIST_ENTRY(stream) finishing_entry;

    int fd;
    struct loop_fd *watch;
    struct tls *tls;
    struct loop_timer *deadline;
    struct connector *connector;
    char *peer;
    char *address; /* of a client's Unix socket */
    struct stream_credentials credentials;
    char *preface; /* of a client, until it is sent */
    size_t preface_sent;

    struct stream_inbuf input;
    size_t input_max;
    struct stream_outbuf output;
    struct stranger stranger;
};

TAILQ_HEAD(stream_queue, stream);

/* All streams of a loop. */
struct hub {
    struct loop *loop;
    struct stream_queue soon;
    size_t soon_count;
    bool tick_deferred;
    LIST_HEAD(, stream) finishing;
    struct resolver *resolver;
    struct tls_sockets *sockets; /* NULL before the first TLS connection */
    unsigned char *block;        /* of STREAM_BLOCK bytes, for the input of one turn; NULL: lent */
};

/* ---- of stream_event.c ---- */

void stream_call_owner(struct stream *s, const char *what, void (*call)(void *arg));
/* The connection is over: tells the owner.  The caller holds a reference. */
void stream_end(struct stream *s, int code, const char *reason);
/* The stream gets a turn after what runs now. */
void stream_soon(struct stream *s);

/* ---- of stream_input_event.c ---- */

bool stream_may_read(const struct stream *s);
/* Reads what there is, for one turn, and tells the owner. */
void stream_read_in(struct stream *s);

#endif
