/* wire/token_request.h - texts to get a token for a key pair whose private key stays where it is.
 *
 * The holder makes the key pair and writes a request: what he asks for, the public key, and a proof
 * that he has the private key.  The administrator writes an answer: the token, and what else a
 * machine needs to know of the pool.  Both are blocks of lines that can be mailed or pasted:
 *
 *      -----BEGIN ROOST TOKEN REQUEST-----
 *      Identity: alice@campus
 *      Scopes: READ,WRITE
 *      Key:
 *       4kJzr...
 *       9dQ1x...
 *      Proof:
 *       ...
 *      -----END ROOST TOKEN REQUEST-----
 *
 * docs/protocol/wire.md, section 5.4.  Text before and after the block is ignored.  Inside, unknown
 * lines and repeated lines are refused, and each line has only one valid spelling: what people see
 * is what was signed.  Neither text is secret, and neither proves who wrote it; people compare the
 * fingerprints (wire/fingerprint.h).  Pure.
 *
 * Rejected: PKCS #10 (its subject is an X.509 name, and reading it needs a tool); a JWT as the
 * request (people cannot read what is asked for).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_TOKEN_REQUEST_H
#define WIRE_TOKEN_REQUEST_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "wire/fingerprint.h"
#include "wire/token.h"

/* most bytes of the text of a request or an answer with the text around it, without the terminating
 * zero */
#define TOKEN_REQUEST_TEXT_MAX ((size_t)256 << 10)
#define TOKEN_REQUEST_LIFE_MAX ((int64_t)3650 * 86400) /* seconds: longest life of a token */
#define TOKEN_REQUEST_END      "-----END ROOST TOKEN REQUEST-----"
#define TOKEN_ANSWER_END       "-----END ROOST TOKEN ANSWER-----"

struct token_request { /* what the holder asks for; "" and 0: not specified */
    char identity[256];
    char pool[256];
    char pattern[256]; /* names that the holder may advertise, a glob */
    uint32_t scopes;
    uint32_t slots;                  /* slot ads that the holder may advertise */
    int64_t lifetime_s;              /* how long the token is to be valid, seconds */
    uint8_t point[P256_POINT_BYTES]; /* the holder's public key */
};

/* Appends the text of the request, signed with key.  The public key is taken from key;
 * request->point is ignored.  Returns 0, or -EINVAL, with the field at fault in err, when a value
 * cannot be put into a request. */
int token_request_print(const struct token_request *request, struct evp_pkey_st *key,
                        struct strbuf *out, struct err *err);
/* Parses a request from text, which is not trusted.  Returns 0; -ENOENT: no request in text;
 * -EINVAL, with the line at fault in err; -EKEYREJECTED: the proof is not this key's signature over
 * this request. */
int token_request_parse(const char *text, struct token_request *ret, struct err *err);
/* Computes the fingerprint of the whole request. */
void token_request_fingerprint(const struct token_request *request, char ret[FINGERPRINT_SIZE]);

struct token_answer_key {
    char kid[TOKEN_KID_MAX];
    char *pem;
};

struct token_answer { /* the texts are owned by this struct */
    char *pool;
    char *collector; /* addresses: "cm.example:9618,backup:9618" */
    char *token;
    char *ca;        /* PEM: one certificate or more */
    struct vec keys; /* struct token_answer_key *: the public keys that verify the pool's tokens */
};

/* Copies the PEM blocks of certificates from text to *ret, owned by the caller.  Returns 0, or
 * -EINVAL when text has no such block or too many of them. */
int token_answer_certificates(const char *text, char **ret, struct err *err);
/* Adds the public key in text, one PEM block, to the answer under the name kid.  Returns 0;
 * -EINVAL when text is not one public key, or kid is bad or repeated; -E2BIG when the answer has
 * TOKEN_KEYS_MAX keys. */
int token_answer_add_key(struct token_answer *answer, const char *kid, const char *text,
                         struct err *err);
/* Appends the text of the answer.  Returns 0, or -EINVAL, with the field at fault in err, when a
 * value cannot be put into an answer. */
int token_answer_print(const struct token_answer *answer, struct strbuf *out, struct err *err);
/* Parses an answer from text, which is not trusted.  Returns 0, or an error as
 * token_request_parse() does.  On success the caller releases *ret with token_answer_fini(). */
int token_answer_parse(const char *text, struct token_answer *ret, struct err *err);
/* Checks that answer is the answer to request, and fills *ret from the token.  Returns 0;
 * -EKEYREJECTED: the token is bound to another key; -EXDEV: the token is for another pool than
 * request or answer says; or an error of token_check() with the keys in the answer. */
int token_answer_check(const struct token_answer *answer, const struct token_request *request,
                       int64_t now_s, struct token *ret, struct err *err);
/* Computes the fingerprint of the whole answer together with the holder's public key. */
void token_answer_fingerprint(const struct token_answer *answer,
                              const uint8_t point[P256_POINT_BYTES], char ret[FINGERPRINT_SIZE]);
void token_answer_fini(struct token_answer *answer);

#endif
