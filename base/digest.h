/* base/digest.h - SHA-256 of bytes that come in pieces.
 *
 * Files that travel are checked by their SHA-256 at both ends.  OpenSSL's libcrypto does the work,
 * because it uses the instructions of the processor for it; it is called here only.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>

struct digest;

#define DIGEST_HEX_SIZE 65 /* 64 hex digits, lower case, and the zero */

struct digest *digest_create(void);         /* SHA-256 of nothing so far; never NULL */
void digest_destroy(struct digest *digest); /* NULL is allowed */
void digest_update(struct digest *digest, const void *data, size_t length);
/* The SHA-256 of all that was given; the digest then begins anew. */
void digest_hex(struct digest *digest, char ret[DIGEST_HEX_SIZE]);
/* The same; more may follow. */
void digest_peek(const struct digest *digest, char ret[DIGEST_HEX_SIZE]);

#endif
