/* wire/request.c - requests in both directions.
 *
 * Calls are ours, requests the peer's.  A call ends with its last reply, its deadline,
 * wire_cancel() or the connection; a request ends with our last reply, or when the peer is gone.
 * Deadlines: one timer per connection, set for the earliest that was ever seen and not put off when
 * that call is answered: a wasted tick now and then is cheaper than a timer per call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "wire/wire_private.h"

#define DENIALS_LOGGED 16   /* refusals of one connection that are logged; then each power of two */
#define TOKEN_AGE_MS   5000 /* our own token is read again for a relay when it is older */

struct call {
    struct id_node node; /* first */
    wire_reply_f call;
    wire_raw_f raw; /* instead of call */
    void *arg;
    uint64_t deadline_ms, due_ms; /* 0: none */
    uint32_t unreturned_bytes;    /* of parts worked off */
};

/* ---- calls ----------------------------------------------------------------------------------- */

static struct call *call_find(const struct wire *wire, uint64_t id)
{
    return (struct call *)id_table_get(&wire->calls, id);
}

static void call_arm(struct wire *wire, struct call *call)
{
    if (call->deadline_ms == 0) {
        return;
    }
    uint64_t now_ms = loop_now_ms(wire->context->loop);
    call->due_ms = now_ms + call->deadline_ms;
    if (call->due_ms < wire->deadline_next_ms) {
        wire->deadline_next_ms = call->due_ms;
        loop_timer_set(wire->deadlines, call->deadline_ms);
    }
}

/* Takes the call out and frees it; the callback is the caller's business. */
static struct call call_take(struct wire *wire, struct call *call)
{
    struct call copy = *call;
    id_table_remove(&wire->calls, &call->node);
    mem_free(call);
    return copy;
}

/* A reply that was made on this side. */
static void call_tell(struct call call, int status, const char *text)
{
    if (call.raw != NULL) {
        struct frame frame = {.type = FRAME_REPLY,
                              .request = call.node.id,
                              .status = status,
                              .text = text,
                              .text_length = strlen(text)};
        call.raw(call.arg, &frame);
        return;
    }
    struct wire_reply reply = {.status = status, .text = text};
    call.call(call.arg, &reply);
}

static void cancel_send(struct wire *wire, uint64_t id)
{
    size_t begin = frame_begin(&wire->out, FRAME_CANCEL, 0, 0, id);
    (void)wire_frame_end(wire, begin, NULL, 0);
}

static int call_allowed(const struct wire *wire)
{
    if (wire->state != WIRE_READY) {
        return -ENOTCONN;
    }
    return wire->calls.count >= WIRE_REQUESTS_MAX ? -EBUSY : 0;
}

/* After the frame of the call was encoded. */
static int64_t call_add(struct wire *wire, uint64_t deadline_ms, const struct call *like)
{
    struct call *call = mem_zalloc(sizeof *call);
    *call = *like;
    call->deadline_ms = deadline_ms;
    id_table_add(&wire->calls, wire->last_call, &call->node);
    call_arm(wire, call);
    return (int64_t)wire->last_call;
}

int64_t wire_tell(struct wire *wire, enum wire_verb verb, const struct wire_body *body)
{
    if (wire->state != WIRE_READY) {
        return -ENOTCONN;
    }
    size_t begin = frame_begin(&wire->out, FRAME_REQUEST, FRAME_FLAG_QUIET, (uint16_t)verb,
                               wire->last_call + 1);
    frame_put_u32(&wire->out, 0);
    frame_put_body_head(&wire->out, body);
    int rc = wire_frame_end(wire, begin, body == NULL ? NULL : body->blob,
                            body == NULL ? 0 : body->blob_length);
    return rc < 0 ? rc : (int64_t)++wire->last_call;
}

static uint32_t deadline_said(uint64_t deadline_ms)
{
    return deadline_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)deadline_ms;
}

