/* pcontrol/script_line_plan.c - see script_line_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "pcontrol/script_line_plan.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/vec.h"

int script_line_read(const char *text, size_t length, struct vec *words, struct err *err)
{
    if (length > SCRIPT_LINE_MAX) {
        return err_set(err, -E2BIG, "the line has more than %zu bytes", SCRIPT_LINE_MAX);
    }
    if (length > 0 && text[length - 1] == '\r') {
        return err_set(err, -EINVAL,
                       "the line ends with a carriage return; lines must end with a newline only");
    }
    return shell_words_parse(text, length, words, err);
}

void script_line_blame(uint64_t number, const char *why, size_t length, struct strbuf *out)
{
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(why + at, '\n', length - at);
        size_t end = newline != NULL ? (size_t)(newline - why) : length;
        strbuf_puts(out, "pcontrol: ");
        if (number > 0) {
            strbuf_printf(out, "line %llu: ", (unsigned long long)number);
        }
        strbuf_append(out, why + at, end - at);
        strbuf_putc(out, '\n');
        at = end + 1;
    }
}
