/* wire/request.c - the peer's requests: who made them, and our answers.
 *
 * A request ends with our last reply, or when the peer is gone.  A request that came through a hub
 * is from whoever signed it, is accepted once (wire/instance.h), and is answered by signed replies.
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
#include "wire/denials.h"
#include "wire/wire_private.h"

#define OUTPUT_FULL  (2 * STREAM_DRAINED)
#define TOKEN_AGE_MS 5000 /* our own token is read again for an answer when it is older */

/* ---- requests -------------------------------------------------------------------------------- */

static void request_free(struct wire_request *request)
{
    frame_message_fini(&request->message);
    mem_free(request->blob);
    mem_free(request->answering);
    caller_unref(request->caller);
    mem_free(request);
}

/* Removes the request from its connection's table, if it still has a connection. */
static void request_unlink(struct wire_request *request)
{
    if (request->wire != NULL) {
        wire_limits_request_ends(request->wire, request->bytes);
        request->wire->request_bytes -= request->bytes;
        id_table_remove(&request->wire->requests, &request->node);
        request->wire = NULL;
    }
}

/* Tells the handler that the peer is gone, or does not want the answer any more. */
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
    call_tell_all_over(wire);
    relay_tell_all_over(wire);
    while (wire->requests.first != NULL) {
        struct wire_request *request = (struct wire_request *)wire->requests.first;
        request_unlink(request); /* stays with its handler until answered, unless gone() is set */
        request_gone(request);
    }
}

void request_drop_all(struct wire *wire)
{
    call_drop_all(wire);
    while (wire->requests.first != NULL) {
        struct wire_request *request = (struct wire_request *)wire->requests.first;
        request_unlink(request);
        if (request->gone != NULL) {
            request_free(request);
        } else {
            request->cancelled = true;
        }
    }
    id_table_fini(&wire->requests);
    relay_drop_all(wire);
}

/* ---- answers as frames ----------------------------------------------------------------------- */

/* The signature of an answer that goes through a hub.  Room for it comes first, because it covers
 * the body, which follows. */
struct signing {
    const struct credential *own; /* NULL: not signed */
    size_t at;                    /* where the signature goes */
    size_t body;                  /* where the body begins */
};

static uint8_t signing_begin(struct wire *wire, const struct wire_request *request,
                             struct signing *signing)
{
    *signing = (struct signing){.own = NULL};
    if (request == NULL || request->answering == NULL) {
        return 0;
    }
    signing->own = wire_context_own(wire->context, TOKEN_AGE_MS);
    if (signing->own == NULL) {
        log_error(wire->context->log, "wire.unsigned",
                  "cannot sign an answer, so the caller will not accept it",
                  LOG_TEXT("verb", wire_verb_name(request->verb)),
                  LOG_TEXT("reason", wire->context->own.why));
        return 0;
    }
    return FRAME_FLAG_SIGNED;
}

/* Reserves room for the signature after the text of the reply.  Parts after the first do not repeat
 * the token. */
static void signing_room(struct wire *wire, const struct wire_request *request,
                         struct signing *signing)
{
    static const uint8_t ROOM[PROOF_BYTES];
    if (signing->own != NULL) {
        const char *token = request->answering->part == 0 ? signing->own->text : "";
        frame_put_text16(&wire->out, token, strlen(token));
        signing->at = wire->out.length;
        strbuf_append(&wire->out, ROOM, sizeof ROOM);
    }
    signing->body = wire->out.length;
}

/* Fills the signature in, after the body was encoded; the blob is not in the buffer, but sent from
 * its own memory. */
