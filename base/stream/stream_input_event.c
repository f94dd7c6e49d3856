/* base/stream/stream_input_event.c - the input of a stream: reads from the socket, and limits how
 * much the owner has not consumed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/stream/stream_parts_event.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/stream/stream_tls.h"

bool stream_may_read(const struct stream *s)
{
    return s->phase == OPEN && !s->in.paused && s->owned &&
           s->input.end - s->input.begin < s->input_max;
}

static ssize_t transport_read(struct stream *s, void *data, size_t room, struct err *err)
{
    s->in.wants = LOOP_READ;
    if (s->tls != NULL) {
        return tls_read(s->tls, data, room, &s->in.wants, err);
    }
    ssize_t got = recv(s->fd, data, room, MSG_DONTWAIT);
    if (got >= 0) {
        return got;
    }
    if (errno == EINTR) {
        return -EAGAIN;
    }
    return err_set(err, -errno, "%s",
                   errno == ECONNRESET ? "the connection was lost" : strerror(errno));
}

static void tell_readable(struct stream *s)
{
    if (s->in.tell && !s->in.paused) {
        s->in.tell = false;
        stream_call_owner(s, "readable", s->events.readable);
    }
}

/* Reads what is there, up to the limit.  Returns -EAGAIN, 0 at the end of the input, or another
 * -errno; *all: what comes later makes the socket ready again. */
static int read_some(struct stream *s, size_t *budget, bool *all, struct err *err)
{
    while (stream_may_read(s) && *budget > 0) {
        if (!stream_inbuf_reserve(&s->input, s->input_max)) {
            return err_set(err, -ENOMEM, "not enough memory for incoming data");
        }
        size_t room = s->input.capacity - s->input.end;
        size_t most = s->input_max - (s->input.end - s->input.begin);
        room = room < most ? room : most;
        room = room < *budget ? room : *budget;
        ssize_t got = transport_read(s, s->input.data + s->input.end, room, err);
        if (got <= 0) {
            *all = true;
            return (int)got;
        }
        s->input.end += (size_t)got;
        *budget -= (size_t)got;
        s->in.tell = true;
        *all = s->tls != NULL ? !tls_may_have_more(s->tls) : (size_t)got < room;
        if (*all && s->out.error == 0) {
            break;
        }
    }
    return -EAGAIN;
}

/* The owner is told as soon as the limit is reached, and may make room for more in the same
 * turn. */
void stream_read_in(struct stream *s)
{
    struct err err;
    size_t budget = STREAM_TURN_BYTES;
    int code;
    bool all = false, ended = false;
    s->in.due = false;
    s->in.busy = true;
    stream_inbuf_borrow(&s->input, &s->hub->block);
    do {
        code = read_some(s, &budget, &all, &err);
        ended = all || code != -EAGAIN;
        if (!ended && stream_may_read(s)) { /* the budget is used up */
            s->in.due = true;
            stream_soon(s);
            ended = true;
        }
        if (code == -EAGAIN && s->out.error != 0 && !s->in.due) {
            code = err_set(&err, s->out.error, "%s", "the connection was lost");
            ended = true;
        }
        if (ended && s->tls != NULL) {
            tls_turn_over(s->tls);
        }
        tell_readable(s);
    } while (!ended && stream_may_read(s));
    if (!ended && s->tls != NULL && s->phase == OPEN) {
        tls_turn_over(s->tls);
    }
    if (!s->owned) {
        s->input.begin = s->input.end = 0; /* nobody will ask for it */
    }
    stream_inbuf_give_back(&s->input, &s->hub->block);
    s->in.busy = false;
    if (s->phase == OPEN && code != -EAGAIN) {
        stream_end(s, code, code == 0 ? "closed" : err.text);
    }
}

/* There is room in the input again; the reader notices that itself. */
static void may_read_again(struct stream *s)
{
    if (!s->in.busy) {
        s->in.due = true;
        stream_soon(s);
    }
}

const void *stream_input(const struct stream *s, size_t *length)
{
    *length = s->input.end - s->input.begin;
    return s->input.data != NULL ? s->input.data + s->input.begin : (const unsigned char *)"";
}

void stream_consume(struct stream *s, size_t length)
{
    size_t had = s->input.end - s->input.begin;
    stream_inbuf_consume(&s->input, length);
    if (had >= s->input_max && had - length < s->input_max) {
        may_read_again(s);
    }
}

void stream_set_input_max(struct stream *s, size_t bytes)
{
    size_t unread = s->input.end - s->input.begin;
    bool was_full = unread >= s->input_max;
    s->input_max = bytes < STREAM_INPUT_MAX ? bytes : STREAM_INPUT_MAX;
    if (s->tls != NULL) {
        tls_set_read_max(s->tls, s->input_max);
    }
    if (was_full && unread < s->input_max) {
        may_read_again(s);
    }
}

void stream_known(struct stream *s)
{
    strangers_prove(&s->stranger, loop_now_ms(s->loop));
}

void stream_pause(struct stream *s, bool paused)
{
    if (s->in.paused != paused) {
        s->in.paused = paused;
        if (!paused) {
            s->in.tell = s->input.end > s->input.begin;
            s->in.due = true;
        }
        stream_soon(s);
    }
}
