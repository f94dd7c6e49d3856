/* base/strbuf.h - a string or byte buffer that grows up to a limit.
 *
 * Errors stay: once an append would cross the limit (or memory ran out) the buffer is marked
 * failed, further appends do nothing, and the caller checks once at the end.  data is always
 * zero-terminated after the first append or strbuf_text().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_STRBUF_H
#define BASE_STRBUF_H

#include <stdbool.h>
#include <stdarg.h>
#include <stddef.h>

struct strbuf {
    char *data; /* NULL until the first append */
    size_t length;
    size_t capacity;
    size_t max; /* limit of length in bytes */
    bool failed;
};

#define STRBUF_MAX_DEFAULT ((size_t)64 << 20)

/* max: limit of length in bytes; 0: STRBUF_MAX_DEFAULT. */
void strbuf_init(struct strbuf *buf, size_t max);
void strbuf_fini(struct strbuf *buf);
void strbuf_clear(struct strbuf *buf); /* makes the buffer empty and not failed; keeps the memory */
void strbuf_append(struct strbuf *buf, const void *data, size_t length);
void strbuf_puts(struct strbuf *buf, const char *text);
void strbuf_putc(struct strbuf *buf, char c);
void strbuf_printf(struct strbuf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void strbuf_vprintf(struct strbuf *buf, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
/* Returns the text, "" when empty; never NULL; valid until buf changes. */
const char *strbuf_text(struct strbuf *buf);

/* Returns the text, which the caller frees with mem_free(); NULL if the buffer failed. buf is empty
 * afterwards. */
char *strbuf_take(struct strbuf *buf);

#endif