static void signing_end(struct wire *wire, struct wire_request *request,
                        const struct signing *signing, const struct frame *reply, const void *blob,
                        size_t blob_length)
{
    if (signing->own == NULL || wire->out.failed) {
        return;
    }
    uint8_t digest[P256_DIGEST_BYTES], proof[PROOF_BYTES];
    const struct p256_piece pieces[] = {{wire->out.data + signing->body,
                                         wire->out.length - signing->body},
                                        {blob, blob_length}};
    p256_digest(pieces, 2, digest);
    const struct proof_answer answer = {.pool = signing->own->token.pool,
                                        .token = signing->own->text,
                                        .target = wire->said_name,
                                        .request_digest = request->answering->request_digest,
                                        .part = request->answering->part,
                                        .more = (reply->flags & FRAME_FLAG_MORE) != 0,
                                        .status = reply->status,
                                        .text = reply->text,
                                        .text_length = reply->text_length,
                                        .body_digest = digest};
    struct strbuf statement;
    strbuf_init(&statement, 0);
    proof_put_answer(&answer, &statement);
    credential_sign(signing->own, &statement, proof);
    strbuf_fini(&statement);
    memcpy(wire->out.data + signing->at, proof, sizeof proof);
    request->answering->part++;
}

/* What a reply contains: a body to encode, or bytes that were encoded before. */
struct reply_content {
    uint8_t flags;
    int status;
    const char *text;
    size_t text_length;
    const struct wire_body *body;
    const void *made; /* instead of body; NULL: none */
    size_t made_length;
};

/* Sends a reply.  request NULL: a refusal before there was a request.  *payload: bytes that count
 * against the window. */
static int content_send(struct wire *wire, struct wire_request *request, uint64_t id,
                        const struct reply_content *content, size_t *payload)
{
    struct signing signing;
    uint8_t flags = content->flags | signing_begin(wire, request, &signing);
    const struct frame head = {.flags = flags,
                               .status = content->status,
                               .text = content->text,
                               .text_length = content->text_length};
    const void *blob = content->made;
    size_t blob_length = content->made_length;
    size_t begin = frame_begin(&wire->out, FRAME_REPLY, flags, 0, id);
    frame_put_u32(&wire->out, (uint32_t)content->status);
    frame_put_text16(&wire->out, content->text, content->text_length);
    signing_room(wire, request, &signing);
    if (blob == NULL) {
        blob_length = frame_put_body_head(&wire->out, content->body);
        blob = blob_length > 0 ? content->body->blob : NULL;
    }
    signing_end(wire, request, &signing, &head, blob, blob_length);
    *payload = wire->out.length - begin - FRAME_HEADER_BYTES + blob_length;
    return wire_frame_end(wire, begin, blob, blob_length);
}

static int reply_send(struct wire *wire, struct wire_request *request, uint64_t id, uint8_t flags,
                      int status, const char *text, const struct wire_body *body, size_t *payload)
{
    const struct reply_content content = {.flags = flags,
                                          .status = status,
                                          .text = text,
                                          .text_length = strnlen(text, FRAME_TEXT_MAX - 1),
                                          .body = body};
    return content_send(wire, request, id, &content, payload);
}

static void refuse_frame(struct wire *wire, const struct frame *frame, int status, const char *why)
{
    size_t payload = 0;
    (void)reply_send(wire, NULL, frame->request, frame->flags & FRAME_FLAG_QUIET, status, why, NULL,
                     &payload);
}

static uint8_t reply_flags(const struct wire_request *request)
{
    return request->quiet ? FRAME_FLAG_QUIET : 0;
}

void request_end_revoked(struct wire *wire, const char *token_id)
{
    struct id_node *node = wire->requests.first;
    while (node != NULL) {
        struct wire_request *request = (struct wire_request *)node;
        node = node->next;
        if (request->cancelled || !request->caller->peer.relayed ||
            strcmp(request->caller->token.id, token_id) != 0) {
            continue;
        }
        size_t payload = 0;
        char text[FRAME_TEXT_MAX];
        (void)snprintf(text, sizeof text, "token revoked (id '%s')", token_id);
        (void)reply_send(wire, request, id_of(&request->node), reply_flags(request), -EKEYREVOKED,
                         text, NULL, &payload);
        request_gone(request);
        node = wire->requests.first; /* gone() may have ended others */
    }
}

static bool says_something(const struct wire_body *body)
{
    return body != NULL && (body->args != NULL || body->ad_count > 0 || body->encoded_count > 0 ||
                            body->blob_length > 0);
}

