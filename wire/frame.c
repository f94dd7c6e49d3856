/* wire/frame.c - encodes and decodes frames and message bodies: see frame.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/frame.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/secret_file.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "wire/proof.h"
#include "wire/wire.h"

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    const uint8_t *at;
    size_t left;
    bool failed;
};

static const uint8_t *reader_take(struct reader *in, size_t length)
{
    if (in->failed || in->left < length) {
        in->failed = true;
        return NULL;
    }
    const uint8_t *at = in->at;
    in->at += length;
    in->left -= length;
    return at;
}

static uint64_t little_get(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;) {
        value = value << 8 | at[i];
    }
    return value;
}

static uint64_t reader_number(struct reader *in, size_t size)
{
    const uint8_t *at = reader_take(in, size);
    return at == NULL ? 0 : little_get(at, size);
}

static uint16_t reader_u16(struct reader *in)
{
    return (uint16_t)reader_number(in, 2);
}

static uint32_t reader_u32(struct reader *in)
{
    return (uint32_t)reader_number(in, 4);
}

static const char *reader_text16(struct reader *in, size_t *length)
{
    size_t claimed = reader_u16(in);
    const char *text = (const char *)reader_take(in, claimed);
    *length = text == NULL ? 0 : claimed;
    return text;
}

static void reader_body(struct reader *in, struct frame *frame)
{
    frame->body_length = in->left;
    frame->body = reader_take(in, in->left);
}

static int frame_payload(struct reader *in, struct frame *frame, struct err *err)
{
    switch (frame->type) {
    case FRAME_HELLO:
    case FRAME_WELCOME:
    case FRAME_REFUSED:
        frame->version = reader_u16(in);
        frame->version_min = reader_u16(in);
        reader_body(in, frame);
        break;
    case FRAME_REQUEST:
        frame->deadline_ms = reader_u32(in);
        if ((frame->flags & FRAME_FLAG_RELAYED) != 0) {
            frame->token = reader_text16(in, &frame->token_length);
            frame->from = reader_text16(in, &frame->from_length);
            frame->instance = reader_text16(in, &frame->instance_length);
            frame->number = reader_number(in, 8);
            frame->proof = reader_take(in, PROOF_BYTES);
        }
        reader_body(in, frame);
        break;
    case FRAME_REPLY:
        frame->status = (int32_t)reader_u32(in);
        frame->text = reader_text16(in, &frame->text_length);
        if ((frame->flags & FRAME_FLAG_SIGNED) != 0) {
            frame->token = reader_text16(in, &frame->token_length);
            frame->proof = reader_take(in, PROOF_BYTES);
        }
        reader_body(in, frame);
        if (frame->status != 0 && (frame->flags & FRAME_FLAG_MORE) != 0) {
            return err_set(err, -EPROTO, "reply with more parts to come has status %d, expected 0",
                           (int)frame->status);
        }
        break;
    case FRAME_GOODBYE:
        frame->status = (int32_t)reader_u32(in);
        frame->text = reader_text16(in, &frame->text_length);
        break;
    case FRAME_WINDOW:
        frame->window = reader_u32(in);
        break;
    case FRAME_PING:
    case FRAME_PONG:
        frame->opaque = reader_number(in, 8);
        break;
    case FRAME_CANCEL:
        break;
    }
    if (in->failed) {
        return err_set(err, -EPROTO, "frame of type %d is cut short", (int)frame->type);
    }
    if (in->left > 0) {
        return err_set(err, -EPROTO, "frame of type %d has %zu extra bytes", (int)frame->type,
                       in->left);
    }
    if (frame->status > 0 || frame->status < -4095) {
        return err_set(err, -EPROTO, "status %d is not an error number", (int)frame->status);
    }
    return 0;
}

static uint8_t frame_flags_known(enum frame_type type)
{
    return type == FRAME_REQUEST ? FRAME_FLAG_RELAYED | FRAME_FLAG_QUIET
           : type == FRAME_REPLY ? FRAME_FLAG_MORE | FRAME_FLAG_QUIET | FRAME_FLAG_SIGNED
                                 : 0;
}

static bool frame_has_request(enum frame_type type)
{
    return type == FRAME_REQUEST || type == FRAME_REPLY || type == FRAME_CANCEL ||
           type == FRAME_WINDOW;
}

int frame_decode(const void *data, size_t length, size_t frame_max, struct frame *frame,
                 size_t *size, struct err *err)
{
    const uint8_t *at = data;
    CHECK(frame_max >= FRAME_HEADER_BYTES);
    if (length < 4) {
        *size = 0;
        return 0;
    }
    size_t claimed = (size_t)little_get(at, 4);
    if (claimed < FRAME_HEADER_BYTES - 4) {
        return err_set(err, -EPROTO, "frame length %zu is smaller than the header", claimed);
    }
    if (claimed > frame_max - 4) {
        return err_set(err, -EPROTO, "frame of %zu bytes, limit %zu", claimed + 4, frame_max);
    }
    *size = claimed + 4;
    if (length >= FRAME_HEADER_BYTES && (at[4] < FRAME_HELLO || at[4] > FRAME_GOODBYE)) {
        return err_set(err, -EPROTO, "unknown frame type %u", at[4]);
    }
    if (length < *size) {
        return 0;
    }
    struct frame found = {.type = (enum frame_type)at[4],
                          .flags = at[5],
                          .verb = (uint16_t)little_get(at + 6, 2),
                          .request = little_get(at + 8, 8),
                          .payload_length = *size - FRAME_HEADER_BYTES};
    if ((found.flags & ~frame_flags_known(found.type)) != 0) {
        return err_set(err, -EPROTO, "unknown flags 0x%02x in a frame of type %d", found.flags,
                       (int)found.type);
    }
    if ((found.verb != 0) != (found.type == FRAME_REQUEST) ||
        (found.request != 0) != frame_has_request(found.type) || found.request > INT64_MAX) {
        return err_set(
            err, -EPROTO,
            "unexpected verb or request number in a frame of type %d: verb %u, request %llu",
            (int)found.type, found.verb, (unsigned long long)found.request);
    }
    struct reader in = {at + FRAME_HEADER_BYTES, found.payload_length, false};
    int rc = frame_payload(&in, &found, err);
    if (rc < 0) {
        return rc;
    }
    *frame = found;
    return 1;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* Splits off the secrets, which follow the blob: at least one, those of ads in order, then those of
 * args. */
