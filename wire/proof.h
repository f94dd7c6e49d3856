/* wire/proof.h - what the holder of a token signs, and for what.
 *
 * A proof is a signature of the token's holder over a statement.  A statement begins with a label
 * of its own per purpose, so that a signature made for one is none for another, and names all that
 * its reader acts on:
 *
 *   greeting  this TLS connection (RFC 9266), its route and the uplink name
 *   relay     one request through a hub: who asks whom to do what, with which bytes, and the
 *             receiver's instance, for which a number is good once (wire/instance.h)
 *   answer    one part of the answer to such a request
 *   revocation  a token that is refused from now on
 *   signing key  another signing key of the pool (wire/token_key.h); the one statement that a
 * signing key makes, and not a holder key       a request for a token: this key is mine, and this
 * is what I ask for (`roost token request`); the answer to it is not signed, people compare its
 * fingerprint (wire/token_request.h)
 *
 * The bytes: docs/protocol/wire.md section 5.2.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_PROOF_H
#define WIRE_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stream/stream.h"
#include "wire/p256.h"

#define PROOF_BYTES        P256_SIGNATURE_BYTES
#define PROOF_TEXT_SIZE    87 /* base64url, with the zero */
#define INSTANCE_TEXT_SIZE 33 /* 32 hex digits and the zero */

struct strbuf;

struct proof_greeting {
    const char *pool, *token, *route, *name;
    const uint8_t *binding; /* STREAM_BINDING_BYTES */
};

struct proof_relay {
    const char *pool, *token, *caller; /* caller: the token's identity */
    const char *target;                /* full name of an uplink: never a prefix */
    const char *instance;
    uint16_t verb;
    uint32_t deadline_ms;
    uint64_t number;
    const uint8_t *body_digest; /* P256_DIGEST_BYTES */
};

struct proof_answer {
    const char *pool, *token;      /* of who answers */
    const char *target;            /* the name by which it was asked */
    const uint8_t *request_digest; /* proof_digest() of the request's statement */
    uint64_t part;                 /* 0 for the first reply to that request */
    bool more;
    int32_t status;
    const char *text;
    size_t text_length;
    const uint8_t *body_digest;
};

struct proof_revocation {
    const char *pool, *token; /* of the administrator who revokes */
    const char *token_id;     /* what is revoked */
    int64_t expires_s;        /* when that need not be remembered any more; 0: never */
};

struct proof_signing_key {
    const char *by;       /* the signing key that answers */
    const char *kid;      /* for the key of that name */
    const uint8_t *point; /* P256_POINT_BYTES */
};

struct proof_key_request {
    const uint8_t *point; /* P256_POINT_BYTES: the holder's public key */
    const char *identity; /* what is asked for, and so on; "" and 0: nothing is said of it */
    const char *pool;     /* for which pool */
    const char *scopes;   /* "READ,WRITE", as scope_names() writes them */
    const char *pattern;  /* of the names that it may advertise */
    uint32_t slots;       /* slot ads */
    int64_t lifetime_s;   /* for how long the token is valid */
};

struct proof_key_answer {
    const uint8_t *point; /* the holder's, to whom the answer goes */
    const char *pool, *token;
    const char *collector; /* where the pool is to be reached */
    const char *trust;     /* PEM: the CA's certificates, and the signing keys with their names */
};

/* Each appends its statement to out, which is empty. */
void proof_put_greeting(const struct proof_greeting *greeting, struct strbuf *out);
void proof_put_relay(const struct proof_relay *relay, struct strbuf *out);
void proof_put_answer(const struct proof_answer *answer, struct strbuf *out);
void proof_put_revocation(const struct proof_revocation *revocation, struct strbuf *out);
void proof_put_signing_key(const struct proof_signing_key *key, struct strbuf *out);
void proof_put_key_request(const struct proof_key_request *request, struct strbuf *out);
void proof_put_key_answer(const struct proof_key_answer *answer, struct strbuf *out);

void proof_digest(const void *data, size_t length, uint8_t ret[P256_DIGEST_BYTES]);
void proof_text(const uint8_t proof[PROOF_BYTES], char ret[PROOF_TEXT_SIZE]);
bool proof_from_text(const char *text, uint8_t ret[PROOF_BYTES]);

#endif
