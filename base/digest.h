/* base/digest.h - SHA-256 of data that is given in several calls.
 *
 * Files are checked by their SHA-256 at both ends of a transfer.  OpenSSL's libcrypto computes it,
 * because it uses special instructions of the processor; no other file calls it for this.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include <stddef.h>

struct digest;

#define DIGEST_HEX_SIZE 65 /* 64 hex digits, lower case, and the zero */

struct digest *digest_create(void);         /* returns a digest of no bytes yet; never NULL */
void digest_destroy(struct digest *digest); /* NULL is allowed */
void digest_update(struct digest *digest, const void *data, size_t length);
/* Writes the SHA-256 of all bytes given so far; afterwards the digest is as digest_create() made
 * it. */
void digest_hex(struct digest *digest, char ret[DIGEST_HEX_SIZE]);
/* Writes the SHA-256 of all bytes given so far; more bytes may follow. */
void digest_peek(const struct digest *digest, char ret[DIGEST_HEX_SIZE]);

#endif
