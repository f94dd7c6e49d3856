/* wire/token_key.h - public keys of tokens, parsed once; private to wire/token*.c.
 *
 * Parsing a PEM text costs OpenSSL four times as much as verifying a signature, and libjwt parses
 * it for every token.  When a hub returns, ten thousand workers show theirs within seconds: so keys
 * are parsed when they are loaded, and signatures are verified here.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_TOKEN_KEY_H
#define WIRE_TOKEN_KEY_H

#include <stdbool.h>
#include <stddef.h>

struct evp_pkey_st;

/* NULL when the text is no public key of the curve P-256. */
struct evp_pkey_st *token_key_public(const char *pem, size_t length);
void token_key_free(struct evp_pkey_st *key); /* NULL is allowed */

/* Is `signature` (base64url without padding, zero-terminated) that of ES256 over text[0..length)?
 */
bool token_key_verify(struct evp_pkey_st *key, const char *text, size_t length,
                      const char *signature);

#endif
