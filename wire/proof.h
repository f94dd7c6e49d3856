/* wire/proof.h - the statements that holders of tokens sign, one kind for each purpose.
 *
 * A proof is a signature by the token's holder over a statement.  Each kind of statement begins
 * with a label of its own, so that a signature made for one purpose is not valid for another.  The
 * statement holds everything that its reader acts on:
 *
 *   greeting       this TLS connection (RFC 9266), its route and the uplink name
 *   relay          one request through a hub: caller, receiver, verb, bytes, and the receiver's
 *                  instance, within which the request is accepted once (wire/instance.h)
 *   answer         one part of the answer to such a request
 *   revocation     a token that is refused from now on
 *   signing key    another signing key of the pool (wire/token_key.h)
 *   limited key    the same, of a key with limits (wire/token_limits.h); only these two statements
 *                  are signed by a signing key and not by a holder's key
 *   key request    a request for a token: the holder's public key and what he asks for
 *                  (`roost token request`)
 *   key answer     the answer to that request; it is not signed, people compare its fingerprint
 *                  (wire/token_request.h)
 *
 * The bytes are in docs/protocol/wire.md section 5.2.  Pure.
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

#define PROOF_BYTES     P256_SIGNATURE_BYTES
#define PROOF_TEXT_SIZE 87 /* bytes of a proof in base64url, with the terminating zero */
/* bytes of an instance id: 32 hex digits and the terminating zero */
#define INSTANCE_TEXT_SIZE 33

struct strbuf;

/* Arguments of proof_put_greeting().  The pointers in struct proof_greeting and in the
 * other structs proof_... are borrowed. */
struct proof_greeting {
    const char *pool, *token, *route, *name;
    const uint8_t *binding; /* channel binding of the TLS connection, STREAM_BINDING_BYTES */
};

/* Arguments of proof_put_relay(). */
struct proof_relay {
    /* pool, and text of the caller's token; caller: the identity in this token */
    const char *pool, *token, *caller;
    const char *target;   /* full name of the receiver's uplink, never a prefix */
    const char *instance; /* instance id of the receiver */
    uint16_t verb;
    uint32_t deadline_ms;
    uint64_t number;
    const uint8_t *body_digest; /* SHA-256 of the request's body, P256_DIGEST_BYTES */
};

/* Arguments of proof_put_answer(). */
struct proof_answer {
    const char *pool, *token;      /* pool, and token's text, of the daemon that answers */
    const char *target;            /* the uplink name to which the request was sent */
    const uint8_t *request_digest; /* SHA-256 of the request's statement, by proof_digest() */
    uint64_t part;                 /* 0 for the first reply to the request, then 1, 2, ... */
    bool more;
    int32_t status;
    const char *text;
    size_t text_length;
    const uint8_t *body_digest;
};

/* Arguments of proof_put_revocation(). */
struct proof_revocation {
    const char *pool, *token; /* pool, and token's text, of the administrator who revokes */
    const char *token_id;     /* id of the token to revoke */
    int64_t expires_s; /* when the revocation may be forgotten, seconds since 1970; 0: never */
};

/* Arguments of proof_put_signing_key(). */
struct proof_signing_key {
    const char *by;       /* name of the signing key that vouches for the key `kid` */
    const char *kid;      /* name of the key for which `by` vouches */
    const uint8_t *point; /* P256_POINT_BYTES: the public key of kid */
    const char *limits;   /* as token_limits_print() writes them; "": there are none */
};

/* Arguments of proof_put_key_request().  "" and 0 mean: not specified. */
struct proof_key_request {
    const uint8_t *point; /* P256_POINT_BYTES: the holder's public key */
    const char *identity; /* the wanted identity */
    const char *pool;     /* the wanted pool */
    const char *scopes;   /* the wanted scopes, as scope_names() writes them: "READ,WRITE" */
    const char *pattern;  /* wanted: names that the token's holder may advertise, a glob */
    uint32_t slots;       /* wanted: how many slot ads the holder may advertise */
    int64_t lifetime_s;   /* how long the token is to be valid, seconds */
};

/* Arguments of proof_put_key_answer(). */
struct proof_key_answer {
    const uint8_t *point; /* P256_POINT_BYTES: public key of the holder who gets the answer */
    const char *pool, *token;
    const char *collector; /* address of the pool's collector */
    /* PEM: the CA's certificates, and the pool's signing keys with their names */
    const char *trust;
};

/* These functions proof_put_...() append the statement to be signed to out, which must be empty. */
void proof_put_greeting(const struct proof_greeting *greeting, struct strbuf *out);
void proof_put_relay(const struct proof_relay *relay, struct strbuf *out);
void proof_put_answer(const struct proof_answer *answer, struct strbuf *out);
void proof_put_revocation(const struct proof_revocation *revocation, struct strbuf *out);
void proof_put_signing_key(const struct proof_signing_key *key, struct strbuf *out);
void proof_put_key_request(const struct proof_key_request *request, struct strbuf *out);
void proof_put_key_answer(const struct proof_key_answer *answer, struct strbuf *out);

/* Writes the SHA-256 of data[0..length). */
void proof_digest(const void *data, size_t length, uint8_t ret[P256_DIGEST_BYTES]);
/* Writes the proof in base64url. */
void proof_text(const uint8_t proof[PROOF_BYTES], char ret[PROOF_TEXT_SIZE]);
/* Decodes a proof from base64url.  False: text is not the base64url of PROOF_BYTES bytes. */
bool proof_from_text(const char *text, uint8_t ret[PROOF_BYTES]);

#endif
