/* classad/ad_json.c - prints ads as JSON.
 *
 * Strings are UTF-8.  A byte that is not valid UTF-8 is written as U+FFFD, because JSON cannot
 * express it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_json.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad_private.h"

/* Returns the bytes of the UTF-8 character at text; 0: not a valid one. */
static size_t utf8_length(const unsigned char *text, size_t left)
{
    size_t length = text[0] < 0x80                      ? 1
                    : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                    : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                    : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                        : 0;
    if (length == 0 || length > left) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    bool surrogate = text[0] == 0xed && text[1] >= 0xa0;
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool beyond = text[0] == 0xf4 && text[1] >= 0x90;
    return surrogate || overlong || beyond ? 0 : length;
}

static void put_text(const char *text, size_t length, struct strbuf *out)
{
    static const char LETTERS[] = "btn.fr"; /* of the bytes 8 to 13; a vertical tab has none */
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        size_t bytes = utf8_length((const unsigned char *)text + i, length - i);
        if (bytes == 0) {
            strbuf_puts(out, "\xef\xbf\xbd");
            bytes = 1;
        } else if (c == '"' || c == '\\') {
            strbuf_putc(out, '\\');
            strbuf_putc(out, (char)c);
        } else if (c >= 8 && c <= 13 && c != 11) {
            strbuf_putc(out, '\\');
            strbuf_putc(out, LETTERS[c - 8]);
        } else if (c < ' ') {
            strbuf_printf(out, "\\u%04X", c);
        } else {
            strbuf_append(out, text + i, bytes);
        }
        i += bytes;
    }
}

void ad_print_json_string(const char *text, size_t length, struct strbuf *out)
{
    strbuf_putc(out, '"');
    put_text(text, length, out);
    strbuf_putc(out, '"');
}

static void put_expr(const struct ad_node *node, struct strbuf *out)
{
    struct strbuf text;
    strbuf_init(&text, out->max);
    ad_node_print(node, AD_NEW, &text);
    strbuf_puts(out, "\"\\/Expr(");
    put_text(strbuf_text(&text), text.length, out);
    strbuf_puts(out, ")\\/\"");
    if (text.failed) {
        out->failed = true;
    }
    strbuf_fini(&text);
}

struct json_printer {
    bool lines;
    bool with_private;
    unsigned indent;
    struct strbuf *out;
};

#define INDENT 2

static void put_line(const struct json_printer *to)
{
    if (to->lines) {
        strbuf_putc(to->out, '\n');
        for (unsigned i = 0; i < to->indent && !to->out->failed; i++) {
            strbuf_putc(to->out, ' ');
        }
    }
}

static void put_ad(struct json_printer *to, const struct ad *ad);

static void put_node(struct json_printer *to, const struct ad_node *node)
{
    struct strbuf *out = to->out;
    switch ((enum ad_kind)node->kind) {
    case AD_NODE_UNDEFINED:
        strbuf_puts(out, "null");
        break;
    case AD_NODE_BOOL:
        strbuf_puts(out, node->boolean ? "true" : "false");
        break;
    case AD_NODE_INT:
        strbuf_printf(out, "%lld", (long long)node->integer);
        break;
    case AD_NODE_REAL:
        if (isfinite(node->real)) {
            ad_print_real(node->real, AD_OLD, out);
        } else {
            put_expr(node, out);
        }
        break;
    case AD_NODE_STRING:
        ad_print_json_string(node->text, node->count, out);
        break;
    case AD_NODE_LIST:
        strbuf_putc(out, '[');
        to->indent += INDENT;
        for (uint32_t i = 0; i < node->count; i++) {
            strbuf_puts(out, i > 0 ? "," : "");
            put_line(to);
            put_node(to, &node->kids[i]);
        }
        to->indent -= INDENT;
        put_line(to);
        strbuf_putc(out, ']');
        break;
    case AD_NODE_AD:
        put_ad(to, node->nested);
        break;
    default:
        put_expr(node, out);
        break;
    }
}

static void put_ad(struct json_printer *to, const struct ad *ad)
{
    uint32_t *order = ad != NULL ? ad_sorted(ad) : NULL;
    bool first = true;
    strbuf_putc(to->out, '{');
    to->indent += INDENT;
    for (size_t i = 0; order != NULL && i < ad_count(ad); i++) {
        struct ad_item item;
        struct ad_node literal;
        ad_item_at(ad, order[i], &item);
        if (!to->with_private && ad_attr_is_private(item.name)) {
            continue;
        }
        strbuf_puts(to->out, first ? "" : ",");
        first = false;
        put_line(to);
        ad_print_json_string(item.name, item.length, to->out);
        strbuf_puts(to->out, to->lines ? ": " : ":");
        put_node(to, ad_spot_node(&item.spot, &literal));
    }
    to->indent -= INDENT;
    put_line(to);
    strbuf_putc(to->out, '}');
    mem_free(order);
}

void ad_node_print_json(const struct ad_node *node, struct strbuf *out)
{
    struct json_printer to = {.out = out};
    put_node(&to, node);
}

int ad_print_json(const struct ad *ad, struct strbuf *out)
{
    struct json_printer to = {.out = out};
    put_ad(&to, ad);
    return out->failed ? -E2BIG : 0;
}

int ad_print_json_lines(const struct ad *ad, bool with_private, struct strbuf *out)
{
    struct json_printer to = {.out = out, .lines = true, .with_private = with_private};
    put_ad(&to, ad);
    return out->failed ? -E2BIG : 0;
}