/* Refuses a frame before a handler has seen it, and logs that as a denial. */
static void deny_frame(struct wire *wire, const struct caller *caller, const struct frame *frame,
                       int status, const char *why)
{
    denials_tell(wire, caller, (enum wire_verb)frame->verb, why);
    refuse_frame(wire, frame, status, why);
}

/* Returns whether a status is about the caller's rights, and not about the state of things. */
static bool is_denial(int status)
{
    return status == -EACCES || status == -EPERM || status == -EDQUOT || status == -ENOKEY ||
           status == -EKEYREJECTED || status == -EKEYREVOKED;
}

void wire_request_logged(struct wire_request *request)
{
    request->logged = true;
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
        if (is_denial(status) && !request->logged) {
            denials_tell(request->wire, request->caller, request->verb, why);
        }
        (void)reply_send(request->wire, request, id_of(&request->node), reply_flags(request),
                         status, why, &body, &payload);
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
        int rc = reply_send(request->wire, request, id_of(&request->node), reply_flags(request), 0,
                            "", body, &payload);
        if (rc < 0) {
            wire_reply_error(request, rc, "the answer is too large for one message");
            return;
        }
    }
    request_unlink(request);
    request_free(request);
}

/* Returns whether a part can still be received; if not, the handler may end without an error. */
static bool part_is_heard(const struct wire_request *request)
{
    return !request->ending && request->wire != NULL && !request->cancelled &&
           request->wire->state == WIRE_READY;
}

/* Returns whether so much output waits that the stream reports when it is gone (STREAM_DRAINED). */
static bool output_is_full(const struct wire *wire)
{
    return wire->stream != NULL && stream_pending(wire->stream) > OUTPUT_FULL;
}

static bool part_is_out(struct wire_request *request, size_t payload)
{
    request->in_flight += payload;
    request->full = request->in_flight >= WIRE_WINDOW_BYTES || output_is_full(request->wire);
    return !request->full;
}

