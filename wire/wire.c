/* wire/wire.c - one connection: input and output, greeting, pings, its end.
 *
 * wire_private.h describes the life of a wire.  Input: frames are decoded in the stream's buffer,
 * which has room for the largest.  One turn handles at most TURN_FRAMES frames, so that a busy peer
 * does not starve others.  Output: small frames are collected in `out` and written once per turn of
 * the loop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/wire.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/stream/stream.h"
#include "classad/ad.h"
#include "wire/wire_private.h"

#define TURN_FRAMES   512
#define CLOCK_REST_MS 3000 /* the clock is not set again for input that comes within that */
#define DOUBT_MS      100  /* after a PING is overdue, until the peer counts as silent */
#define TELL_MS       900  /* until others know that the peer is silent */
#define OPEN_MS       (STREAM_HANDSHAKE_MS + WIRE_GREETING_MS)

static void wire_clock(void *arg);

/* ---- turns ----------------------------------------------------------------------------------- */

static bool wire_turn(struct wire *wire);

/* Wires that only have something to send get their turns together.  After a turn that called a
 * wire's owner, other events are handled first. */
void wire_context_turns(void *arg)
{
    struct wire_context *context = arg;
    bool go_on = true;
    for (size_t left = context->turn_count; go_on && left > 0; left--) {
        struct wire *wire = TAILQ_FIRST(&context->turns);
        if (wire == NULL) {
            break;
        }
        wire_turn_forget(wire);
        go_on = wire_turn(wire);
    }
    if (!TAILQ_EMPTY(&context->turns)) {
        loop_timer_set(context->turn, 0);
    }
}

/* ---- making and freeing ---------------------------------------------------------------------- */

static struct wire *wire_new(struct wire_context *context, const struct wire_events *events,
                             void *arg, const char *address)
{
    struct wire *wire = mem_zalloc(sizeof *wire);
    wire->context = context;
    wire->next = context->first;
    if (context->first != NULL) {
        context->first->previous = wire;
    }
    context->first = wire;
    wire->state = WIRE_GREETING;
    wire->events = *events;
    wire->arg = arg;
    wire->caller = caller_create(address);
    wire->clock = loop_timer_create(context->loop, wire_clock, wire);
    wire->deadlines = loop_timer_create(context->loop, request_deadlines, wire);
    wire->deadline_next_ms = UINT64_MAX;
    wire_out_init(wire);
    wire->life.last_input_ms = loop_now_ms(context->loop);
    loop_timer_set(wire->clock, OPEN_MS);
    return wire;
}

static void wire_free(struct wire *wire)
{
    if (wire->previous != NULL) {
        wire->previous->next = wire->next;
    } else {
        wire->context->first = wire->next;
    }
    if (wire->next != NULL) {
        wire->next->previous = wire->previous;
    }
    wire->context->attended -= wire->life.attended ? 1 : 0;
    wire_turn_forget(wire);
    wire_limits_leave(wire);
    request_drop_all(wire);
    stream_close(wire->stream);
    loop_timer_destroy(wire->clock);
    loop_timer_destroy(wire->deadlines);
    strbuf_fini(&wire->out);
    caller_unref(wire->caller);
    mem_free(wire->end.why);
    mem_free(wire->route);
    mem_free(wire->said_name);
    ad_destroy(wire->hello);
    secret_list_unref(wire->hello_secrets);
    mem_free(wire);
}