int64_t wire_call(struct wire *wire, enum wire_verb verb, const struct wire_body *body,
                  uint64_t deadline_ms, wire_reply_f call, void *arg)
{
    const struct wire_verb_info *info = wire_verb_find(verb);
    CHECK(info != NULL && call != NULL);
    int rc = call_allowed(wire);
    if (rc < 0) {
        return rc;
    }
    deadline_ms = deadline_ms == 0                  ? info->deadline_ms
                  : deadline_ms == WIRE_NO_DEADLINE ? 0
                                                    : deadline_ms;
    size_t begin = frame_begin(&wire->out, FRAME_REQUEST, 0, (uint16_t)verb, wire->last_call + 1);
    frame_put_u32(&wire->out, deadline_said(deadline_ms));
    frame_put_body_head(&wire->out, body);
    rc = wire_frame_end(wire, begin, body == NULL ? NULL : body->blob,
                        body == NULL ? 0 : body->blob_length);
    if (rc < 0) {
        return rc;
    }
    wire->last_call++;
    return call_add(wire, deadline_ms, &(struct call){.call = call, .arg = arg});
}

int64_t wire_call_relayed(struct wire *wire, uint16_t verb, uint32_t deadline_ms, const char *token,
                          const char *from, const void *body, size_t body_length, wire_raw_f call,
                          void *arg)
{
    int rc = call_allowed(wire);
    if (rc < 0) {
        return rc;
    }
    size_t begin =
        frame_begin(&wire->out, FRAME_REQUEST, FRAME_FLAG_RELAYED, verb, wire->last_call + 1);
    frame_put_u32(&wire->out, deadline_ms);
    frame_put_text16(&wire->out, token, strlen(token));
    frame_put_text16(&wire->out, from, strlen(from));
    rc = wire_frame_end(wire, begin, body, body_length);
    if (rc < 0) {
        return rc;
    }
    wire->last_call++;
    return call_add(wire, deadline_ms, &(struct call){.raw = call, .arg = arg});
}

