/* submit/submit_lines.c - the lines of a submit file: see submit_lines.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "submit/submit_lines.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"

/* Finds the bounds of the next line of the text, without the blanks around it.  Returns false at
 * the end. */
static bool physical_line(struct submit_lines *lines, const char **from, size_t *length)
{
    if (*lines->at == '\0') {
        return false;
    }
    size_t whole = strcspn(lines->at, "\n");
    *from = lines->at;
    *length = whole;
    lines->at += whole + (lines->at[whole] == '\n' ? 1 : 0);
    lines->line++;
    while (*length > 0 && text_is_gap((*from)[*length - 1])) {
        (*length)--;
    }
    while (*length > 0 && text_is_gap(**from)) {
        (*from)++;
        (*length)--;
    }
    return true;
}

char *submit_lines_raw(struct submit_lines *lines)
{
    const char *from;
    size_t length;
    return physical_line(lines, &from, &length) ? mem_strndup(from, length) : NULL;
}

char *submit_lines_next(struct submit_lines *lines)
{
    const char *from;
    size_t length;
    if (!physical_line(lines, &from, &length)) {
        return NULL;
    }
    if (length > 0 && from[0] == '#') { /* a comment is not continued */
        return mem_strndup(from, length);
    }
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_puts(&text, "");
    for (;;) {
        bool comment = length > 0 && from[0] == '#';
        bool more = length > 0 && from[length - 1] == '\\';
        if (!comment) {
            strbuf_append(&text, from, length - (more ? 1 : 0));
        }
        if ((!more && !comment) || !physical_line(lines, &from, &length)) {
            break;
        }
    }
    char *ret = mem_strdup(strbuf_text(&text));
    strbuf_fini(&text);
    return ret;
}
