/* classad/ad_print.c - prints trees, values and ads as text.
 *
 * The forms are HTCondor's, byte for byte (tests/conformance/classad/): a space before each unary
 * operator, none around the commas of a list, reals as %.15E in new syntax and as %.16G in the long
 * form.  In old syntax a string that ends in a backslash can be read again only at the end of a
 * line; that is a property of the syntax.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_print.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad_number.h"
#include "classad/ad_private.h"
#include "classad/ad_time.h"

/* longest line of the long form that is composed before it is appended */
#define SHORT_LINE 256

/* ---- leaves ---- */

static void print_quoted(const char *text, size_t length, char quote, enum ad_syntax syntax,
                         struct strbuf *out)
{
    static const char LETTERS[] = "abtnvfr"; /* for the bytes 7 to 13 */
    size_t done = 0;
    strbuf_putc(out, quote);
    if (syntax == AD_OLD && memchr(text, quote, length) == NULL) {
        strbuf_append(out, text, length);
        strbuf_putc(out, quote);
        return;
    }
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        bool escape = syntax == AD_NEW ? c < ' ' || c > '~' || c == '\\' : false;
        if (!escape && c != (unsigned char)quote) {
            continue;
        }
        strbuf_append(out, text + done, i - done);
        done = i + 1;
        if (c == (unsigned char)quote || c == '\\') {
            strbuf_printf(out, "\\%c", c);
        } else if (c >= 7 && c <= 13) {
            strbuf_printf(out, "\\%c", LETTERS[c - 7]);
        } else {
            strbuf_printf(out, "\\%03o", c);
        }
    }
    strbuf_append(out, text + done, length - done);
    strbuf_putc(out, quote);
}

void ad_print_string(const char *text, size_t length, enum ad_syntax syntax, struct strbuf *out)
{
    print_quoted(text, length, '"', syntax, out);
}

void ad_print_name(const char *text, size_t length, enum ad_syntax syntax, struct strbuf *out)
{
    if (ad_name_is_word(text, length)) {
        strbuf_append(out, text, length);
    } else {
        print_quoted(text, length, '\'', syntax, out);
    }
}

/* Writes a real that is finite and not zero; at most AD_NUMBER_MAX + 2 bytes. */
static size_t put_real(double real, enum ad_syntax syntax, char *out)
{
    size_t length = ad_number_print_real(real, syntax == AD_NEW, out);
    if (memchr(out, '.', length) == NULL && memchr(out, 'E', length) == NULL) {
        memcpy(out + length, ".0", 2);
        length += 2;
    }
    return length;
}

void ad_print_real(double real, enum ad_syntax syntax, struct strbuf *out)
{
    if (isnan(real)) {
        strbuf_puts(out, "real(\"NaN\")");
        return;
    }
    if (isinf(real)) {
        strbuf_puts(out, real > 0 ? "real(\"INF\")" : "real(\"-INF\")");
        return;
    }
    if (real == 0.0) {
        strbuf_puts(out, signbit(real) ? "-0.0" : "0.0");
        return;
    }
    char text[AD_NUMBER_MAX + 2];
    strbuf_append(out, text, put_real(real, syntax, text));
}

static void print_int(int64_t value, struct strbuf *out)
{
    char text[AD_NUMBER_MAX];
    strbuf_append(out, text, ad_number_print_int(value, text));
}

static void print_abstime(int64_t seconds, int32_t offset_s, struct strbuf *out)
{
    strbuf_puts(out, "absTime(\"");
    ad_time_print_absolute(seconds, offset_s, out);
    strbuf_puts(out, "\")");
}

static void print_reltime(double seconds, struct strbuf *out)
{
    strbuf_puts(out, "relTime(\"");
    ad_time_print_relative(seconds, out);
    strbuf_puts(out, "\")");
}

/* ---- trees ---- */

struct printer {
    enum ad_syntax syntax;
    struct strbuf *out;
    bool pretty;
    unsigned indent;
};

static void print_node(struct printer *to, const struct ad_node *node);

