/* wire/token_request.h - the two texts by which a key pair gets its token without travelling.
 *
 * The holder makes the pair and writes a request: what he asks for, the public key, and a proof
 * that he has the private one.  The administrator writes an answer: the token, and what else a
 * machine needs to know of the pool.  Both are blocks of lines that can be mailed or pasted:
 *
 *     -----BEGIN ROOST TOKEN REQUEST-----
 *     Identity: alice@campus
 *     Scopes: READ,WRITE
 *     Key:
 *      4kJzr...
 *      9dQ1x...
 *     Proof:
 *      ...
 *     -----END ROOST TOKEN REQUEST-----
 *
 * docs/protocol/wire.md, section 5.4.  What stands before and behind the block is not looked at.
 * Each line inside is known, at most once there, and written in one way only: what people are shown
 * is what was signed.  Neither text is secret, and neither says by itself who wrote it: people
 * compare the fingerprints (wire/fingerprint.h).  Pure.
 *
 * Rejected: PKCS #10 (its subject is a name of X.509, and who reads it needs a tool); the request
 * as a JWT (nobody can read what is asked for).
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

#define TOKEN_REQUEST_TEXT_MAX ((size_t)256 << 10) /* bytes of either text, with what is around */
#define TOKEN_REQUEST_LIFE_MAX ((int64_t)3650 * 86400)
#define TOKEN_REQUEST_END      "-----END ROOST TOKEN REQUEST-----"
#define TOKEN_ANSWER_END       "-----END ROOST TOKEN ANSWER-----"

struct token_request { /* "" and 0: nothing is said of it */
    char identity[256];
    char pool[256];
    char pattern[256];
    uint32_t scopes;
    uint32_t slots;
    int64_t lifetime_s;
    uint8_t point[P256_POINT_BYTES]; /* the public key */
};

/* Appends the text; the point is that of key, and request->point is not looked at.  -EINVAL names
 * what no request can say. */
int token_request_print(const struct token_request *request, struct evp_pkey_st *key,
                        struct strbuf *out, struct err *err);
/* text is hostile.  -ENOENT: there is no request in it; -EINVAL names the line at fault;
 * -EKEYREJECTED: the proof is not one of this key for this request. */
int token_request_parse(const char *text, struct token_request *ret, struct err *err);
/* Of all that it says. */
void token_request_fingerprint(const struct token_request *request, char ret[FINGERPRINT_SIZE]);

struct token_answer_key {
    char kid[TOKEN_KID_MAX];
    char *pem;
};

struct token_answer { /* texts are owned by it */
    char *pool;
    char *collector; /* "cm.example:9618,backup:9618" */
    char *token;
    char *ca;        /* PEM: one certificate or more */
    struct vec keys; /* struct token_answer_key *: what the pool's tokens are checked with */
};

/* Takes what is in PEM out of a file of certificates, or of a public key: *ret is owned by the
 * caller. -EINVAL: there is none in it. */
int token_answer_certificates(const char *text, char **ret, struct err *err);
int token_answer_add_key(struct token_answer *answer, const char *kid, const char *text,
                         struct err *err);
/* Appends the text.  -EINVAL names what no answer can say. */
int token_answer_print(const struct token_answer *answer, struct strbuf *out, struct err *err);
/* text is hostile.  As token_request_parse(); *ret is to be released. */
int token_answer_parse(const char *text, struct token_answer *ret, struct err *err);
/* Is it the answer to this request?  Fills *ret with what the token says.  -EKEYREJECTED: the token
 * is bound to another key; -EXDEV: it is for another pool than was asked for, or than the answer
 * says; and what token_check() says, with the keys that are in it. */
int token_answer_check(const struct token_answer *answer, const struct token_request *request,
                       int64_t now_s, struct token *ret, struct err *err);
/* Of all that it says, to the holder of that key. */
void token_answer_fingerprint(const struct token_answer *answer,
                              const uint8_t point[P256_POINT_BYTES], char ret[FINGERPRINT_SIZE]);
void token_answer_fini(struct token_answer *answer);

#endif
