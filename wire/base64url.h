/* wire/base64url.h - base64url without padding (RFC 7515, section 2), as JSON Web Tokens use it.
 *
 * Pure.  Each sequence of bytes has exactly one valid text: the decoder refuses every other
 * spelling.  So whoever changes a character of the text changes a byte or causes an error.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_BASE64URL_H
#define WIRE_BASE64URL_H

#include <stddef.h>
#include <sys/types.h>

struct strbuf;

/* Appends the base64url text of data[0..length) to out. */
void base64url_encode(struct strbuf *out, const void *data, size_t length);
/* Decodes text[0..length) into ret, a buffer of size bytes.  Returns the number of bytes written,
 * or -EINVAL (a character outside the alphabet, an impossible length, or unused bits that are not
 * zero), or -E2BIG (the bytes do not fit in ret).  After an error the content of ret is undefined.
 */
ssize_t base64url_decode(const char *text, size_t length, void *ret, size_t size);

#endif
