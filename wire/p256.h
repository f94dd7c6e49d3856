/* wire/p256.h - key pairs of the curve P-256 and their signatures: OpenSSL's wrapper for tokens,
 * holders of tokens and proofs.
 *
 * Signatures are those of ES256 (RFC 7518 section 3.4: SHA-256, two numbers of 32 bytes).  Parsing
 * a key costs OpenSSL up to four times as much as verifying a signature; when a hub returns, ten
 * thousand workers show their tokens within seconds: so keys are parsed once and kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_P256_H
#define WIRE_P256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct evp_pkey_st;
struct loop;
struct strbuf;

#define P256_POINT_BYTES     64 /* x and y of a public key */
#define P256_SIGNATURE_BYTES 64
#define P256_DIGEST_BYTES    32   /* SHA-256 */
#define P256_PEM_MAX         1024 /* bytes of a key in PEM, or a limit for it */

/* A new pair of loop's secret bytes; -ENOMEM. */
int p256_make(struct loop *loop, struct evp_pkey_st **ret);
/* All three: NULL when it is not a key of this curve, or locked by a passphrase. */
struct evp_pkey_st *p256_from_public_pem(const char *pem, size_t length);
struct evp_pkey_st *p256_from_private_pem(const char *pem, size_t length);
struct evp_pkey_st *p256_from_point(const uint8_t point[P256_POINT_BYTES]);
void p256_free(struct evp_pkey_st *key); /* NULL is allowed */

void p256_point(const struct evp_pkey_st *key, uint8_t ret[P256_POINT_BYTES]);
/* Append PEM; -ENOMEM.  The private one is PKCS #8. */
int p256_put_public(const struct evp_pkey_st *key, struct strbuf *pem);
int p256_put_private(const struct evp_pkey_st *key, struct strbuf *pem);

/* -EINVAL: the key is only a public one. */
int p256_sign(struct evp_pkey_st *key, const void *data, size_t length,
              uint8_t ret[P256_SIGNATURE_BYTES]);
bool p256_verify(struct evp_pkey_st *key, const void *data, size_t length,
                 const uint8_t signature[P256_SIGNATURE_BYTES]);

/* SHA-256 of a number of pieces, one behind the other. */
struct p256_piece {
    const void *data;
    size_t length;
};
void p256_digest(const struct p256_piece *pieces, size_t count, uint8_t ret[P256_DIGEST_BYTES]);

#endif