static const char *op_text(enum ad_op op, enum ad_syntax syntax)
{
    static const char TEXT[AD_OP_COUNT][6] = {
        [AD_OP_OR] = "||",     [AD_OP_AND] = "&&", [AD_OP_BIT_OR] = "|",  [AD_OP_BIT_XOR] = "^",
        [AD_OP_BIT_AND] = "&", [AD_OP_EQ] = "==",  [AD_OP_NE] = "!=",     [AD_OP_IS] = "is",
        [AD_OP_ISNT] = "isnt", [AD_OP_LT] = "<",   [AD_OP_LE] = "<=",     [AD_OP_GT] = ">",
        [AD_OP_GE] = ">=",     [AD_OP_SHL] = "<<", [AD_OP_SHR] = ">>",    [AD_OP_USHR] = ">>>",
        [AD_OP_ADD] = "+",     [AD_OP_SUB] = "-",  [AD_OP_MUL] = "*",     [AD_OP_DIV] = "/",
        [AD_OP_MOD] = "%",     [AD_OP_NOT] = "!",  [AD_OP_BIT_NOT] = "~", [AD_OP_PLUS] = "+",
        [AD_OP_MINUS] = "-",
    };
    if (syntax == AD_OLD && (op == AD_OP_IS || op == AD_OP_ISNT)) {
        return op == AD_OP_IS ? "=?=" : "=!=";
    }
    return TEXT[op];
}

static void print_items(struct printer *to, const struct ad_node *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) {
            strbuf_putc(to->out, ',');
        }
        print_node(to, &items[i]);
    }
}

/* unparse() prints each element of a list, each attribute of an ad, and each opening bracket on a
 * line of its own, with more indent than what contains it. */
#define LIST_INDENT 3
#define AD_INDENT   4

static void print_line(struct printer *to)
{
    strbuf_putc(to->out, '\n');
    for (unsigned i = 0; i < to->indent && !to->out->failed; i++) {
        strbuf_putc(to->out, ' ');
    }
}

static void print_open(struct printer *to, char bracket, unsigned indent)
{
    to->indent += indent;
    print_line(to);
    strbuf_putc(to->out, bracket);
    to->indent += indent;
}

static void print_close(struct printer *to, char bracket, unsigned indent)
{
    to->indent -= indent;
    print_line(to);
    strbuf_putc(to->out, bracket);
    to->indent -= indent;
}

static void print_list(struct printer *to, const struct ad_node *node)
{
    if (!to->pretty) {
        strbuf_puts(to->out, "{ ");
        print_items(to, node->kids, node->count);
        strbuf_puts(to->out, " }");
        return;
    }
    print_open(to, '{', LIST_INDENT);
    for (uint32_t i = 0; i < node->count; i++) {
        print_line(to);
        print_node(to, &node->kids[i]);
        strbuf_puts(to->out, i + 1 < node->count ? "," : "");
    }
    print_close(to, '}', LIST_INDENT);
}

static void print_chain(struct printer *to, const struct ad_node *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        if (i > 0) {
            strbuf_putc(to->out, ' ');
            strbuf_puts(to->out, op_text((enum ad_op)node->kids[i].link, to->syntax));
            strbuf_putc(to->out, ' ');
        }
        print_node(to, &node->kids[i]);
    }
}

/* Prints a name after a dot, or of a function.  HTCondor does not quote these; here a name with a
 * tab or newline is quoted. */
static void print_bare(struct printer *to, const struct ad_name *name)
{
    if (strpbrk(name->text, "\t\n\r") != NULL) {
        print_quoted(name->text, name->length, '\'', to->syntax, to->out);
    } else {
        strbuf_append(to->out, name->text, name->length);
    }
}

static void print_reference(struct printer *to, const struct ad_node *node)
{
    const struct ad_name *name = node->named.name;
    if (node->count > 0) {
        print_node(to, node->named.kids);
        strbuf_putc(to->out, '.');
        print_bare(to, name);
        return;
    }
    if (node->op == AD_REF_ABSOLUTE) {
        strbuf_putc(to->out, '.');
    }
    ad_print_name(name->text, name->length, to->syntax, to->out);
}

