/* wire/base64url.c - see base64url.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wire/base64url.h"

#include <errno.h>
#include <stdint.h>

#include "base/strbuf.h"

static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void base64url_encode(struct strbuf *out, const void *data, size_t length)
{
    const uint8_t *bytes = data;
    uint32_t gathered = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < length; i++) {
        gathered = (gathered << 8 | bytes[i]) & 0xffff;
        bits += 8;
        while (bits >= 6) {
            bits -= 6;
            strbuf_putc(out, LETTERS[gathered >> bits & 63]);
        }
    }
    if (bits > 0) {
        strbuf_putc(out, LETTERS[gathered << (6 - bits) & 63]);
    }
}

static int digit_of(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

ssize_t base64url_decode(const char *text, size_t length, void *ret, size_t size)
{
    uint8_t *bytes = ret;
    size_t used = 0;
    uint32_t gathered = 0;
    unsigned bits = 0;
    if (length % 4 == 1) {
        return -EINVAL;
    }
    if (length / 4 * 3 + (length % 4 * 6) / 8 > size) {
        return -E2BIG;
    }
    for (size_t i = 0; i < length; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0) {
            return -EINVAL;
        }
        gathered = (gathered << 6 | (uint32_t)digit) & 0xffff;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            bytes[used++] = (uint8_t)(gathered >> bits);
        }
    }
    return (gathered & ((1U << bits) - 1)) == 0 ? (ssize_t)used : -EINVAL;
}