bool wire_reply_part(struct wire_request *request, const struct wire_body *body)
{
    if (!part_is_heard(request)) {
        return true;
    }
    size_t payload = 0;
    int rc = reply_send(request->wire, request, id_of(&request->node),
                        FRAME_FLAG_MORE | reply_flags(request), 0, "", body, &payload);
    if (rc < 0) {
        (void)reply_send(request->wire, request, id_of(&request->node), reply_flags(request), rc,
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
    size_t payload = 0;
    const struct reply_content content = {.flags = FRAME_FLAG_MORE | reply_flags(request),
                                          .text = "",
                                          .made = body,
                                          .made_length = length};
    if (content_send(wire, request, id_of(&request->node), &content, &payload) < 0) {
        wire_fail(wire, -EMSGSIZE, true, "a part of an answer does not fit into a frame");
        return true;
    }
    return part_is_out(request, payload);
}

static void raw_send(struct wire *wire, const struct wire_request *request,
                     const struct frame *reply)
{
    uint8_t kept = reply->flags & (FRAME_FLAG_MORE | FRAME_FLAG_SIGNED);
    size_t begin =
        frame_begin(&wire->out, FRAME_REPLY, kept | reply_flags(request), 0, id_of(&request->node));
    frame_put_u32(&wire->out, (uint32_t)reply->status);
    frame_put_text16(&wire->out, reply->text, reply->text_length);
    if ((kept & FRAME_FLAG_SIGNED) != 0) {
        frame_put_text16(&wire->out, reply->token, reply->token_length);
        strbuf_append(&wire->out, reply->proof, PROOF_BYTES);
    }
    if (reply->body_length == 0) {
        frame_put_body(&wire->out, NULL);
    }
    if (wire_frame_end(wire, begin, reply->body, reply->body_length) < 0) {
        wire_fail(wire, -EMSGSIZE, true, "a reply does not fit into a frame");
    }
}

void wire_reply_raw(struct wire_request *request, const struct frame *reply)
{
    bool more = (reply->flags & FRAME_FLAG_MORE) != 0;
    if (request->ending) {
        return;
    }
    if (request->wire != NULL && !request->cancelled && request->wire->state == WIRE_READY) {
        raw_send(request->wire, request, reply);
    }
    if (!more) {
        request_unlink(request);
        request_free(request);
    }
}

/* ---- frames of the peer ---------------------------------------------------------------------- */

/* A relayed request, with its texts zero-terminated. */
struct relayed_request {
    char token[TOKEN_TEXT_MAX + 2];
    char instance[INSTANCE_TEXT_SIZE + 1];
    uint8_t digest[P256_DIGEST_BYTES]; /* SHA-256 of the statement that was signed */
};

static void text_take(char *ret, size_t size, const char *text, size_t length)
{
    length = length < size ? length : size - 1; /* refused as too long */
    if (length > 0) {
        memcpy(ret, text, length);
    }
    ret[length] = '\0';
}

/* Checks that the holder of the token signed this very request for us. */
static int relayed_judge(struct wire *wire, const struct frame *frame, struct caller *caller,
                         struct relayed_request *ret, struct err *err)
{
    struct evp_pkey_st *holder = NULL;
    uint8_t body[P256_DIGEST_BYTES];
    int rc = greeting_judge_token(wire->context, ret->token, caller, &holder, err);
    if (rc < 0) {
        return rc;
    }
    proof_digest(frame->body, frame->body_length, body);
    const struct proof_relay relay = {.pool = caller->token.pool,
                                      .token = ret->token,
                                      .caller = caller->identity,
                                      .target = wire->said_name,
                                      .instance = ret->instance,
                                      .verb = frame->verb,
                                      .deadline_ms = frame->deadline_ms,
                                      .number = frame->number,
                                      .body_digest = body};
    struct strbuf statement;
    strbuf_init(&statement, 0);
    proof_put_relay(&relay, &statement);
    bool good = p256_verify(holder, strbuf_text(&statement), statement.length, frame->proof);
    proof_digest(strbuf_text(&statement), statement.length, ret->digest);
    strbuf_fini(&statement);
    if (!good) {
        caller->peer.scopes = 0;
        return err_set(err, -EKEYREJECTED,
                       "the holder of token '%s' of %s has not signed this request for '%s'",
                       caller->token.id, caller->token.identity, wire->said_name);
    }
    return 0;
}

/* Finds whom the request is from: the peer, or, if relayed, its signer. */
static int request_caller(struct wire *wire, const struct frame *frame, struct caller **ret,
                          struct relayed_request *relayed, struct err *err)
{
    if ((frame->flags & FRAME_FLAG_RELAYED) == 0) {
        *ret = caller_ref(wire->caller);
        return 0;
    }
    char from[FRAME_FROM_MAX * 2];
    size_t from_length =
        frame->from_length < FRAME_FROM_MAX / 2 ? frame->from_length : FRAME_FROM_MAX / 2;
    (void)snprintf(from, sizeof from, "%.*s through %s", (int)from_length, frame->from,
                   wire->caller->address);
    struct caller *caller = caller_create(from);
    caller->peer.relayed = true;
    *ret = caller;
    text_take(relayed->token, sizeof relayed->token, frame->token, frame->token_length);
    return relayed_judge(wire, frame, caller, relayed, err);
}

/* Tells the hub our instance, so that the hub can tell callers before they sign. */
static void instance_tell(struct wire *wire)
{
    struct ad *args = ad_create();
    ad_set_string(args, "Instance", wire->context->instance.id);
    (void)wire_tell(wire, VERB_INSTANCE, &(struct wire_body){.args = args});
    ad_destroy(args);
}

/* Returns true, after answering, when a relayed request came before we know which tokens are
 * revoked. */
static bool relayed_is_early(struct wire *wire, const struct frame *frame)
{
    if (revocations_are_known(wire->context->revocations)) {
        return false;
    }
    refuse_frame(wire, frame, -EAGAIN, "the list of revoked tokens is not known yet; try again");
    return true;
}

/* Returns true, after answering, when a relayed request was signed for an old instance of ours. */
static bool relayed_is_stale(struct wire *wire, const struct frame *frame,
                             struct relayed_request *relayed)
{
    struct instance *instance = &wire->context->instance;
    if (instance_renew(instance, wire->context->loop)) {
        instance_tell(wire);
    }
    text_take(relayed->instance, sizeof relayed->instance, frame->instance, frame->instance_length);
    if (strcmp(relayed->instance, instance->id) == 0) {
        return false;
    }
    struct ad *args = ad_create();
    size_t payload = 0;
    ad_set_string(args, "Uplink", wire->said_name);
    ad_set_string(args, "Instance", instance->id);
    (void)reply_send(wire, NULL, frame->request, 0, -ESTALE,
                     "the request was signed for an instance of this daemon that has ended",
                     &(struct wire_body){.args = args}, &payload);
    ad_destroy(args);
    return true;
}

/* The last check before a relayed request is carried out: each is accepted once. */
static int relayed_take(struct wire *wire, const struct frame *frame,
                        const struct relayed_request *relayed, struct err *err)
{
    if ((frame->flags & FRAME_FLAG_RELAYED) != 0 &&
        !instance_take(&wire->context->instance, wire->context->loop, relayed->digest)) {
        return err_set(err, -EALREADY, "repeated request: this request was made before");
    }
    return 0;
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

/* Calls the handler; undecoded ads are valid as long as that lasts. */
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
    wire_limits_request_begins(wire, request->bytes);
    wire->request_bytes += request->bytes;
    id_table_add(&wire->requests, frame->request, &request->node);
    return request;
}

/* The callers of a hub share its connection.  The last quarter of the limit is for the pool's own
 * daemons, so that nobody can keep their matches or orders out. */
static size_t share_of(const struct caller *caller, size_t most)
{
    bool is_apart = !caller->peer.relayed || (caller->peer.scopes & SCOPES_TRUSTED) != 0;
    return is_apart ? most : most - most / 4;
}

static bool has_room(const struct wire *wire, const struct caller *caller, size_t bytes)
{
    size_t most = share_of(caller, WIRE_REQUEST_BYTES_MAX);
    return wire->request_bytes <= most && bytes <= most - wire->request_bytes;
}

/* All checks of a request before the handler sees it. */
static int request_judge(struct wire *wire, const struct frame *frame, struct caller *caller,
                         struct frame_message *message, struct frame_ads *ads, struct err *err)
{
    const struct wire_verb_info *info = wire_verb_find((enum wire_verb)frame->verb);
    if (info == NULL) {
        return err_set(err, -ENOSYS, "unknown verb %u", frame->verb);
    }
    if (info->verb == VERB_INSTANCE && caller->peer.relayed) {
        return err_set(err, -EACCES,
                       "INSTANCE cannot be relayed; only the receiver itself answers it");
    }
    int rc = request_may(caller, info, err);
    if (rc < 0) {
        return rc;
    }
    if (wire->requests.chains.count >= share_of(caller, WIRE_REQUESTS_MAX) ||
        !has_room(wire, caller, frame->payload_length)) {
        return err_set(err, -EBUSY, "too many unanswered requests from you: %zu with %zu bytes",
                       wire->requests.chains.count, wire->request_bytes);
    }
    rc = wire_limits_request(wire, frame->payload_length, err);
    if (rc < 0) {
        return rc;
    }
    if (wire->events.request == NULL && info->verb != VERB_PING) {
        return err_set(err, -ENOSYS, "this daemon does not answer %s requests", info->name);
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
        return err_set(err, -EPROTO, "unexpected request number %llu after %llu",
                       (unsigned long long)frame->request, (unsigned long long)wire->last_request);
    }
    if ((frame->flags & FRAME_FLAG_RELAYED) != 0 && !wire->dialled) {
        return err_set(err, -EPROTO, "a relayed request from a peer that is not a hub");
    }
    wire->last_request = frame->request;
    struct err why;
    struct frame_message message = {0};
    struct frame_ads ads = {0};
    struct caller *caller = NULL;
    struct relayed_request relayed; /* large, and seldom needed: not set but where it is */
    if ((frame->flags & FRAME_FLAG_RELAYED) != 0 &&
        (relayed_is_early(wire, frame) || relayed_is_stale(wire, frame, &relayed))) {
        return 0;
    }
    int rc = request_caller(wire, frame, &caller, &relayed, &why);
    rc = rc < 0 ? rc : request_judge(wire, frame, caller, &message, &ads, &why);
    if (rc == 0) {
        rc = relayed_take(wire, frame, &relayed, &why);
        if (rc < 0) {
            frame_message_fini(&message);
        }
    }
    if (rc < 0) {
        deny_frame(wire, caller, frame, rc, why.text);
        caller_unref(caller);
        return 0;
    }
    struct wire_request *request = request_create(wire, frame, caller, &message);
    if (caller->peer.relayed) {
        request->answering = mem_zalloc(sizeof *request->answering);
        memcpy(request->answering->request_digest, relayed.digest, sizeof relayed.digest);
    }
    if (frame->verb == VERB_PING) {
        const struct wire_body echo = {.args = request->message.args,
                                       .ads = (const struct ad *const *)request->message.ads,
                                       .ad_count = request->message.ad_count,
                                       .blob = request->message.blob,
                                       .blob_length = request->message.blob_length};
        wire_reply_ok(request, &echo);
    } else if (frame->verb == VERB_INSTANCE) {
        (void)snprintf(wire->caller->instance, sizeof wire->caller->instance, "%s",
                       ad_string_or(request->message.args, "Instance", ""));
        wire_reply_ok(request, NULL);
    } else {
        request_handle(wire, request, &ads);
    }
    caller_unref(caller);
    return 0;
}

int wire_request_charge(struct wire_request *request, size_t bytes, struct err *err)
{
    struct wire *wire = request->wire;
    if (wire == NULL) {
        return 0; /* the peer is gone */
    }
    if (!has_room(wire, request->caller, bytes)) {
        return err_set(err, -EBUSY, "too many unanswered requests from you: %zu with %zu bytes",
                       wire->requests.chains.count, wire->request_bytes);
    }
    int rc = wire_limits_request(wire, bytes, err);
    if (rc == 0) {
        wire_limits_request_begins(wire, bytes);
        wire->request_bytes += bytes;
        request->bytes += bytes;
    }
    return rc;
}

int request_cancel(struct wire *wire, const struct frame *frame, struct err *err)
{
    if (frame->request > wire->last_request) {
        return err_set(err, -EPROTO, "CANCEL frame for request %llu, which was never made",
                       (unsigned long long)frame->request);
    }
    struct wire_request *request =
        (struct wire_request *)id_table_get(&wire->requests, frame->request);
    if (request != NULL && !request->cancelled) {
        request_gone(request);
    }
    return 0;
}

static void request_goes_on(struct wire_request *request)
{
    request->full = false;
    if (request->has_room != NULL) {
        request->has_room(request->has_room_arg);
    }
}

int request_window(struct wire *wire, const struct frame *frame, struct err *err)
{
    struct wire_request *request =
        (struct wire_request *)id_table_get(&wire->requests, frame->request);
    if (request == NULL || request->cancelled) {
        return frame->request > wire->last_request
                   ? err_set(err, -EPROTO, "WINDOW frame for request %llu, which was never made",
                             (unsigned long long)frame->request)
                   : 0;
    }
    if (request->window != NULL) {
        request->window(request->window_arg, frame->window);
        return 0;
    }
    if (frame->window > request->in_flight) {
        return err_set(err, -EPROTO,
                       "WINDOW frame acknowledges %u bytes, but only %zu bytes are unacknowledged",
                       frame->window, request->in_flight);
    }
    request->in_flight -= frame->window;
    if (request->full && request->in_flight <= WIRE_WINDOW_BYTES / 2 && !output_is_full(wire)) {
        request_goes_on(request);
    }
    return 0;
}

void request_output_drained(struct wire *wire)
{
    uint64_t last = 0;
    struct id_node *node = wire->requests.first;
    while (node != NULL && wire->state == WIRE_READY && !output_is_full(wire)) {
        struct wire_request *request = (struct wire_request *)node;
        node = node->next;
        if (id_of(&request->node) <= last || !request->full || request->cancelled ||
            request->in_flight >= WIRE_WINDOW_BYTES) {
            continue;
        }
        last = id_of(&request->node);
        request_goes_on(request);
        node = wire->requests.first; /* others may be gone */
    }
}
