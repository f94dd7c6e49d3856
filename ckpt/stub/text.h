/* ckpt/stub/text.h - texts without a C library: the stub's messages, and what it reads in /proc.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CKPT_STUB_TEXT_H
#define CKPT_STUB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stub_text { /* a text, which always ends with a zero; what does not fit is cut off */
    char bytes[768];
    size_t length;
};

void text_put(struct stub_text *text, const char *more);
void text_put_number(struct stub_text *text, int64_t number);
void text_put_hex(struct stub_text *text, uint64_t number);
/* Appends the name of an error, such as "ENOENT"; a number if it has no name here. error: a
 * negative errno. */
void text_put_error(struct stub_text *text, long error);
bool text_is(const char *a, const char *b);
size_t text_length(const char *text);
/* Reads a number in base 16 or 10 at *at and moves *at behind it. */
uint64_t text_number(const char **at, unsigned base);

/* Writes the text as a line that begins with "roost-ckpt: " to the descriptor fd. */
void text_say(int fd, struct stub_text *text);

#endif
