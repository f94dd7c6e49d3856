/* cli/listing_xml_plan.c - see listing_xml_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/listing_xml_plan.h"

#include <stddef.h>
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad.h"

static void put_escaped(const char *text, size_t length, struct strbuf *out)
{
    for (size_t i = 0; i < length; i++) {
        switch (text[i]) {
        case '&':
            strbuf_puts(out, "&amp;");
            break;
        case '<':
            strbuf_puts(out, "&lt;");
            break;
        case '>':
            strbuf_puts(out, "&gt;");
            break;
        case '"':
            strbuf_puts(out, "&quot;");
            break;
        default: /* XML 1.0 knows no other control characters */
            strbuf_putc(out, (unsigned char)text[i] >= ' ' || text[i] == '\n' || text[i] == '\t'
                                 ? text[i]
                                 : '?');
            break;
        }
    }
}

static void put_expression(const struct ad_expr *expr, struct strbuf *out)
{
    struct strbuf text;
    strbuf_init(&text, out->max);
    ad_expr_print(expr, AD_NEW, &text);
    strbuf_puts(out, "<e>");
    put_escaped(strbuf_text(&text), text.length, out);
    strbuf_puts(out, "</e>");
    strbuf_fini(&text);
}

static void put_tagged(const char *tag, const struct ad_value *value, struct strbuf *out)
{
    struct strbuf text;
    strbuf_init(&text, out->max);
    ad_value_print_bare(value, &text);
    strbuf_printf(out, "<%s>", tag);
    put_escaped(strbuf_text(&text), text.length, out);
    strbuf_printf(out, "</%s>", tag);
    strbuf_fini(&text);
}

static void put_literal(const struct ad_value *value, struct strbuf *out)
{
    switch (value->type) {
    case AD_TYPE_UNDEFINED:
        strbuf_puts(out, "<un/>");
        break;
    case AD_TYPE_ERROR:
        strbuf_puts(out, "<er/>");
        break;
    case AD_TYPE_BOOL:
        strbuf_puts(out, value->boolean ? "<b v=\"t\"/>" : "<b v=\"f\"/>");
        break;
    case AD_TYPE_INT:
        put_tagged("i", value, out);
        break;
    case AD_TYPE_REAL:
        strbuf_printf(out, "<r>%1.15E</r>", value->real);
        break;
    case AD_TYPE_STRING:
        strbuf_puts(out, "<s>");
        put_escaped(value->string.text, value->string.length, out);
        strbuf_puts(out, "</s>");
        break;
    case AD_TYPE_ABSTIME:
        put_tagged("at", value, out);
        break;
    default:
        put_tagged("rt", value, out);
        break;
    }
}

void listing_xml_begin(struct strbuf *out)
{
    strbuf_puts(out, "<?xml version=\"1.0\"?>\n"
                     "<!DOCTYPE classads SYSTEM \"classads.dtd\">\n<classads>\n");
}

void listing_xml_attribute(const char *name, const struct ad_expr *expr, struct strbuf *out)
{
    strbuf_puts(out, "    <a n=\"");
    put_escaped(name, strlen(name), out);
    strbuf_puts(out, "\">");
    if (ad_expr_is_literal(expr)) {
        struct ad_value value;
        ad_eval(expr, NULL, NULL, NULL, &value);
        put_literal(&value, out);
        ad_value_fini(&value);
    } else {
        put_expression(expr, out);
    }
    strbuf_puts(out, "</a>\n");
}

void listing_xml_end(struct strbuf *out)
{
    strbuf_puts(out, "</classads>\n");
}
