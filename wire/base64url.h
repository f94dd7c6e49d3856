/* wire/base64url.h - bytes as the letters of a JWT: base64url without padding (RFC 7515, section
 * 2).
 *
 * Pure.  There is exactly one text for some bytes: what decodes is what would be encoded, so that a
 * changed character is always a changed byte or a refusal.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_BASE64URL_H
#define WIRE_BASE64URL_H

#include <stddef.h>
#include <sys/types.h>

struct strbuf;

/* Appends the letters of data[0..length). */
void base64url_encode(struct strbuf *out, const void *data, size_t length);
/* Writes the bytes of text[0..length) to ret, which has room for size.  How many; -EINVAL: other
 * letters, an impossible length, or bits left over that are not zero; -E2BIG: more than size. */
ssize_t base64url_decode(const char *text, size_t length, void *ret, size_t size);

#endif
