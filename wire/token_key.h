/* wire/token_key.h - keys of tokens: signing, and verifying; private to wire/token*.c.
 *
 * Parsing a PEM text costs OpenSSL four times as much as verifying a signature.  When a hub
 * returns, ten thousand workers show their tokens within seconds: so public keys are parsed once,
 * when they are loaded.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_TOKEN_KEY_H
#define WIRE_TOKEN_KEY_H

#include <stdbool.h>
#include <stddef.h>

struct evp_pkey_st;
struct strbuf;

/* NULL when the text is no public key of the curve P-256. */
struct evp_pkey_st *token_key_public(const char *pem, size_t length);
void token_key_free(struct evp_pkey_st *key); /* NULL is allowed */

/* Appends a dot and the signature (ES256, base64url) of what is in text by the private key in PEM.
 * -EINVAL: not one of curve P-256, or locked by a passphrase; text is as it was. */
int token_key_sign(const char *pem, size_t pem_length, struct strbuf *text);

/* Is `signature` (base64url without padding, zero-terminated) that of ES256 over text[0..length)?
 */
bool token_key_verify(struct evp_pkey_st *key, const char *text, size_t length,
                      const char *signature);

#endif
