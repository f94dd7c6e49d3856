/* wire/p256.h - wraps OpenSSL's key pairs and signatures of the curve P-256, for tokens and proofs.
 *
 * Signatures are those of ES256 (RFC 7518 section 3.4: SHA-256, two numbers of 32 bytes).  Parsing
 * a key takes up to four times as long as verifying a signature, and when a hub restarts, ten
 * thousand workers show their tokens within seconds.  So keys are parsed once and kept.
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

#define P256_POINT_BYTES     64 /* bytes of a public key: x and y */
#define P256_SIGNATURE_BYTES 64
#define P256_DIGEST_BYTES    32 /* SHA-256 */
/* most bytes of a key in PEM, private or public, without the terminating zero */
#define P256_PEM_MAX 1024

/* Makes a key pair from loop's secret random bytes; *ret is the caller's.  Returns 0 or -ENOMEM. */
int p256_make(struct loop *loop, struct evp_pkey_st **ret);
/* These three functions p256_from_...() return a key that the caller frees, or NULL when the
 * input is not a key of the curve P-256 or is locked by a passphrase. */
struct evp_pkey_st *p256_from_public_pem(const char *pem, size_t length);
struct evp_pkey_st *p256_from_private_pem(const char *pem, size_t length);
struct evp_pkey_st *p256_from_point(const uint8_t point[P256_POINT_BYTES]);
void p256_free(struct evp_pkey_st *key); /* NULL is allowed */

/* Writes the public key, as its coordinates x and y. */
void p256_point(const struct evp_pkey_st *key, uint8_t ret[P256_POINT_BYTES]);
/* Appends the public key in PEM.  Returns 0 or -ENOMEM. */
int p256_put_public(const struct evp_pkey_st *key, struct strbuf *pem);
/* Appends the private key in PEM (PKCS #8).  Returns 0 or -ENOMEM. */
int p256_put_private(const struct evp_pkey_st *key, struct strbuf *pem);

/* Signs data[0..length).  Returns 0, or -EINVAL when key has no private part. */
int p256_sign(struct evp_pkey_st *key, const void *data, size_t length,
              uint8_t ret[P256_SIGNATURE_BYTES]);
/* Returns whether signature was made over data[0..length) with the private key that belongs to
 * key. */
bool p256_verify(struct evp_pkey_st *key, const void *data, size_t length,
                 const uint8_t signature[P256_SIGNATURE_BYTES]);

/* One piece of the input of p256_digest(). */
struct p256_piece {
    const void *data;
    size_t length;
};
/* Writes the SHA-256 of all pieces, joined in their order. */
void p256_digest(const struct p256_piece *pieces, size_t count, uint8_t ret[P256_DIGEST_BYTES]);

#endif