void wire_context_sweep(struct wire_context *context)
{
    while (context->first != NULL) {
        wire_free(context->first);
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Ends the connection because the peer broke the protocol. */
static void wire_drop(struct wire *wire, const char *why)
{
    log_warn(wire->context->log, "wire.dropped", "protocol error of the peer",
             LOG_TEXT("peer", wire->caller->address), LOG_TEXT("identity", wire->caller->identity),
             LOG_TEXT("reason", why));
    wire_fail(wire, -EPROTO, true, "%s", why);
}

/* Closes the stream, but not inside one of its own callbacks, whose buffers are still in use. */
static void wire_end_stream(struct wire *wire)
{
    struct stream *stream = wire->stream;
    wire_limits_leave(wire);
    if (stream == NULL) {
        return;
    }
    if (wire->end.finish) {
        wire_flush(wire);
    }
    wire->stream = NULL;
    if (wire->end.finish) {
        stream_finish(stream);
    } else {
        stream_close(stream);
    }
}

static void wire_input(struct wire *wire);

/* Does a wire's turn.  Returns false when its owner was called. */
static bool wire_turn(struct wire *wire)
{
    bool input_waits = wire->input_waits;
    if (input_waits && wire->state != WIRE_OVER) {
        wire_input(wire);
    }
    if (wire->state != WIRE_OVER) {
        wire_flush(wire);
    }
    if (wire->state != WIRE_OVER) {
        return !input_waits;
    }
    wire_end_stream(wire);
    loop_timer_stop(wire->clock);
    loop_timer_stop(wire->deadlines);
    request_tell_all_over(wire);
    if (!wire->end.given_up && !wire->end.told) {
        wire->end.told = true;
        wire->events.closed(wire->arg, wire, wire->end.status, wire->end.why);
    }
    if (wire->end.given_up) {
        wire_free(wire);
    }
    return false;
}

void wire_close(struct wire *wire)
{
    if (wire == NULL) {
        return;
    }
    CHECK(!wire->end.given_up);
    wire->end.given_up = true;
    wire_fail(wire, -ECONNRESET, false, "connection closed");
    wire_turn_take(wire);
}

void wire_finish(struct wire *wire)
{
    if (wire == NULL) {
        return;
    }
    if (wire->state != WIRE_OVER) {
        wire->end.finish = true;
    }
    wire_close(wire);
}

const struct wire_peer *wire_peer(const struct wire *wire)
{
    return &wire->caller->peer;
}

static uint64_t attend_ms(size_t attended)
{
    uint64_t ms = (uint64_t)attended * 1000 / WIRE_PINGS_S_MAX;
    ms = ms < WIRE_ATTEND_MS ? WIRE_ATTEND_MS : ms;
    return ms < WIRE_PING_MS ? ms : WIRE_PING_MS;
}

uint64_t wire_silence_ms(size_t attended)
{
    return attend_ms(attended) + WIRE_ANSWER_MS + DOUBT_MS + TELL_MS;
}

/* Returns after how much silence the peer is sent a PING, at the latest. */
static uint64_t ping_after_ms(const struct wire *wire)
{
    if (wire->life.attended && attend_ms(wire->context->attended) < WIRE_PING_MS) {
        return attend_ms(wire->context->attended);
    }
    /* Each side's PING is a sign of life to the other: one side's are enough. */
    return wire->dialled ? WIRE_PING_MS : WIRE_PING_ACCEPTED_MS;
}

static uint64_t floor_ms(uint64_t at_ms, uint64_t grid_ms)
{
    return at_ms - at_ms % grid_ms;
}

/* Returns the moment at which the peer is sent a PING if nothing comes.  That of all connections is
 * a multiple of one time, so that a process, and all those of a host, wake once for many. */
static uint64_t ping_due_ms(const struct wire *wire)
{
    uint64_t last_ms = wire->life.last_input_ms;
    uint64_t due_ms = floor_ms(last_ms + ping_after_ms(wire), LOOP_GRID_MS);
    if (!wire->life.attended ||
        (wire->context->attended <= WIRE_TOGETHER_MAX && due_ms >= last_ms + WIRE_ATTEND_MIN_MS)) {
        return due_ms;
    }
    if (wire->context->attended > WIRE_TOGETHER_MAX) {
        return floor_ms(last_ms + ping_after_ms(wire), WIRE_ATTEND_GRID_MS);
    }
    /* A second earlier each time, until it is one of all. */
    return floor_ms(last_ms + WIRE_ATTEND_MIN_MS + WIRE_ATTEND_GRID_MS, WIRE_ATTEND_GRID_MS);
}

static void clock_set(struct wire *wire)
{
    uint64_t now_ms = loop_now_ms(wire->context->loop), due_ms = ping_due_ms(wire);
    wire->life.clock_set_ms = now_ms;
    loop_timer_set(wire->clock, due_ms > now_ms ? due_ms - now_ms : 0);
}

void wire_proved(struct wire *wire)
{
    struct err err = {{0}};
    if (wire->state == WIRE_OVER || wire->share.proved) {
        return;
    }
    if (wire_limits_join(wire, &err) < 0) {
        wire_fail(wire, -EBUSY, true, "%s", err.text);
    } else if (wire->state == WIRE_READY) {
        clock_set(wire);
    }
}

size_t wire_peer_frame_max(const struct wire *wire)
{
    return wire->dialled ? wire->peer_frame_max : WIRE_FRAME_MAX;
}

/* ---- signs of life --------------------------------------------------------------------------- */

void wire_attend(struct wire *wire)
{
    if (wire->life.attended || wire->state == WIRE_OVER) {
        return;
    }
    wire->life.attended = true;
    wire->context->attended++;
    if (wire->state == WIRE_READY && wire->share.proved && !wire->life.pinged) {
        clock_set(wire);
    }
}

/* Ends a connection whose token has expired.  Returns whether it has. */
static bool end_expired(struct wire *wire)
{
    int64_t expires_s = wire->caller->token.expires_s;
    if (wire->dialled || expires_s == 0 || expires_s > loop_wall_s(wire->context->loop)) {
        return false;
    }
    log_warn(wire->context->log, "wire.expired", "connection closed: its token expired",
             LOG_TEXT("peer", wire->caller->address), LOG_TEXT("identity", wire->caller->identity),
             LOG_TEXT("token_id", wire->caller->token.id));
    wire_fail(wire, -EKEYEXPIRED, true, "token expired (id '%s')", wire->caller->token.id);
    return true;
}

/* Puts the clock off after input, so that it does not wake this process only to be set again.  What
 * else the clock sees to is done here, too. */
static void put_off_clock(struct wire *wire)
{
    if (wire->state == WIRE_READY && wire->share.proved &&
        wire->life.last_input_ms - wire->life.clock_set_ms >= CLOCK_REST_MS && !end_expired(wire)) {
        clock_set(wire);
    }
}

static void note_heard(struct wire *wire)
{
    bool was_silent = wire->life.silent;
    wire->life.last_input_ms = loop_now_ms(wire->context->loop);
    if (wire->life.pinged) { /* not when the answer would have been overdue */
        clock_set(wire);
    } else {
        put_off_clock(wire);
    }
    wire->life.pinged = wire->life.doubted = wire->life.silent = false;
    if (was_silent) {
        wire->events.silent(wire->arg, wire, 0);
    }
}

/* Sees to a PING that is not answered; silent_ms: time since the last input.  Returns the
 * milliseconds until the next look; 0: the connection is over. */
static uint64_t await_answer(struct wire *wire, uint64_t waited_ms, uint64_t silent_ms)
{
    /* Who gets its PING earlier is given up no earlier than others. */
    uint64_t asked_ms = wire->life.pinged_ms - wire->life.last_input_ms;
    uint64_t give_up_ms =
        2 * WIRE_PING_MS - (asked_ms < WIRE_PING_ACCEPTED_MS ? asked_ms : WIRE_PING_ACCEPTED_MS);
    if (waited_ms >= give_up_ms) {
        log_warn(wire->context->log, "wire.silent", "connection closed: the peer is silent",
                 LOG_TEXT("peer", wire->caller->address),
                 LOG_TEXT("identity", wire->caller->identity), LOG_INT("silent_ms", silent_ms));
        wire_fail(wire, -ETIMEDOUT, false, "%s: silent for %llu s", wire->caller->address,
                  (unsigned long long)(silent_ms / 1000));
        return 0;
    }
    if (!wire->life.attended || wire->life.silent || wire->events.silent == NULL) {
        return give_up_ms - waited_ms;
    }
    if (waited_ms < WIRE_ANSWER_MS) {
        return WIRE_ANSWER_MS - waited_ms;
    }
    if (!wire->life.doubted) { /* perhaps it was this process that stood still */
        wire->life.doubted = true;
        return DOUBT_MS;
    }
    wire->life.silent = true;
    wire->events.silent(wire->arg, wire, silent_ms);
    return give_up_ms - waited_ms;
}

static void wire_clock(void *arg)
{
    struct wire *wire = arg;
    if (wire->state == WIRE_OVER) {
        return;
    }
    if (wire->state == WIRE_GREETING && stream_must_wait(wire->stream)) {
        loop_timer_set(wire->clock, OPEN_MS); /* the stream has a deadline of its own */
        return;
    }
    if (wire->state == WIRE_GREETING) {
        log_warn(wire->context->log, "wire.refused", "no greeting in time",
                 LOG_TEXT("peer", wire->caller->address));
        wire_fail(wire, -ETIMEDOUT, false, "%s: no greeting in time", wire->caller->address);
        return;
    }
    if (end_expired(wire)) {
        return;
    }
    if (!wire->share.proved) {
        log_warn(wire->context->log, "wire.refused", "the peer did not prove its identity in time",
                 LOG_TEXT("peer", wire->caller->address));
        wire_fail(wire, -ETIMEDOUT, true, "the peer did not prove its identity in time");
        return;
    }
    uint64_t now_ms = loop_now_ms(wire->context->loop);
    if (wire_limits_is_waiting(wire)) { /* we do not hear it */
        note_heard(wire);
    }
    uint64_t silent_ms = now_ms - wire->life.last_input_ms;
    if (!wire->life.pinged && now_ms < ping_due_ms(wire)) {
        clock_set(wire);
        return;
    }
    /* After a suspend both sides find a long silence: only one after a PING of ours counts. */
    if (!wire->life.pinged) {
        wire->life.pinged = true;
        wire->life.pinged_ms = now_ms;
        wire_send_opaque(wire, FRAME_PING, now_ms);
    }
    uint64_t next_ms = await_answer(wire, now_ms - wire->life.pinged_ms, silent_ms);
    if (next_ms > 0) {
        loop_timer_set(wire->clock, next_ms);
    }
}

static void wire_becomes_ready(struct wire *wire)
{
    wire->state = WIRE_READY;
    if (wire->dialled) {
        (void)wire_limits_join(wire, NULL); /* of ours there are never too many */
    }
    if (wire->share.proved) {
        clock_set(wire);
    } else {
        loop_timer_set(wire->clock, WIRE_PROOF_MS);
    }
    if (wire->events.ready != NULL) {
        wire->events.ready(wire->arg, wire);
    }
}

/* ---- greeting -------------------------------------------------------------------------------- */

static int greeting_send(struct wire *wire, enum frame_type type, uint16_t version,
                         uint16_t version_min, const struct wire_body *body)
{
    size_t begin = frame_begin(&wire->out, type, 0, 0, 0);
    frame_put_u16(&wire->out, version);
    frame_put_u16(&wire->out, version_min);
    frame_put_body(&wire->out, body);
    if (!wire->out.failed && wire->out.length - begin > FRAME_GREETING_MAX) {
        wire->out.failed = true;
    }
    return wire_frame_end(wire, begin, NULL, 0);
}

static void greeting_refuse(struct wire *wire, int status, const char *why)
{
    struct ad *args = ad_create();
    ad_set_int(args, "ErrorCode", status);
    ad_set_string(args, "ErrorString", why);
    const struct wire_body body = {.args = args};
    (void)greeting_send(wire, FRAME_REFUSED, WIRE_VERSION, WIRE_VERSION_MIN, &body);
    ad_destroy(args);
    log_warn(wire->context->log, "wire.refused", "greeting refused",
             LOG_TEXT("peer", wire->caller->address), LOG_TEXT("identity", wire->caller->identity),
             LOG_TEXT("reason", why));
    wire->end.finish = true;
    wire_fail(wire, -EACCES, false, "%s", why);
}

const char *wire_hello_secret(const struct wire_hello *hello, enum wire_secret_kind kind)
{
    return wire_secret_find(hello->secrets, hello->secret_count, kind, SECRET_OF_ARGS);
}

/* The server's part of the greeting. */
static int greeting_take_hello(struct wire *wire, const struct frame *frame, struct err *err)
{
    struct frame_message message = {0};
    struct err why = {{0}};
    const struct ad *hello = NULL;
    int rc = frame_message_decode(frame->body, frame->body_length, &message, err);
    if (rc < 0) {
        return rc;
    }
    uint8_t binding[STREAM_BINDING_BYTES];
    const struct greeting_place place = {.how = &wire->how,
                                         .route = wire->route,
                                         .binding = stream_binding(wire->stream, binding) ? binding
                                                                                          : NULL};
    rc = place.binding == NULL && !wire->caller->peer.has_uid
             ? err_set(&why, -EPROTO, "the TLS handshake is not complete yet")
             : greeting_judge_hello(wire->context, frame, &message, &place, wire->caller, &hello,
                                    &why);
    if (rc >= 0 && wire->how.admit != NULL) {
        struct ad *empty = hello == NULL ? ad_create() : NULL;
        const struct wire_hello said = {.ad = hello == NULL ? empty : hello,
                                        .secrets = message.secrets,
                                        .secret_count = message.secret_count};
        rc = wire->how.admit(wire->arg, &wire->caller->peer, &said, &why);
        ad_destroy(empty);
    }
    frame_message_fini(&message);
    if (wire->state == WIRE_OVER) {
        return 0; /* closed in admit */
    }
    if (rc >= 0 && !wire->how.proves_later) {
        rc = wire_limits_join(wire, &why);
    }
    if (rc < 0) {
        greeting_refuse(wire, rc, why.text);
        return 0;
    }
    char scopes[128];
    struct ad *args = ad_create();
    ad_set_string(args, "Identity", wire->caller->identity);
    ad_set_string(args, "Scopes", scope_names(wire->caller->peer.scopes, scopes, sizeof scopes));
    ad_set_int(args, "ServerTime", loop_wall_s(wire->context->loop));
    if (!wire->share.proved) {
        ad_set_int(args, "FrameMax", (int64_t)FRAME_GREETING_MAX);
    }
    const struct wire_body body = {.args = args};
    (void)greeting_send(wire, FRAME_WELCOME, WIRE_VERSION, 0, &body);
    ad_destroy(args);
    wire_becomes_ready(wire);
    return 0;
}

/* The client's part of the greeting. */
static int greeting_take_answer(struct wire *wire, const struct frame *frame, struct err *err)
{
    struct frame_message message = {0};
    int rc = frame_message_decode(frame->body, frame->body_length, &message, err);
    if (rc < 0) {
        return rc;
    }
    int64_t said = message.args != NULL ? ad_int_or(message.args, "FrameMax", 0) : 0;
    size_t frame_max =
        said > 0 && said < (int64_t)WIRE_FRAME_MAX ? (size_t)said : (size_t)WIRE_FRAME_MAX;
    if (frame->type == FRAME_REFUSED) {
        int64_t code = 0;
        const char *why = "no reason given";
        if (message.args != NULL) {
            code = ad_int_or(message.args, "ErrorCode", 0);
            why = ad_string_or(message.args, "ErrorString", why);
        }
        wire->end.refused = (int)code;
        wire_fail(wire, code == -EPROTONOSUPPORT ? -EPROTONOSUPPORT : -EACCES, false,
                  "%s refused the connection: %s", wire->caller->address, why);
    } else if (frame->version < WIRE_VERSION_MIN || frame->version > WIRE_VERSION) {
        rc = err_set(err, -EPROTO,
                     "the server chose protocol version %u; this program supports %d to %d",
                     frame->version, WIRE_VERSION_MIN, WIRE_VERSION);
    }
    frame_message_fini(&message);
    if (rc == 0 && wire->state != WIRE_OVER) {
        uid_t uid = 0;
        pid_t pid = 0;
        if (stream_peer_uid(wire->stream, &uid, &pid)) {
            greeting_judge_uid(wire->context, uid, wire->caller);
        }
        wire->caller->peer.scopes |= wire->server_scopes;
        wire->peer_frame_max = frame_max;
        wire_becomes_ready(wire);
    }
    return rc;
}

/* Makes the ad that HELLO will send, without the proof, which needs the TLS connection. */
static struct ad *greeting_prepare(const struct wire_dial *dial)
{
    struct ad *args = ad_create();
    if (dial->name != NULL && dial->name[0] != '\0') {
        ad_set_string(args, "Name", dial->name);
    }
    ad_set_string(args, "Software", "roost " ROOST_VERSION);
    if (dial->hello != NULL) {
        ad_set_ad(args, "Hello", ad_copy(dial->hello));
    }
    return args;
}

static int greeting_offer(struct wire *wire, struct err *err)
{
    uint8_t binding[STREAM_BINDING_BYTES];
    bool is_tls = stream_binding(wire->stream, binding);
    struct ad *args = wire->hello;
    wire->hello = NULL;
    if (wire->said_name[0] != '\0') {
        ad_set_string(args, "Instance", wire->context->instance.id);
    }
    int rc = greeting_offer_proof(wire->context, wire->route, wire->said_name,
                                  is_tls ? binding : NULL, args, err);
    if (rc == 0) {
        struct secret_batch secrets = {0};
        secret_batch_add(&secrets, wire->hello_secrets, SECRET_OF_ARGS);
        const struct wire_body body = {.args = args,
                                       .secrets = secrets.items,
                                       .secret_count = secrets.count};
        rc = greeting_send(wire, FRAME_HELLO, WIRE_VERSION, WIRE_VERSION_MIN, &body);
        secret_batch_fini(&secrets);
        rc = rc < 0 ? err_set(err, rc, "%s: greeting is too large", wire->caller->address) : 0;
    }
    ad_destroy(args);
    return rc;
}

/* ---- input ----------------------------------------------------------------------------------- */

static int frame_in_greeting(struct wire *wire, const struct frame *frame, struct err *err)
{
    if (frame->type == FRAME_HELLO && !wire->dialled) {
        return greeting_take_hello(wire, frame, err);
    }
    if ((frame->type == FRAME_WELCOME || frame->type == FRAME_REFUSED) && wire->dialled) {
        return greeting_take_answer(wire, frame, err);
    }
    return err_set(err, -EPROTO, "frame of type %d before the greeting", (int)frame->type);
}

static int frame_when_ready(struct wire *wire, const struct frame *frame, struct err *err)
{
    switch (frame->type) {
    case FRAME_REQUEST:
        return request_take(wire, frame, err);
    case FRAME_REPLY:
        return request_reply(wire, frame, err);
    case FRAME_CANCEL:
        return request_cancel(wire, frame, err);
    case FRAME_WINDOW:
        return request_window(wire, frame, err);
    case FRAME_PING:
        wire_send_opaque(wire, FRAME_PONG, frame->opaque);
        return 0;
    case FRAME_PONG:
        return 0;
    case FRAME_HELLO:
    case FRAME_WELCOME:
    case FRAME_REFUSED:
    case FRAME_GOODBYE:
        break;
    }
    return err_set(err, -EPROTO, "unexpected second greeting");
}

static void frame_handle(struct wire *wire, const struct frame *frame)
{
    struct err err = {{0}};
    int rc = 0;
    if (frame->type == FRAME_GOODBYE) {
        wire_fail(wire, frame->status == 0 ? -ECONNRESET : frame->status, false, "%s: %.*s",
                  wire->caller->address, (int)frame->text_length, frame->text);
        return;
    }
    rc = wire->state == WIRE_READY ? frame_when_ready(wire, frame, &err)
                                   : frame_in_greeting(wire, frame, &err);
    if (rc < 0) {
        wire_drop(wire, err.text);
    }
}

/* Handles one frame of the peer.  Returns false when there is none, or no more is wanted. */
static bool input_frame(struct wire *wire)
{
    struct frame frame;
    struct err err = {{0}};
    size_t size = 0, length = 0;
    size_t frame_max = wire->share.proved ? WIRE_FRAME_MAX : FRAME_GREETING_MAX;
    const void *data = stream_input(wire->stream, &length);
    int rc = frame_decode(data, length, frame_max, &frame, &size, &err);
    if (rc < 0) {
        wire_drop(wire, err.text);
        return false;
    }
    if (rc == 0) {
        wire_limits_frame_partial(wire, size, length);
        return false;
    }
    frame_handle(wire, &frame);
    if (wire->state != WIRE_OVER) {
        stream_consume(wire->stream, size);
        wire_limits_frame_whole(wire);
    }
    return true;
}

static void wire_input(struct wire *wire)
{
    wire->input_waits = false;
    for (int i = 0; wire->state != WIRE_OVER; i++) {
        if (i == TURN_FRAMES) {
            wire->input_waits = true;
            wire_turn_take(wire);
            return;
        }
        if (!input_frame(wire)) {
            return;
        }
    }
}

static void on_opened(void *arg)
{
    struct wire *wire = arg;
    struct err err = {{0}};
    if (wire->state != WIRE_GREETING) {
        return;
    }
    loop_timer_set(wire->clock, WIRE_GREETING_MS);
    if (wire->hello != NULL && greeting_offer(wire, &err) < 0) {
        wire_fail(wire, -EACCES, false, "%s: %s", wire->caller->address, err.text);
    }
}

static void on_readable(void *arg)
{
    struct wire *wire = arg;
    if (wire->state == WIRE_OVER || wire->stream == NULL) {
        return;
    }
    note_heard(wire);
    if (!wire->input_waits && wire->state != WIRE_OVER) {
        wire_input(wire);
    }
}

static void on_closed(void *arg, int code, const char *why)
{
    struct wire *wire = arg;
    if (wire->state == WIRE_OVER) {
        return;
    }
    /* What came before the end counts: the last words of the peer may be a REFUSED or GOODBYE. */
    while (wire->state != WIRE_OVER && input_frame(wire)) {
    }
    wire_fail(wire, code, false, "%s", why == NULL || why[0] == '\0' ? "closed by the peer" : why);
}

static void on_drained(void *arg)
{
    request_output_drained(arg);
}

static const struct stream_events STREAM_EVENTS = {.opened = on_opened,
                                                   .readable = on_readable,
                                                   .drained = on_drained,
                                                   .closed = on_closed};

/* ---- dialling and accepting ------------------------------------------------------------------ */

int wire_dial(struct wire_context *context, const struct wire_dial *dial,
              const struct wire_events *events, void *arg, struct wire **ret, struct err *err)
{
    CHECK(events->closed != NULL);
    struct stream_trust trust;
    int rc = wire_trust(context, dial, &trust, err);
    if (rc < 0) {
        return rc;
    }
    struct wire *wire = wire_new(context, events, arg, dial->address);
    wire->dialled = true;
    wire->server_scopes = dial->server_scopes;
    wire->route = mem_strdup(dial->route);
    wire->said_name = mem_strdup(dial->name == NULL ? "" : dial->name);
    wire->hello = greeting_prepare(dial);
    wire->hello_secrets = secret_list_create(dial->secrets, dial->secret_count);
    rc = stream_connect(context->loop, dial->address, dial->route, &trust, &STREAM_EVENTS, wire,
                        &wire->stream, err);
    if (rc == 0 && trust.ca_file == NULL && trust.pin == NULL) {
        /* a Unix socket: there is nothing of the connection to be signed */
        rc = greeting_offer(wire, err);
    }
    if (rc < 0) {
        wire_free(wire);
        return rc;
    }
    *ret = wire;
    return 0;
}

int wire_accept(struct wire_context *context, struct incoming *incoming,
                const struct wire_accept *how, const struct wire_events *events, void *arg,
                struct wire **ret, struct err *err)
{
    CHECK(events->closed != NULL);
    struct wire *wire = wire_new(context, events, arg, incoming_peer(incoming));
    wire->how = *how;
    wire->route = mem_strdup(incoming_route(incoming));
    wire->stream = incoming_accept(incoming, how->identity, &STREAM_EVENTS, wire);
    if (wire->stream == NULL) {
        int rc = err_set(err, -ECONNABORTED, "%s: the peer disconnected before it was accepted",
                         wire->caller->address);
        wire_free(wire);
        return rc;
    }
    stream_set_input_max(wire->stream, FRAME_GREETING_MAX);
    uid_t uid = 0;
    pid_t pid = 0;
    if (stream_peer_uid(wire->stream, &uid, &pid)) {
        greeting_judge_uid(context, uid, wire->caller);
    }
    *ret = wire;
    return 0;
}
