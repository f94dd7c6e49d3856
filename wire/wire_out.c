/* wire/wire_out.c - what a connection sends, and its end.
 *
 * Below everything that sends or finds a reason to end the connection: requests, calls, limits.
 * Small frames are collected in `out` and written once per turn of the loop.  The owner is told of
 * the end in the wire's next turn (wire.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/stream/stream.h"
#include "wire/wire_private.h"

#define OUT_GATHER_MAX ((size_t)64 << 10) /* bytes gathered before they are written at once */
#define OUT_KEEP_MAX   ((size_t)1 << 10)  /* memory of `out` kept between turns */
#define BLOB_COPY_MAX  ((size_t)16 << 10) /* larger blobs are not gathered, but written */
_Static_assert(WIRE_FRAME_MAX <= STREAM_INPUT_MAX,
               "a whole frame must fit into the stream's input");

/* ---- turns ----------------------------------------------------------------------------------- */

/* Schedules a turn of the wire after the current callback. */
void wire_turn_take(struct wire *wire)
{
    struct wire_context *context = wire->context;
    if (wire->in_turns) {
        return;
    }
    TAILQ_INSERT_TAIL(&context->turns, wire, turn_entry);
    wire->in_turns = true;
    context->turn_count++;
    if (!loop_timer_is_set(context->turn)) {
        loop_timer_set(context->turn, 0);
    }
}

void wire_turn_forget(struct wire *wire)
{
    if (wire->in_turns) {
        TAILQ_REMOVE(&wire->context->turns, wire, turn_entry);
        wire->in_turns = false;
        wire->context->turn_count--;
    }
}

/* ---- output ---------------------------------------------------------------------------------- */

static void wire_write(struct wire *wire, const void *data, size_t length)
{
    if (wire->stream == NULL || length == 0) {
        return;
    }
    int rc = stream_write(wire->stream, data, length);
    if (rc < 0) {
        /* The stream tells of its end itself, with a better reason, unless it is full. */
        if (rc == -ENOBUFS) {
            wire_fail(wire, rc, false, "the peer does not read: the output buffer is full");
        }
        return;
    }
    size_t pending = stream_pending(wire->stream);
    if (pending > WIRE_OUTPUT_MAX && wire->state != WIRE_OVER) {
        log_warn(wire->context->log, "wire.dropped", "the peer does not read",
                 LOG_TEXT("peer", wire->caller->address),
                 LOG_TEXT("identity", wire->caller->identity), LOG_INT("pending_bytes", pending));
        wire_fail(wire, -ENOBUFS, false, "the peer does not read: %zu bytes wait to be sent",
                  pending);
    }
    wire_limits_output(wire, pending);
}

void wire_flush(struct wire *wire)
{
    if (wire->out.length > 0) {
        wire_write(wire, wire->out.data, wire->out.length);
    }
    strbuf_clear(&wire->out);
    if (wire->out.capacity > OUT_KEEP_MAX) {
        size_t max = wire->out.max;
        strbuf_fini(&wire->out);
        strbuf_init(&wire->out, max);
    }
}

int wire_frame_end(struct wire *wire, size_t begin, const void *blob, size_t blob_length)
{
    bool apart = blob_length > BLOB_COPY_MAX;
    if (!apart && blob_length > 0) {
        strbuf_append(&wire->out, blob, blob_length);
    }
    int rc = frame_end(&wire->out, begin, apart ? blob_length : 0, WIRE_FRAME_MAX);
    if (rc < 0) {
        return rc;
    }
    if (apart) {
        wire_flush(wire);
        wire_write(wire, blob, blob_length);
    } else if (wire->out.length > OUT_GATHER_MAX) {
        wire_flush(wire);
    } else {
        wire_turn_take(wire);
    }
    return 0;
}

void wire_send_opaque(struct wire *wire, enum frame_type type, uint64_t opaque)
{
    size_t begin = frame_begin(&wire->out, type, 0, 0, 0);
    frame_put_u64(&wire->out, opaque);
    (void)wire_frame_end(wire, begin, NULL, 0); /* 24 bytes always fit */
}

void wire_ping(struct wire *wire)
{
    wire_send_opaque(wire, FRAME_PING, loop_now_ms(wire->context->loop));
}

void wire_out_init(struct wire *wire)
{
    strbuf_init(&wire->out, WIRE_FRAME_MAX + OUT_GATHER_MAX * 2);
}

/* ---- the end --------------------------------------------------------------------------------- */

void wire_fail(struct wire *wire, int status, bool goodbye, const char *format, ...)
{
    char why[ERR_TEXT_MAX];
    va_list args;
    if (wire->state == WIRE_OVER) {
        return;
    }
    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    wire->state = WIRE_OVER; /* first: writing may find another reason to fail */
    if (goodbye) {
        size_t begin = frame_begin(&wire->out, FRAME_GOODBYE, 0, 0, 0);
        frame_put_u32(&wire->out, (uint32_t)status);
        frame_put_text16(&wire->out, why, strlen(why));
        (void)wire_frame_end(wire, begin, NULL, 0);
        wire->end.finish = true;
    }
    wire->end.status = status;
    wire->end.why = mem_strdup(why);
    wire_turn_take(wire);
}

bool wire_is_ready(const struct wire *wire)
{
    return wire->state == WIRE_READY;
}
