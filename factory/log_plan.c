/* factory/log_plan.c - see log_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/log_plan.h"

#include <stdbool.h>
#include <string.h>

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

const char *log_plan_end(const char *text, size_t most)
{
    size_t length = strlen(text);
    const char *end = length > most ? text + length - most : text;
    while (end != text && continues_character(*end)) {
        end++;
    }
    return end;
}

static bool is_blank_or_control(char c)
{
    return (unsigned char)c <= ' ' || c == '\x7f';
}

void log_plan_last_line(const char *text, char *ret, size_t size)
{
    size_t end = strlen(text);
    while (end > 0 && is_blank_or_control(text[end - 1])) {
        end--;
    }
    size_t begin = end, length = 0;
    while (begin > 0 && text[begin - 1] != '\n') {
        begin--;
    }
    for (; begin + length < end && length + 1 < size; length++) {
        char c = text[begin + length];
        ret[length] = c != ' ' && is_blank_or_control(c) ? '?' : c;
    }
    /* A character that does not fit as a whole is left out. */
    while (length > 0 && begin + length < end && continues_character(text[begin + length])) {
        length--;
    }
    ret[length] = '\0';
}
