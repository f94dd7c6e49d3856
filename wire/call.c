/* wire/call.c - our requests and their replies.
 *
 * A call ends with its last reply, its deadline, wire_cancel() or the connection.  There is one
 * deadline timer per connection, set for the earliest deadline seen, and stopped when no call with
 * a deadline is left.  It is not set anew when one of several is answered: a superfluous tick now
 * and then is cheaper than a timer per call.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "wire/wire_private.h"

struct call {
    struct id_node node; /* first */
    wire_reply_f call;
    wire_raw_f raw; /* instead of call */
    void *arg;
    uint64_t deadline_ms, due_ms; /* 0: none */
    uint32_t unreturned_bytes;    /* bytes of handled parts that were not acknowledged yet */
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

/* Removes the call from its table and frees it; returns a copy, whose callback the caller calls. */
static struct call call_take(struct wire *wire, struct call *call)
{
    struct call copy = *call;
    id_table_remove(&wire->calls, &call->node);
    mem_free(call);
    if (copy.deadline_ms != 0 && --wire->calls_with_deadline == 0) {
        wire->deadline_next_ms = UINT64_MAX;
        loop_timer_stop(wire->deadlines);
    }
    return copy;
}

/* Calls back with a reply that is made on this side. */
static void call_tell(struct call call, int status, const char *text)
{
    if (call.raw != NULL) {
        struct frame frame = {.type = FRAME_REPLY,
                              .request = id_of(&call.node),
                              .status = status,
                              .text = text,
                              .text_length = strlen(text)};
        call.raw(call.arg, &frame);
        return;
    }
    struct wire_reply reply = {.status = status, .text = text, .token_id = ""};
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
    return wire->calls.chains.count >= WIRE_REQUESTS_MAX ? -EBUSY : 0;
}

/* Adds a call, whose frame was just encoded, to the table.  Returns its number. */
static int64_t call_add(struct wire *wire, uint64_t deadline_ms, const struct call *like)
{
    struct call *call = mem_zalloc(sizeof *call);
    *call = *like;
    call->deadline_ms = deadline_ms;
    wire->calls_with_deadline += deadline_ms != 0;
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
    size_t left = frame_put_body_head(&wire->out, body);
    int rc = wire_frame_end(wire, begin, left > 0 ? body->blob : NULL, left);
    return rc < 0 ? rc : (int64_t)++wire->last_call;
}

static uint32_t deadline_said(uint64_t deadline_ms)
{
    return deadline_ms > UINT32_MAX ? UINT32_MAX : (uint32_t)deadline_ms;
}

static int64_t call_send(struct wire *wire, enum wire_verb verb, const struct wire_body *body,
                         uint64_t deadline_ms, const struct call *like)
{
    const struct wire_verb_info *info = wire_verb_find(verb);
    CHECK(info != NULL);
    int rc = call_allowed(wire);
    if (rc < 0) {
        return rc;
    }
    deadline_ms = deadline_ms == 0                  ? info->deadline_ms
                  : deadline_ms == WIRE_NO_DEADLINE ? 0
                                                    : deadline_ms;
    size_t begin = frame_begin(&wire->out, FRAME_REQUEST, 0, (uint16_t)verb, wire->last_call + 1);
    frame_put_u32(&wire->out, deadline_said(deadline_ms));
    size_t left = frame_put_body_head(&wire->out, body);
    rc = wire_frame_end(wire, begin, left > 0 ? body->blob : NULL, left);
    if (rc < 0) {
        return rc;
    }
    wire->last_call++;
    return call_add(wire, deadline_ms, like);
}

int64_t wire_call(struct wire *wire, enum wire_verb verb, const struct wire_body *body,
                  uint64_t deadline_ms, wire_reply_f call, void *arg)
{
    CHECK(call != NULL);
    return call_send(wire, verb, body, deadline_ms, &(struct call){.call = call, .arg = arg});
}

int64_t wire_call_raw(struct wire *wire, enum wire_verb verb, const struct wire_body *body,
                      uint64_t deadline_ms, wire_raw_f call, void *arg)
{
    return call_send(wire, verb, body, deadline_ms, &(struct call){.raw = call, .arg = arg});
}

int64_t wire_call_relayed(struct wire *wire, const struct relayed *relayed, wire_raw_f call,
                          void *arg)
{
    int rc = call_allowed(wire);
    if (rc < 0) {
        return rc;
    }
    size_t begin = frame_begin(&wire->out, FRAME_REQUEST, FRAME_FLAG_RELAYED, relayed->verb,
                               wire->last_call + 1);
    frame_put_u32(&wire->out, relayed->deadline_ms);
    frame_put_text16(&wire->out, relayed->token, strlen(relayed->token));
    frame_put_text16(&wire->out, relayed->from, strlen(relayed->from));
    frame_put_text16(&wire->out, relayed->instance, strlen(relayed->instance));
    frame_put_u64(&wire->out, relayed->number);
    strbuf_append(&wire->out, relayed->proof, PROOF_BYTES);
    rc = wire_frame_end(wire, begin, relayed->body, relayed->body_length);
    if (rc < 0) {
        return rc;
    }
    wire->last_call++;
    return call_add(wire, relayed->deadline_ms, &(struct call){.raw = call, .arg = arg});
}

void wire_cancel(struct wire *wire, int64_t request)
{
    struct call *call = NULL;
    if (request <= 0 || relay_cancel(wire, request)) {
        return;
    }
    call = call_find(wire, (uint64_t)request);
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
        cancel_send(wire, id_of(&ended.node));
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

/* Acknowledges received bytes once half of the window is used, so that the sender need not wait. */
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

/* Makes the reply that the callback sees. */
static void reply_show(const struct frame *frame, const struct frame_message *message,
                       wire_reply_f call, void *arg)
{
    char text[FRAME_TEXT_MAX];
    (void)snprintf(text, sizeof text, "%.*s", (int)frame->text_length, frame->text);
    struct wire_reply reply = {.status = frame->status,
                               .text = text,
                               .more = (frame->flags & FRAME_FLAG_MORE) != 0,
                               .token_id = "",
                               .args = message->args,
                               .ads = message->ads,
                               .ad_count = message->ad_count,
                               .blob = message->blob,
                               .blob_length = message->blob_length,
                               .secrets = message->secrets,
                               .secret_count = message->secret_count};
    call(arg, &reply);
}

static void complaint_deliver(struct wire *wire, const struct frame *frame)
{
    struct frame_message message = {0};
    if (wire->events.complaint != NULL && !wire->end.given_up &&
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
        return err_set(err, -EPROTO, "reply to request %llu, which was never sent",
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

void call_tell_all_over(struct wire *wire)
{
    while (wire->calls.first != NULL) {
        struct call ended = call_take(wire, (struct call *)wire->calls.first);
        call_tell(ended, -ECONNRESET, wire->end.why == NULL ? "" : wire->end.why);
    }
}

void call_drop_all(struct wire *wire)
{
    while (wire->calls.first != NULL) {
        (void)call_take(wire, (struct call *)wire->calls.first);
    }
    id_table_fini(&wire->calls);
}
