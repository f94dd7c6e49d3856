/* wire/proof.c - see proof.h.
 *
 * A statement is its label, a zero byte, then fields: u32 length (little-endian) and the bytes of
 * each.  Numbers are fields of 8 bytes, little-endian.  So two different statements never have the
 * same bytes, whatever their fields contain.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/proof.h"

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "wire/base64url.h"
#include "wire/frame.h"

static void put_label(struct strbuf *out, const char *label)
{
    strbuf_append(out, label, strlen(label) + 1);
}

static void put_bytes(struct strbuf *out, const void *data, size_t length)
{
    frame_put_u32(out, (uint32_t)length);
    strbuf_append(out, data, length);
}

static void put_text(struct strbuf *out, const char *text)
{
    put_bytes(out, text, strlen(text));
}

static void put_number(struct strbuf *out, uint64_t number)
{
    frame_put_u32(out, sizeof number);
    frame_put_u64(out, number);
}

/* Puts the digest of the token instead of the token, which is long and part of many statements. */
static void put_token(struct strbuf *out, const char *token)
{
    uint8_t digest[P256_DIGEST_BYTES];
    proof_digest(token, strlen(token), digest);
    put_bytes(out, digest, sizeof digest);
}

void proof_put_greeting(const struct proof_greeting *greeting, struct strbuf *out)
{
    put_label(out, "roost greeting 2");
    put_text(out, greeting->pool);
    put_token(out, greeting->token);
    put_text(out, greeting->route);
    put_text(out, greeting->name);
    put_bytes(out, greeting->binding, STREAM_BINDING_BYTES);
}

void proof_put_relay(const struct proof_relay *relay, struct strbuf *out)
{
    put_label(out, "roost relay 2");
    put_text(out, relay->pool);
    put_token(out, relay->token);
    put_text(out, relay->caller);
    put_text(out, relay->target);
    put_text(out, relay->instance);
    put_number(out, relay->verb);
    put_number(out, relay->deadline_ms);
    put_number(out, relay->number);
    put_bytes(out, relay->body_digest, P256_DIGEST_BYTES);
}

void proof_put_answer(const struct proof_answer *answer, struct strbuf *out)
{
    put_label(out, "roost answer 2");
    put_text(out, answer->pool);
    put_token(out, answer->token);
    put_text(out, answer->target);
    put_bytes(out, answer->request_digest, P256_DIGEST_BYTES);
    put_number(out, answer->part);
    put_number(out, answer->more ? 1 : 0);
    put_number(out, (uint32_t)answer->status);
    put_bytes(out, answer->text, answer->text_length);
    put_bytes(out, answer->body_digest, P256_DIGEST_BYTES);
}

void proof_put_revocation(const struct proof_revocation *revocation, struct strbuf *out)
{
    put_label(out, "roost revocation 2");
    put_text(out, revocation->pool);
    put_token(out, revocation->token);
    put_text(out, revocation->token_id);
    put_number(out, (uint64_t)revocation->expires_s);
}

void proof_put_signing_key(const struct proof_signing_key *key, struct strbuf *out)
{
    bool is_limited = key->limits[0] != '\0';
    put_label(out, is_limited ? "roost limited key 2" : "roost signing key 2");
    put_text(out, key->by);
    put_text(out, key->kid);
    put_bytes(out, key->point, P256_POINT_BYTES);
    if (is_limited) {
        put_text(out, key->limits);
    }
}

void proof_put_key_request(const struct proof_key_request *request, struct strbuf *out)
{
    put_label(out, "roost key request 2");
    put_bytes(out, request->point, P256_POINT_BYTES);
    put_text(out, request->identity);
    put_text(out, request->pool);
    put_text(out, request->scopes);
    put_text(out, request->pattern);
    put_number(out, request->slots);
    put_number(out, (uint64_t)request->lifetime_s);
}

void proof_put_key_answer(const struct proof_key_answer *answer, struct strbuf *out)
{
    put_label(out, "roost key answer 2");
    put_bytes(out, answer->point, P256_POINT_BYTES);
    put_text(out, answer->pool);
    put_token(out, answer->token);
    put_text(out, answer->collector);
    put_text(out, answer->trust);
}

void proof_digest(const void *data, size_t length, uint8_t ret[P256_DIGEST_BYTES])
{
    p256_digest(&(struct p256_piece){data, length}, 1, ret);
}

void proof_text(const uint8_t proof[PROOF_BYTES], char ret[PROOF_TEXT_SIZE])
{
    struct strbuf text;
    strbuf_init(&text, 0);
    base64url_encode(&text, proof, PROOF_BYTES);
    (void)snprintf(ret, PROOF_TEXT_SIZE, "%s", strbuf_text(&text));
    strbuf_fini(&text);
}

bool proof_from_text(const char *text, uint8_t ret[PROOF_BYTES])
{
    uint8_t bytes[PROOF_BYTES];
    if (base64url_decode(text, strlen(text), bytes, sizeof bytes) != sizeof bytes) {
        return false;
    }
    memcpy(ret, bytes, sizeof bytes);
    return true;
}