int64_t wire_relay(struct wire *wire, const char *uplink_name, enum wire_verb verb,
                   const struct wire_body *body, uint64_t deadline_ms, wire_reply_f call, void *arg)
{
    const struct wire_verb_info *info = wire_verb_find(verb);
    CHECK(info != NULL);
    deadline_ms = deadline_ms == 0                  ? info->deadline_ms
                  : deadline_ms == WIRE_NO_DEADLINE ? 0
                                                    : deadline_ms;
    struct strbuf inner;
    strbuf_init(&inner, WIRE_FRAME_MAX);
    frame_put_body(&inner, body);
    if (inner.failed) {
        strbuf_fini(&inner);
        return -EMSGSIZE;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Uplink", uplink_name);
    ad_set_int(args, "Verb", verb);
    ad_set_int(args, "Deadline", (int64_t)deadline_said(deadline_ms));
    const char *token = wire_context_token(wire->context, TOKEN_AGE_MS);
    if (token[0] != '\0') {
        ad_set_string(args, "Token", token);
    }
    struct wire_body outer = {.args = args,
                              .blob = strbuf_text(&inner),
                              .blob_length = inner.length};
    /* A stream such as a WATCH has no deadline through a hub, either. */
    int64_t id = wire_call(wire, VERB_RELAY, &outer,
                           deadline_ms == 0 ? WIRE_NO_DEADLINE : deadline_ms, call, arg);
    ad_destroy(args);
    strbuf_fini(&inner);
    return id;
}

void wire_cancel(struct wire *wire, int64_t request)
{
    struct call *call = request <= 0 ? NULL : call_find(wire, (uint64_t)request);
    if (call == NULL) {
        return;
    }
    (void)call_take(wire, call);
    if (wire->state == WIRE_READY) {
        cancel_send(wire, (uint64_t)request);
    }
}

void request_deadlines(void *arg)
{
    struct wire *wire = arg;
    uint64_t now_ms = loop_now_ms(wire->context->loop);
    wire->deadline_next_ms = UINT64_MAX;
    /* Callbacks may add and cancel calls: each round looks for one that is due from the front. */
    for (struct id_node *node = wire->calls.first; node != NULL;) {
        struct call *call = (struct call *)node;
        node = node->next;
        if (call->due_ms == 0 || call->due_ms > now_ms || wire->state != WIRE_READY) {
            continue;
        }
        struct call ended = call_take(wire, call);
        cancel_send(wire, ended.node.id);
        call_tell(ended, -ETIMEDOUT, "no answer in time");
        node = wire->calls.first;
    }
    for (struct id_node *node = wire->calls.first; node != NULL; node = node->next) {
        uint64_t due_ms = ((struct call *)node)->due_ms;
        if (due_ms != 0 && due_ms < wire->deadline_next_ms) {
            wire->deadline_next_ms = due_ms;
        }
    }
    if (wire->state == WIRE_READY && wire->deadline_next_ms != UINT64_MAX) {
        now_ms = loop_now_ms(wire->context->loop);
        loop_timer_set(wire->deadlines,
                       wire->deadline_next_ms > now_ms ? wire->deadline_next_ms - now_ms : 0);
    }
}

struct ad *wire_reply_take_ad(struct wire_reply *reply, size_t index)
{
    CHECK(index < reply->ad_count);
    struct ad *ad = reply->ads[index];
    reply->ads[index] = NULL;
    return ad;
}

/* Window is returned when half of it is used up, so that the other side need not wait for it. */
void wire_call_return_window(struct wire *wire, int64_t request, uint32_t bytes)
{
    struct call *call = call_find(wire, (uint64_t)request);
    if (call == NULL || wire->state != WIRE_READY) {
        return;
    }
    call->unreturned_bytes += bytes;
    if (call->raw == NULL && call->unreturned_bytes < WIRE_WINDOW_BYTES / 2) {
        return;
    }
    size_t begin = frame_begin(&wire->out, FRAME_WINDOW, 0, 0, (uint64_t)request);
    frame_put_u32(&wire->out, call->unreturned_bytes);
    (void)wire_frame_end(wire, begin, NULL, 0);
    call->unreturned_bytes = 0;
}

void wire_set_pool(struct wire *wire, struct ad_pool *pool)
{
    wire->pool = pool;
}

/* A reply as it is shown to who asked. */
static void reply_show(const struct frame *frame, const struct frame_message *message,
                       wire_reply_f call, void *arg)
{
    char text[FRAME_TEXT_MAX];
    (void)snprintf(text, sizeof text, "%.*s", (int)frame->text_length, frame->text);
    struct wire_reply reply = {.status = frame->status,
                               .text = text,
                               .more = (frame->flags & FRAME_FLAG_MORE) != 0,
                               .args = message->args,
                               .ads = message->ads,
                               .ad_count = message->ad_count,
                               .blob = message->blob,
                               .blob_length = message->blob_length};
    call(arg, &reply);
}

static void complaint_deliver(struct wire *wire, const struct frame *frame)
{
    struct frame_message message = {0};
    if (wire->events.complaint != NULL && !wire->given_up &&
        frame_message_decode_in(wire->context->args_pool, frame->body, frame->body_length, &message,
                                NULL) == 0) {
        reply_show(frame, &message, wire->events.complaint, wire->arg);
        frame_message_fini(&message);
    }
}

static void reply_deliver(struct wire *wire, const struct frame *frame, struct call *call)
{
    struct frame_message message = {0};
    struct err err = {{0}};
    bool more = (frame->flags & FRAME_FLAG_MORE) != 0;
    struct ad_pool *pool = wire->pool != NULL ? wire->pool : wire->context->args_pool;
    int rc = frame_message_decode_in(pool, frame->body, frame->body_length, &message, &err);
    if (rc < 0) {
        struct call ended = call_take(wire, call);
        if (more) {
            cancel_send(wire, frame->request);
        }
        call_tell(ended, rc, err.text);
        return;
    }
    struct call now = more ? *call : call_take(wire, call);
    reply_show(frame, &message, now.call, now.arg);
    frame_message_fini(&message);
    if (more) {
        wire_call_return_window(wire, (int64_t)frame->request, (uint32_t)frame->payload_length);
    }
}

int request_reply(struct wire *wire, const struct frame *frame, struct err *err)
{
    if (frame->request > wire->last_call) {
        return err_set(err, -EPROTO, "reply to request %llu, which was never made",
                       (unsigned long long)frame->request);
    }
    if ((frame->flags & FRAME_FLAG_QUIET) != 0) {
        complaint_deliver(wire, frame);
        return 0;
    }
    struct call *call = call_find(wire, frame->request);
    if (call == NULL) {
        return 0; /* cancelled or timed out */
    }
    if ((frame->flags & FRAME_FLAG_MORE) != 0) {
        call_arm(wire, call);
    }
    if (call->raw == NULL) {
        reply_deliver(wire, frame, call);
        return 0;
    }
    struct call now = (frame->flags & FRAME_FLAG_MORE) != 0 ? *call : call_take(wire, call);
    now.raw(now.arg, frame);
    return 0;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void request_free(struct wire_request *request)
{
    frame_message_fini(&request->message);
    mem_free(request->blob);
    caller_unref(request->caller);
    mem_free(request);
}

/* Takes the request out of its connection's table, if it still has one. */
static void request_unlink(struct wire_request *request)
{
    if (request->wire != NULL) {
        request->wire->request_bytes -= request->bytes;
        id_table_remove(&request->wire->requests, &request->node);
        request->wire = NULL;
    }
}

/* The peer is not there any more, or does not want the answer. */
static void request_gone(struct wire_request *request)
{
    if (request->gone != NULL) {
        request_unlink(request);
        request->ending = true;
        request->gone(request->gone_arg);
        request_free(request);
    } else {
        request->cancelled = true;
    }
}

void request_tell_all_over(struct wire *wire)
{
    while (wire->calls.first != NULL) {
        struct call ended = call_take(wire, (struct call *)wire->calls.first);
        call_tell(ended, -ECONNRESET, wire->end_why == NULL ? "" : wire->end_why);
    }
    while (wire->requests.first != NULL) {
        struct wire_request *request = (struct wire_request *)wire->requests.first;
        request_unlink(request); /* stays with its handler until answered, unless gone() is set */
        request_gone(request);
    }
}

void request_drop_all(struct wire *wire)
{
    while (wire->calls.first != NULL) {
        (void)call_take(wire, (struct call *)wire->calls.first);
    }
    while (wire->requests.first != NULL) {
        struct wire_request *request = (struct wire_request *)wire->requests.first;
        request_unlink(request);
        if (request->gone != NULL) {
            request_free(request);
        } else {
            request->cancelled = true;
        }
    }
    id_table_fini(&wire->calls);
    id_table_fini(&wire->requests);
}

/* ---- answers as frames ----------------------------------------------------------------------- */

static int reply_send(struct wire *wire, uint64_t id, uint8_t flags, int status, const char *text,
                      const struct wire_body *body, size_t *payload)
{
    size_t length = strnlen(text, FRAME_TEXT_MAX - 1);
    size_t begin = frame_begin(&wire->out, FRAME_REPLY, flags, 0, id);
    frame_put_u32(&wire->out, (uint32_t)status);
    frame_put_text16(&wire->out, text, length);
    frame_put_body_head(&wire->out, body);
    size_t blob_length = body == NULL ? 0 : body->blob_length;
    *payload = wire->out.length - begin - FRAME_HEADER_BYTES + blob_length;
    return wire_frame_end(wire, begin, body == NULL ? NULL : body->blob, blob_length);
}

static void refuse(struct wire *wire, const struct frame *frame, int status, const char *why)
{
    size_t payload = 0;
    (void)reply_send(wire, frame->request, frame->flags & FRAME_FLAG_QUIET, status, why, NULL,
                     &payload);
}

static uint8_t reply_flags(const struct wire_request *request)
{
    return request->quiet ? FRAME_FLAG_QUIET : 0;
}

static bool says_something(const struct wire_body *body)
{
    return body != NULL && (body->args != NULL || body->ad_count > 0 || body->encoded_count > 0 ||
                            body->blob_length > 0);
}

/* A refusal that an operator should know of. */
static void deny(struct wire *wire, const struct caller *caller, const struct frame *frame,
                 int status, const char *why)
{
    unsigned n = ++wire->denied_count;
    if (n <= DENIALS_LOGGED || (n & (n - 1)) == 0) {
        log_warn(wire->context->log, "wire.denied", "request refused",
                 LOG_TEXT("peer", caller->address), LOG_TEXT("identity", caller->identity),
                 LOG_TEXT("verb", wire_verb_name((enum wire_verb)frame->verb)),
                 LOG_TEXT("reason", why));
    }
    refuse(wire, frame, status, why);
}

void wire_reply_refusal(struct wire_request *request, const struct ad *args, int status,
                        const char *why)
{
    if (request->ending) {
        return;
    }
    if (request->wire != NULL && !request->cancelled && request->wire->state == WIRE_READY) {
        const struct wire_body body = {.args = args};
        size_t payload = 0;
        CHECK(status < 0);
        (void)reply_send(request->wire, request->node.id, reply_flags(request), status, why, &body,
                         &payload);
    }
    request_unlink(request);
    request_free(request);
}

void wire_reply_error(struct wire_request *request, int status, const char *format, ...)
{
    char text[FRAME_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    wire_reply_refusal(request, NULL, status, text);
}

void wire_reply_ok(struct wire_request *request, const struct wire_body *body)
{
    if (request->ending) {
        return;
    }
    if (request->wire != NULL && !request->cancelled && request->wire->state == WIRE_READY &&
        !(request->quiet && !says_something(body))) {
        size_t payload = 0;
        int rc = reply_send(request->wire, request->node.id, reply_flags(request), 0, "", body,
                            &payload);
        if (rc < 0) {
            wire_reply_error(request, rc, "the answer is too large for one message");
            return;
        }
    }
    request_unlink(request);
    request_free(request);
}

/* Nobody hears a part otherwise: the handler is let come to its end. */
static bool part_is_heard(const struct wire_request *request)
{
    return !request->ending && request->wire != NULL && !request->cancelled &&
           request->wire->state == WIRE_READY;
}

static bool part_is_out(struct wire_request *request, size_t payload)
{
    request->in_flight += payload;
    request->full = request->in_flight >= WIRE_WINDOW_BYTES;
    return !request->full;
}

bool wire_reply_part(struct wire_request *request, const struct wire_body *body)
{
    if (!part_is_heard(request)) {
        return true;
    }
    size_t payload = 0;
    int rc = reply_send(request->wire, request->node.id, FRAME_FLAG_MORE | reply_flags(request), 0,
                        "", body, &payload);
    if (rc < 0) {
        (void)reply_send(request->wire, request->node.id, reply_flags(request), rc,
                         "a part of the answer is too large for one message", NULL, &payload);
        request->cancelled = true;
        return true;
    }
    return part_is_out(request, payload);
}

bool wire_reply_part_made(struct wire_request *request, const void *body, size_t length)
{
    if (!part_is_heard(request)) {
        return true;
    }
    struct wire *wire = request->wire;
    size_t begin = frame_begin(&wire->out, FRAME_REPLY, FRAME_FLAG_MORE | reply_flags(request), 0,
                               request->node.id);
    frame_put_u32(&wire->out, 0);
    frame_put_text16(&wire->out, "", 0);
    size_t payload = wire->out.length - begin - FRAME_HEADER_BYTES + length;
    if (wire_frame_end(wire, begin, body, length) < 0) {
        wire_fail(wire, -EMSGSIZE, true, "a part of an answer does not fit");
        return true;
    }
    return part_is_out(request, payload);
}

void wire_reply_raw(struct wire_request *request, const struct frame *reply)
{
    bool more = (reply->flags & FRAME_FLAG_MORE) != 0;
    struct wire *wire = request->wire;
    if (request->ending) {
        return;
    }
    if (wire != NULL && !request->cancelled && wire->state == WIRE_READY) {
        size_t begin = frame_begin(&wire->out, FRAME_REPLY,
                                   (reply->flags & FRAME_FLAG_MORE) | reply_flags(request), 0,
                                   request->node.id);
        frame_put_u32(&wire->out, (uint32_t)reply->status);
        frame_put_text16(&wire->out, reply->text, reply->text_length);
        if (reply->body_length == 0) {
            frame_put_body(&wire->out, NULL);
        }
        if (wire_frame_end(wire, begin, reply->body, reply->body_length) < 0) {
            wire_fail(wire, -EMSGSIZE, true, "a reply does not fit");
        }
    }
    if (!more) {
        request_unlink(request);
        request_free(request);
    }
}

/* ---- frames of the peer ---------------------------------------------------------------------- */

/* Whom the request is from: the peer, or, relayed, the holder of the token that came along. */
static int request_caller(struct wire *wire, const struct frame *frame, struct caller **ret,
                          struct err *err)
{
    if ((frame->flags & FRAME_FLAG_RELAYED) == 0) {
        *ret = caller_ref(wire->caller);
        return 0;
    }
    char from[FRAME_FROM_MAX * 2], token[TOKEN_TEXT_MAX + 2];
    size_t from_length =
        frame->from_length < FRAME_FROM_MAX / 2 ? frame->from_length : FRAME_FROM_MAX / 2;
    (void)snprintf(from, sizeof from, "%.*s through %s", (int)from_length, frame->from,
                   wire->caller->address);
    size_t length = frame->token_length;
    length = length > TOKEN_TEXT_MAX + 1 ? TOKEN_TEXT_MAX + 1 : length; /* refused as too long */
    if (length > 0) {
        memcpy(token, frame->token, length);
    }
    token[length] = '\0';
    struct caller *caller = caller_create(from);
    caller->peer.relayed = true;
    *ret = caller;
    return greeting_judge_token(wire->context, token, caller, err);
}

static int request_may(const struct caller *caller, const struct wire_verb_info *info,
                       struct err *err)
{
    char needs[128], has[128];
    if (info->scopes == 0 || (info->scopes & caller->peer.scopes) != 0) {
        return 0;
    }
    return err_set(err, -EACCES, "token is too weak: %s needs %s; %s has %s", info->name,
                   scope_names(info->scopes, needs, sizeof needs),
                   caller->identity[0] == '\0' ? caller->address : caller->identity,
                   caller->peer.scopes == 0 ? "none"
                                            : scope_names(caller->peer.scopes, has, sizeof has));
}

/* The handler's call; the undecoded ads are there for as long as it lasts. */
static void request_handle(struct wire *wire, struct wire_request *request,
                           const struct frame_ads *ads)
{
    wire->handled = request;
    wire->handled_ads = *ads;
    wire->events.request(wire->arg, request);
    wire->handled = NULL;
    wire->handled_ads = (struct frame_ads){0};
}

static struct wire_request *request_create(struct wire *wire, const struct frame *frame,
                                           struct caller *caller, struct frame_message *message)
{
    struct wire_request *request = mem_zalloc(sizeof *request);
    request->wire = wire;
    request->caller = caller_ref(caller);
    request->verb = (enum wire_verb)frame->verb;
    request->quiet = (frame->flags & FRAME_FLAG_QUIET) != 0;
    request->message = *message;
    if (request->message.args == NULL) {
        request->message.args = ad_create();
    }
    request->bytes = frame->payload_length + sizeof *request;
    if (message->blob_length > 0) {
        request->blob = mem_dup(message->blob, message->blob_length);
        request->message.blob = request->blob;
    }
    wire->request_bytes += request->bytes;
    id_table_add(&wire->requests, frame->request, &request->node);
    return request;
}

/* Everything that may be said against it before the handler sees it. */
static int request_judge(struct wire *wire, const struct frame *frame, struct caller *caller,
                         struct frame_message *message, struct frame_ads *ads, struct err *err)
{
    const struct wire_verb_info *info = wire_verb_find((enum wire_verb)frame->verb);
    if (info == NULL) {
        return err_set(err, -ENOSYS, "unknown verb %u", frame->verb);
    }
    int rc = request_may(caller, info, err);
    if (rc < 0) {
        return rc;
    }
    if (wire->requests.count >= WIRE_REQUESTS_MAX ||
        frame->payload_length > WIRE_REQUEST_BYTES_MAX - wire->request_bytes) {
        return err_set(err, -EBUSY, "%zu requests of yours with %zu bytes are unanswered",
                       wire->requests.count, wire->request_bytes);
    }
    if (wire->events.request == NULL && info->verb != VERB_PING) {
        return err_set(err, -ENOSYS, "%s is not answered here", info->name);
    }
    return wire_verb_ads_are_bytes(info->verb)
               ? frame_message_decode_args(frame->body, frame->body_length,
                                           wire->context->args_pool, message, ads, err)
               : frame_message_decode_in(wire->context->args_pool, frame->body, frame->body_length,
                                         message, err);
}

int request_take(struct wire *wire, const struct frame *frame, struct err *err)
{
    if (frame->request <= wire->last_request) {
        return err_set(err, -EPROTO, "request %llu after %llu", (unsigned long long)frame->request,
                       (unsigned long long)wire->last_request);
    }
    if ((frame->flags & FRAME_FLAG_RELAYED) != 0 && !wire->dialled) {
        return err_set(err, -EPROTO, "a relayed request from who is no hub of ours");
    }
    wire->last_request = frame->request;
    struct err why = {{0}};
    struct frame_message message = {0};
    struct frame_ads ads = {0};
    struct caller *caller = NULL;
    int rc = request_caller(wire, frame, &caller, &why);
    rc = rc < 0 ? rc : request_judge(wire, frame, caller, &message, &ads, &why);
    if (rc < 0) {
        deny(wire, caller, frame, rc, why.text);
    } else if (frame->verb == VERB_PING) {
        struct frame echo = {.body = frame->body, .body_length = frame->body_length};
        wire_reply_raw(request_create(wire, frame, caller, &message), &echo);
    } else {
        request_handle(wire, request_create(wire, frame, caller, &message), &ads);
    }
    caller_unref(caller);
    return 0;
}

int request_cancel(struct wire *wire, const struct frame *frame, struct err *err)
{
    if (frame->request > wire->last_request) {
        return err_set(err, -EPROTO, "cancel of request %llu, which was never made",
                       (unsigned long long)frame->request);
    }
    struct wire_request *request =
        (struct wire_request *)id_table_get(&wire->requests, frame->request);
    if (request != NULL && !request->cancelled) {
        request_gone(request);
    }
    return 0;
}

int request_window(struct wire *wire, const struct frame *frame, struct err *err)
{
    struct wire_request *request =
        (struct wire_request *)id_table_get(&wire->requests, frame->request);
    if (request == NULL || request->cancelled) {
        return frame->request > wire->last_request
                   ? err_set(err, -EPROTO, "window of request %llu, which was never made",
                             (unsigned long long)frame->request)
                   : 0;
    }
    if (request->window != NULL) {
        request->window(request->window_arg, frame->window);
        return 0;
    }
    if (frame->window > request->in_flight) {
        return err_set(err, -EPROTO, "window of %u bytes returned, %zu were out", frame->window,
                       request->in_flight);
    }
    request->in_flight -= frame->window;
    if (request->full && request->in_flight <= WIRE_WINDOW_BYTES / 2) {
        request->full = false;
        if (request->drained != NULL) {
            request->drained(request->drained_arg);
        }
    }
    return 0;
}
