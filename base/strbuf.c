/* base/strbuf.c - a buffer that doubles up to its limit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/strbuf.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/mem.h"

#define CAPACITY_MIN 64 /* bytes of the first block */

void strbuf_init(struct strbuf *buf, size_t max)
{
    if (max == 0) {
        max = STRBUF_MAX_DEFAULT;
    }
    /* So that doubling and the terminating zero cannot overflow. */
    CHECK(max <= SIZE_MAX / 4);
    *buf = (struct strbuf){.max = max};
}

void strbuf_fini(struct strbuf *buf)
{
    mem_free(buf->data);
    buf->data = NULL;
    buf->length = 0;
    buf->capacity = 0;
}

void strbuf_clear(struct strbuf *buf)
{
    buf->length = 0;
    buf->failed = false;
    if (buf->data) {
        buf->data[0] = '\0';
    }
}

/* Makes room for `more` bytes and the terminating zero.  False: the buffer has failed. */
static bool reserve_room(struct strbuf *buf, size_t more)
{
    CHECK(buf->max > 0); /* strbuf_init() was called */
    if (buf->failed || more > buf->max - buf->length) {
        buf->failed = true;
        return false;
    }
    size_t needed = buf->length + more + 1;
    if (needed <= buf->capacity) {
        return true;
    }
    size_t capacity = buf->capacity < CAPACITY_MIN ? CAPACITY_MIN : buf->capacity * 2;
    if (capacity < needed) {
        capacity = needed;
    }
    if (capacity > buf->max + 1) {
        capacity = buf->max + 1;
    }
    char *data = mem_try_realloc(buf->data, capacity);
    if (!data) {
        buf->failed = true;
        return false;
    }
    buf->data = data;
    buf->capacity = capacity;
    return true;
}

void strbuf_append(struct strbuf *buf, const void *data, size_t length)
{
    if (!reserve_room(buf, length)) {
        return;
    }
    if (length > 0) {
        memcpy(buf->data + buf->length, data, length);
    }
    buf->length += length;
    buf->data[buf->length] = '\0';
}

void strbuf_puts(struct strbuf *buf, const char *text)
{
    strbuf_append(buf, text, strlen(text));
}

void strbuf_putc(struct strbuf *buf, char c)
{
    strbuf_append(buf, &c, 1);
}

void strbuf_printf(struct strbuf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    strbuf_vprintf(buf, format, args);
    va_end(args);
}

void strbuf_vprintf(struct strbuf *buf, const char *format, va_list args)
{
    if (buf->failed) {
        return;
    }
    size_t room = buf->capacity - buf->length;
    va_list first;
    va_copy(first, args);
    int length = vsnprintf(room > 0 ? buf->data + buf->length : NULL, room, format, first);
    va_end(first);
    if (length < 0) {
        buf->failed = true;
    } else if ((size_t)length >= room) {
        if (reserve_room(buf, (size_t)length)) {
            (void)vsnprintf(buf->data + buf->length, (size_t)length + 1, format, args);
            buf->length += (size_t)length;
        }
    } else {
        /* room never exceeds what max allows */
        buf->length += (size_t)length;
    }
    if (buf->failed && buf->data) {
        buf->data[buf->length] = '\0'; /* what was cut off is not left behind */
    }
}

const char *strbuf_text(struct strbuf *buf)
{
    return buf->data ? buf->data : "";
}

char *strbuf_take(struct strbuf *buf)
{
    char *text = NULL;
    if (!buf->failed) {
        text = buf->data ? buf->data : mem_strdup("");
        buf->data = NULL;
    }
    strbuf_fini(buf);
    buf->failed = false;
    return text;
}