static void print_nested(struct printer *to, const struct ad *ad)
{
    uint32_t *order = ad != NULL ? ad_sorted(ad) : NULL;
    if (to->pretty) {
        print_open(to, '[', AD_INDENT);
    } else {
        strbuf_puts(to->out, "[ ");
    }
    for (size_t i = 0; order != NULL && i < ad_count(ad); i++) {
        struct ad_item item;
        struct ad_node literal;
        ad_item_at(ad, order[i], &item);
        if (to->pretty) {
            print_line(to);
        }
        ad_print_name(item.name, item.length, to->syntax, to->out);
        strbuf_puts(to->out, " = ");
        print_node(to, ad_spot_node(&item.spot, &literal));
        strbuf_puts(to->out, i + 1 < ad_count(ad) ? "; " : "");
    }
    if (to->pretty) {
        print_close(to, ']', AD_INDENT);
    } else {
        strbuf_puts(to->out, " ]");
    }
    mem_free(order);
}

static void print_node(struct printer *to, const struct ad_node *node)
{
    switch ((enum ad_kind)node->kind) {
    case AD_NODE_UNDEFINED:
        strbuf_puts(to->out, "undefined");
        break;
    case AD_NODE_ERROR:
        strbuf_puts(to->out, "error");
        break;
    case AD_NODE_BOOL:
        strbuf_puts(to->out, node->boolean ? "true" : "false");
        break;
    case AD_NODE_INT:
        print_int(node->integer, to->out);
        break;
    case AD_NODE_REAL:
        ad_print_real(node->real, to->syntax, to->out);
        break;
    case AD_NODE_STRING:
        ad_print_string(node->text, node->count, to->syntax, to->out);
        break;
    case AD_NODE_ABSTIME:
        print_abstime(node->integer, (int32_t)node->count, to->out);
        break;
    case AD_NODE_RELTIME:
        print_reltime(node->real, to->out);
        break;
    case AD_NODE_LIST:
        print_list(to, node);
        break;
    case AD_NODE_AD:
        print_nested(to, node->nested);
        break;
    case AD_NODE_REF:
        print_reference(to, node);
        break;
    case AD_NODE_UNARY:
        strbuf_putc(to->out, ' ');
        strbuf_puts(to->out, op_text((enum ad_op)node->op, to->syntax));
        print_node(to, node->kids);
        break;
    case AD_NODE_CHAIN:
        print_chain(to, node);
        break;
    case AD_NODE_COND:
        print_node(to, &node->kids[0]);
        strbuf_puts(to->out, " ? ");
        print_node(to, &node->kids[1]);
        strbuf_puts(to->out, " : ");
        print_node(to, &node->kids[2]);
        break;
    case AD_NODE_ELSE:
        print_node(to, &node->kids[0]);
        strbuf_puts(to->out, " ?: ");
        print_node(to, &node->kids[1]);
        break;
    case AD_NODE_SUBSCRIPT:
        print_node(to, &node->kids[0]);
        strbuf_putc(to->out, '[');
        print_node(to, &node->kids[1]);
        strbuf_putc(to->out, ']');
        break;
    case AD_NODE_PAREN:
        strbuf_putc(to->out, '(');
        print_node(to, node->kids);
        strbuf_putc(to->out, ')');
        break;
    case AD_NODE_CALL:
        print_bare(to, node->named.name);
        strbuf_putc(to->out, '(');
        print_items(to, node->named.kids, node->count);
        strbuf_putc(to->out, ')');
        break;
    case AD_NODE_VALUE:
        ad_value_print(node->value, to->out);
        break;
    case AD_KIND_COUNT:
        break;
    }
}

void ad_node_print(const struct ad_node *node, enum ad_syntax syntax, struct strbuf *out)
{
    struct printer to = {.syntax = syntax, .out = out};
    print_node(&to, node);
}

void ad_node_print_lines(const struct ad_node *node, struct strbuf *out)
{
    struct printer to = {.syntax = AD_NEW, .out = out, .pretty = true};
    print_node(&to, node);
}

void ad_expr_print(const struct ad_expr *expr, enum ad_syntax syntax, struct strbuf *out)
{
    ad_node_print(&expr->root, syntax, out);
}