static int secrets_split(struct reader *in, struct frame_body *body, struct err *err)
{
    uint32_t before = 0;
    size_t left = in->left;
    body->secret_count = reader_u32(in);
    body->secrets = in->at;
    if (in->failed || body->secret_count == 0 || body->secret_count > SECRETS_MAX) {
        return err_set(err, -EBADMSG, "%zu extra bytes where the secrets of the message begin",
                       left);
    }
    for (uint32_t i = 0; i < body->secret_count; i++) {
        size_t length = 0;
        uint64_t kind = reader_number(in, 1);
        uint32_t of = reader_u32(in);
        const char *text = reader_text16(in, &length);
        if (in->failed) {
            return err_set(err, -EBADMSG, "message is cut off in secret %u", i);
        }
        if (kind == 0 || kind > SECRET_KIND_MAX || length > SECRET_TEXT_MAX || of < before ||
            (of >= body->ad_count && of != SECRET_OF_ARGS) ||
            (length > 0 && memchr(text, '\0', length) != NULL)) {
            return err_set(err, -EBADMSG, "malformed secret %u: bad kind, length, order or text",
                           i);
        }
        before = of;
    }
    body->secrets_length = (size_t)(in->at - (const uint8_t *)body->secrets);
    return 0;
}

int frame_body_split(const void *data, size_t length, struct frame_body *ret, struct err *err)
{
    struct reader in = {data, length, false};
    struct frame_body body = {0};
    body.args_length = reader_u32(&in);
    body.args = reader_take(&in, body.args_length);
    if (body.args_length == 0) {
        body.args = NULL;
    }
    body.ad_count = reader_u32(&in);
    if (in.failed) {
        return err_set(err, -EBADMSG, "message is cut off in its arguments");
    }
    if (body.ad_count > WIRE_ADS_MAX) {
        return err_set(err, -EBADMSG, "message with %u ads, limit %d", body.ad_count, WIRE_ADS_MAX);
    }
    body.ads = in.at;
    for (uint32_t i = 0; i < body.ad_count; i++) {
        (void)reader_take(&in, reader_u32(&in));
        if (in.failed) {
            return err_set(err, -EBADMSG, "message is cut off in ad %u", i);
        }
    }
    body.ads_length = (size_t)(in.at - (const uint8_t *)body.ads);
    body.blob_length = reader_u32(&in);
    body.blob = reader_take(&in, body.blob_length);
    if (in.failed) {
        return err_set(err, -EBADMSG, "message is cut off in its blob");
    }
    int rc = in.left > 0 ? secrets_split(&in, &body, err) : 0;
    if (rc == 0 && in.left > 0) {
        rc = err_set(err, -EBADMSG, "message has %zu extra bytes", in.left);
    }
    if (rc == 0) {
        *ret = body;
    }
    return rc;
}

