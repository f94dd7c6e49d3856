/* cli/why/why_text_plan.c - see why_text_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/why/why_text_plan.h"

#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"

static void cut_text(struct strbuf *out, size_t max)
{
    static const char MORE[] = " ...";
    for (size_t i = 0; i < out->length; i++) { /* one line, whatever is in a string */
        if ((unsigned char)out->data[i] < ' ' || out->data[i] == 127) {
            out->data[i] = '?';
        }
    }
    if (out->length > max) {
        size_t length = max - strlen(MORE);
        while (length > 0 && ((unsigned char)out->data[length] & 0xC0) == 0x80) {
            length--; /* not inside a character */
        }
        out->length = length;
        strbuf_puts(out, MORE);
    }
}

char *why_text_clause(const struct ad_expr *expr)
{
    struct strbuf out;
    strbuf_init(&out, WHY_PRINT_MAX);
    ad_expr_print(expr, AD_OLD, &out);
    if (out.length > 0 && out.data[0] == ' ') { /* " !x" */
        memmove(out.data, out.data + 1, --out.length);
        out.data[out.length] = '\0';
    }
    return why_text_finish(&out, WHY_TEXT_MAX);
}

char *why_text_finish(struct strbuf *out, size_t max)
{
    if (out->failed) {
        strbuf_fini(out);
        return mem_strdup("(too long to show)");
    }
    cut_text(out, max);
    char *text = mem_strdup(strbuf_text(out));
    strbuf_fini(out);
    return text;
}