static void print_ad(const struct ad *ad, struct strbuf *out)
{
    struct printer to = {.syntax = AD_NEW, .out = out};
    print_nested(&to, ad);
}

/* ---- values ---- */

void ad_value_print(const struct ad_value *value, struct strbuf *out)
{
    switch (value->type) {
    case AD_TYPE_UNDEFINED:
        strbuf_puts(out, "undefined");
        break;
    case AD_TYPE_ERROR:
        strbuf_puts(out, "error");
        break;
    case AD_TYPE_BOOL:
        strbuf_puts(out, value->boolean ? "true" : "false");
        break;
    case AD_TYPE_INT:
        print_int(value->integer, out);
        break;
    case AD_TYPE_REAL:
        ad_print_real(value->real, AD_NEW, out);
        break;
    case AD_TYPE_STRING:
        ad_print_string(value->string.text, value->string.length, AD_NEW, out);
        break;
    case AD_TYPE_ABSTIME:
        print_abstime(value->time.seconds, value->time.offset_s, out);
        break;
    case AD_TYPE_RELTIME:
        print_reltime(value->real, out);
        break;
    case AD_TYPE_LIST:
        ad_node_print(value->list, AD_NEW, out);
        break;
    case AD_TYPE_AD:
        print_ad(value->ad, out);
        break;
    }
}

void ad_value_print_bare(const struct ad_value *value, struct strbuf *out)
{
    if (value->type == AD_TYPE_STRING) {
        strbuf_append(out, value->string.text, value->string.length);
    } else if (value->type == AD_TYPE_REAL) {
        ad_print_real(value->real, AD_OLD, out);
    } else {
        ad_value_print(value, out);
    }
}

/* ---- ads ---- */

void ad_print(const struct ad *ad, struct strbuf *out)
{
    print_ad(ad, out);
}

/* Composes a short line, as most are, and appends it at once.  False: not a short line. */
static bool print_short_line(const struct ad_item *item, const struct ad_node *node,
                             struct strbuf *out)
{
    char line[SHORT_LINE];
    size_t length = item->length;
    if (!item->is_word || length > SHORT_LINE / 2) {
        return false;
    }
    memcpy(line, item->name, length);
    memcpy(line + length, " = ", 3);
    length += 3;
    switch ((enum ad_kind)node->kind) {
    case AD_NODE_BOOL:
        memcpy(line + length, node->boolean ? "true" : "false", 5);
        length += node->boolean ? 4 : 5;
        break;
    case AD_NODE_INT:
        length += ad_number_print_int(node->integer, line + length);
        break;
    case AD_NODE_REAL:
        if (!isfinite(node->real) || node->real == 0.0) {
            return false;
        }
        length += put_real(node->real, AD_OLD, line + length);
        break;
    case AD_NODE_STRING:
        if (length + node->count + 3 > SHORT_LINE || memchr(node->text, '"', node->count) != NULL) {
            return false;
        }
        line[length++] = '"';
        memcpy(line + length, node->text, node->count);
        length += node->count;
        line[length++] = '"';
        break;
    default:
        return false;
    }
    line[length++] = '\n';
    strbuf_append(out, line, length);
    return true;
}

static void print_long(const struct ad *ad, bool with_private, struct strbuf *out)
{
    uint32_t *order = ad_sorted(ad);
    for (size_t i = 0; order != NULL && i < ad_count(ad); i++) {
        struct ad_item item;
        struct ad_node literal;
        ad_item_at(ad, order[i], &item);
        if (!with_private && ad_attr_is_private(item.name)) {
            continue;
        }
        const struct ad_node *node = ad_spot_node(&item.spot, &literal);
        if (!print_short_line(&item, node, out)) {
            ad_print_name(item.name, item.length, AD_OLD, out);
            strbuf_puts(out, " = ");
            ad_node_print(node, AD_OLD, out);
            strbuf_putc(out, '\n');
        }
    }
    mem_free(order);
}

void ad_print_long(const struct ad *ad, struct strbuf *out)
{
    print_long(ad, true, out);
}

void ad_print_long_public(const struct ad *ad, struct strbuf *out)
{
    print_long(ad, false, out);
}