/* Copies the secrets, as texts, into one memory block. */
static int secrets_take(const struct frame_body *body, struct frame_message *message,
                        struct err *err)
{
    if (body->secret_count == 0) {
        return 0;
    }
    /* Each text is shorter than what stood for it: it had a length of two bytes and more. */
    size_t at = body->secret_count * sizeof(struct wire_secret);
    size_t size = at + body->secrets_length;
    struct wire_secret *secrets = mem_try_alloc(size);
    if (secrets == NULL) {
        return err_set(err, -ENOMEM, "no memory for %u secrets", body->secret_count);
    }
    struct reader in = {body->secrets, body->secrets_length, false};
    for (uint32_t i = 0; i < body->secret_count; i++) {
        secrets[i].kind = (enum wire_secret_kind)reader_number(&in, 1);
        secrets[i].of = reader_u32(&in);
        size_t length = 0;
        const char *text = reader_text16(&in, &length);
        char *copy = (char *)secrets + at;
        memcpy(copy, text, length);
        copy[length] = '\0';
        secrets[i].text = copy;
        at += length + 1;
    }
    message->secrets = secrets;
    message->secret_count = body->secret_count;
    message->secrets_bytes = size;
    return 0;
}

void frame_message_fini(struct frame_message *message)
{
    if (message->secrets != NULL) {
        secret_wipe(message->secrets, message->secrets_bytes);
        mem_free(message->secrets);
    }
    ad_destroy(message->args);
    for (size_t i = 0; i < message->ad_count; i++) {
        ad_destroy(message->ads[i]);
    }
    mem_free(message->ads);
    *message = (struct frame_message){0};
}

const void *frame_ads_next(struct frame_ads *ads, size_t *length)
{
    if (ads->count == 0) {
        return NULL;
    }
    struct reader in = {ads->at, ads->length, false};
    *length = reader_u32(&in);
    const void *ad = reader_take(&in, *length);
    CHECK(ad != NULL); /* frame_body_split() saw them all */
    *ads = (struct frame_ads){in.at, in.left, ads->count - 1};
    return ad;
}

static int message_ads(struct frame_ads ads, struct ad_pool *pool, struct frame_message *message,
                       struct err *err)
{
    if (ads.count == 0) {
        return 0;
    }
    message->ads = mem_try_alloc(ads.count * sizeof(message->ads[0]));
    if (message->ads == NULL) {
        return err_set(err, -ENOMEM, "no memory for %u ads", ads.count);
    }
    const void *at;
    size_t length;
    while ((at = frame_ads_next(&ads, &length)) != NULL) {
        const struct ad *before =
            pool != NULL && message->ad_count > 0 ? message->ads[message->ad_count - 1] : NULL;
        if (ad_decode_in(pool, before, at, length, NULL, &message->ads[message->ad_count], err) <
            0) {
            return err_prefix(err, -EBADMSG, "ad %zu", message->ad_count);
        }
        message->ad_count++;
    }
    return 0;
}

int frame_message_decode_args(const void *data, size_t length, struct ad_pool *pool,
                              struct frame_message *ret, struct frame_ads *ads, struct err *err)
{
    struct frame_body body;
    *ret = (struct frame_message){0};
    int rc = frame_body_split(data, length, &body, err);
    if (rc == 0) {
        rc = secrets_take(&body, ret, err);
    }
    if (rc == 0 && body.args != NULL &&
        ad_decode_in(pool, NULL, body.args, body.args_length, NULL, &ret->args, err) < 0) {
        rc = err_prefix(err, -EBADMSG, "arguments");
    }
    if (rc < 0) {
        frame_message_fini(ret);
        return rc;
    }
    ret->blob = body.blob;
    ret->blob_length = body.blob_length;
    *ads = (struct frame_ads){body.ads, body.ads_length, body.ad_count};
    return 0;
}

int frame_message_decode_in(struct ad_pool *pool, const void *data, size_t length,
                            struct frame_message *ret, struct err *err)
{
    struct frame_ads ads;
    int rc = frame_message_decode_args(data, length, NULL, ret, &ads, err);
    if (rc == 0) {
        rc = message_ads(ads, pool, ret, err);
    }
    if (rc < 0) {
        frame_message_fini(ret);
    }
    return rc;
}

