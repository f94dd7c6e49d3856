/* classad/ad_xml.c - see ad_xml.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_xml.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad_private.h"
#include "classad/ad_time.h"

#define INDENT 4

const char ad_xml_header[] = "<?xml version=\"1.0\"?>\n"
                             "<!DOCTYPE classads SYSTEM \"classads.dtd\">\n"
                             "<classads>\n";
const char ad_xml_footer[] = "</classads>\n";

/* Appends text with the characters escaped that would begin a tag or a reference. */
static void put_plain(const char *text, size_t length, struct strbuf *out)
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
        default:
            strbuf_putc(out, text[i]);
            break;
        }
    }
}

/* Appends an element with the printed text of a node. */
static void put_printed(const struct ad_node *node, const char *tag, struct strbuf *out)
{
    struct strbuf text;
    strbuf_init(&text, out->max);
    ad_node_print(node, AD_NEW, &text);
    strbuf_printf(out, "<%s>", tag);
    put_plain(strbuf_text(&text), text.length, out);
    strbuf_printf(out, "</%s>", tag);
    if (text.failed) {
        out->failed = true;
    }
    strbuf_fini(&text);
}

/* Appends a text as a string is printed, but with quotes unescaped, because XML needs no escape for
 * them. */
static void put_escaped(const char *text, size_t length, bool quoted, struct strbuf *out)
{
    struct strbuf one;
    strbuf_init(&one, 16);
    for (size_t i = 0; i < length; i++) {
        strbuf_clear(&one);
        if (text[i] == '"') {
            strbuf_puts(out, quoted ? "&quot;" : "\"");
            continue;
        }
        ad_print_string(text + i, 1, AD_NEW, &one);
        put_plain(one.data + 1, one.length - 2, out);
    }
    strbuf_fini(&one);
}

static void put_real(double real, struct strbuf *out)
{
    strbuf_puts(out, "<r>");
    if (isnan(real)) {
        strbuf_puts(out, "NaN");
    } else if (isinf(real)) {
        strbuf_puts(out, real > 0 ? "INF" : "-INF");
    } else {
        ad_print_real(real, AD_NEW, out);
    }
    strbuf_puts(out, "</r>");
}

static void put_ad(const struct ad *ad, bool with_private, unsigned indent, struct strbuf *out);

static void put_node(const struct ad_node *node, bool with_private, unsigned indent,
                     struct strbuf *out)
{
    switch ((enum ad_kind)node->kind) {
    case AD_NODE_UNDEFINED:
        strbuf_puts(out, "<un/>");
        break;
    case AD_NODE_ERROR:
        strbuf_puts(out, "<er/>");
        break;
    case AD_NODE_BOOL:
        strbuf_puts(out, node->boolean ? "<b v=\"t\"/>" : "<b v=\"f\"/>");
        break;
    case AD_NODE_INT:
        strbuf_printf(out, "<i>%lld</i>", (long long)node->integer);
        break;
    case AD_NODE_REAL:
        put_real(node->real, out);
        break;
    case AD_NODE_STRING:
        strbuf_puts(out, "<s>");
        put_escaped(node->text, node->count, false, out);
        strbuf_puts(out, "</s>");
        break;
    case AD_NODE_ABSTIME:
        strbuf_puts(out, "<at>");
        ad_time_print_absolute(node->integer, (int32_t)node->count, out);
        strbuf_puts(out, "</at>");
        break;
    case AD_NODE_RELTIME:
        strbuf_puts(out, "<rt>");
        ad_time_print_relative(node->real, out);
        strbuf_puts(out, "</rt>");
        break;
    case AD_NODE_LIST:
        strbuf_puts(out, "<l>");
        for (uint32_t i = 0; i < node->count; i++) {
            put_node(&node->kids[i], with_private, indent, out);
        }
        strbuf_puts(out, "</l>");
        break;
    case AD_NODE_AD:
        put_ad(node->nested, with_private, indent, out);
        break;
    default:
        put_printed(node, "e", out);
        break;
    }
}

static void put_blanks(unsigned count, struct strbuf *out)
{
    for (unsigned i = 0; i < count && !out->failed; i++) {
        strbuf_putc(out, ' ');
    }
}

static void put_attribute(const char *name, size_t length, const struct ad_node *node,
                          bool with_private, unsigned indent, struct strbuf *out)
{
    put_blanks(indent, out);
    strbuf_puts(out, "<a n=\"");
    put_escaped(name, length, true, out);
    strbuf_puts(out, "\">");
    put_node(node, with_private, indent, out);
    strbuf_puts(out, "</a>\n");
}

void ad_print_xml_attribute(const char *name, const struct ad_expr *expr, struct strbuf *out)
{
    put_attribute(name, strlen(name), &expr->root, false, INDENT, out);
}

static void put_ad(const struct ad *ad, bool with_private, unsigned indent, struct strbuf *out)
{
    uint32_t *order = ad != NULL ? ad_sorted(ad) : NULL;
    strbuf_puts(out, "<c>\n");
    for (size_t i = 0; order != NULL && i < ad_count(ad); i++) {
        struct ad_item item;
        struct ad_node literal;
        ad_item_at(ad, order[i], &item);
        if (!with_private && ad_attr_is_private(item.name)) {
            continue;
        }
        put_attribute(item.name, item.length, ad_spot_node(&item.spot, &literal), with_private,
                      indent + INDENT, out);
    }
    put_blanks(indent, out);
    strbuf_puts(out, "</c>");
    mem_free(order);
}

int ad_print_xml(const struct ad *ad, bool with_private, struct strbuf *out)
{
    put_ad(ad, with_private, 0, out);
    strbuf_putc(out, '\n');
    return out->failed ? -E2BIG : 0;
}