int frame_message_decode(const void *data, size_t length, struct frame_message *ret,
                         struct err *err)
{
    return frame_message_decode_in(NULL, data, length, ret, err);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void little_put(uint8_t *at, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

static void put_number(struct strbuf *out, uint64_t value, size_t size)
{
    uint8_t bytes[8];
    little_put(bytes, value, size);
    strbuf_append(out, bytes, size);
}

void frame_put_u16(struct strbuf *out, uint16_t value)
{
    put_number(out, value, 2);
}

void frame_put_u32(struct strbuf *out, uint32_t value)
{
    put_number(out, value, 4);
}

void frame_put_u64(struct strbuf *out, uint64_t value)
{
    put_number(out, value, 8);
}

void frame_put_text16(struct strbuf *out, const char *text, size_t length)
{
    if (length > UINT16_MAX) {
        length = UINT16_MAX;
    }
    frame_put_u16(out, (uint16_t)length);
    strbuf_append(out, text, length);
}

size_t frame_begin(struct strbuf *out, enum frame_type type, uint8_t flags, uint16_t verb,
                   uint64_t request)
{
    size_t begin = out->length;
    uint8_t header[FRAME_HEADER_BYTES] = {0};
    header[4] = (uint8_t)type;
    header[5] = flags;
    little_put(header + 6, verb, 2);
    little_put(header + 8, request, 8);
    strbuf_append(out, header, sizeof header);
    return begin;
}

/* Shortens the buffer to an earlier length and clears a failure that happened since. */
static void buffer_cut(struct strbuf *out, size_t length)
{
    out->length = length;
    out->failed = false;
    if (out->data != NULL) {
        out->data[length] = '\0';
    }
}

int frame_end(struct strbuf *out, size_t begin, size_t blob_follows, size_t frame_max)
{
    size_t size = out->length - begin;
    if (out->failed || size > frame_max || blob_follows > frame_max - size) {
        buffer_cut(out, begin);
        return -EMSGSIZE;
    }
    little_put((uint8_t *)out->data + begin, size + blob_follows - 4, 4);
    return 0;
}

size_t wire_ad_begin(struct strbuf *out)
{
    size_t begin = out->length;
    frame_put_u32(out, 0);
    return begin;
}

void wire_ad_end(struct strbuf *out, size_t begin)
{
    if (!out->failed) {
        little_put((uint8_t *)out->data + begin, out->length - begin - 4, 4);
    }
}

static void put_ad(struct strbuf *out, const struct ad *ad)
{
    size_t begin = wire_ad_begin(out);
    ad_encode(ad, true, out);
    wire_ad_end(out, begin);
}

static void put_secrets(struct strbuf *out, const struct wire_body *body)
{
    if (body->secret_count > SECRETS_MAX) {
        out->failed = true;
        return;
    }
    frame_put_u32(out, (uint32_t)body->secret_count);
    for (size_t i = 0; i < body->secret_count; i++) {
        const struct wire_secret *secret = &body->secrets[i];
        size_t length = strlen(secret->text);
        CHECK(length <= SECRET_TEXT_MAX && (i == 0 || secret->of >= secret[-1].of));
        strbuf_putc(out, (char)secret->kind);
        frame_put_u32(out, secret->of);
        frame_put_text16(out, secret->text, length);
    }
}

size_t frame_put_body_head(struct strbuf *out, const struct wire_body *body)
{
    static const struct wire_body EMPTY;
    if (body == NULL) {
        body = &EMPTY;
    }
    if (body->args == NULL) {
        frame_put_u32(out, 0);
    } else {
        put_ad(out, body->args);
    }
    size_t ad_count = body->ad_count + body->encoded_count;
    bool failed = body->encoded != NULL && body->encoded->failed;
    if (failed || ad_count > WIRE_ADS_MAX || body->blob_length > UINT32_MAX) {
        out->failed = true;
        return 0;
    }
    frame_put_u32(out, (uint32_t)ad_count);
    for (size_t i = 0; i < body->ad_count; i++) {
        put_ad(out, body->ads[i]);
    }
    if (body->encoded_count > 0) {
        strbuf_append(out, body->encoded->data, body->encoded->length);
    }
    frame_put_u32(out, (uint32_t)body->blob_length);
    if (body->secret_count == 0) {
        return body->blob_length;
    }
    if (body->blob_length > 0) {
        strbuf_append(out, body->blob, body->blob_length);
    }
    put_secrets(out, body);
    return 0;
}

void frame_put_body(struct strbuf *out, const struct wire_body *body)
{
    size_t left = frame_put_body_head(out, body);
    if (left > 0) {
        strbuf_append(out, body->blob, left);
    }
}
