/* classad/ad_parse.c - parses whole texts: an expression, an ad in brackets, an ad in long form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_parse.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "classad/ad_grammar.h"

/* Sets *fault to the position of the token that the parser refused. */
static void say_fault(const struct ad_parser *parser, const char *text, size_t *fault)
{
    if (fault != NULL) {
        *fault = (size_t)(parser->lexer.start - text);
    }
}

int ad_expr_parse(const char *text, size_t length, enum ad_syntax syntax, struct ad_expr **ret,
                  struct err *err)
{
    return ad_expr_parse_in(text, length, syntax, NULL, ret, NULL, err);
}

int ad_expr_parse_in(const char *text, size_t length, enum ad_syntax syntax,
                     const struct ad_context *context, struct ad_expr **ret, size_t *fault,
                     struct err *err)
{
    struct ad_parser parser;
    if (fault != NULL) {
        *fault = 0;
    }
    int rc = ad_parser_init(&parser, text, length, syntax, err);
    if (rc < 0) {
        return rc;
    }
    parser.context = context;
    struct ad_expr *expr = NULL;
    ad_lex_next(&parser.lexer);
    rc = ad_parse_one(&parser, &expr);
    if (rc == 0) {
        rc = ad_parse_end(&parser);
    }
    if (rc == 0) {
        *ret = expr;
    } else {
        ad_expr_destroy(expr);
        say_fault(&parser, text, fault);
    }
    ad_parser_fini(&parser);
    return rc;
}

int ad_parse(const char *text, size_t length, struct ad **ret, struct err *err)
{
    return ad_parse_in(text, length, NULL, ret, NULL, err);
}

int ad_parse_in(const char *text, size_t length, const struct ad_context *context, struct ad **ret,
                size_t *fault, struct err *err)
{
    struct ad_parser parser;
    if (fault != NULL) {
        *fault = 0;
    }
    int rc = ad_parser_init(&parser, text, length, AD_NEW, err);
    if (rc < 0) {
        return rc;
    }
    parser.context = context;
    struct ad *ad = NULL;
    ad_lex_next(&parser.lexer);
    if (parser.lexer.token != AD_TOKEN_PUNCTUATION || parser.lexer.mark != '[') {
        rc =
            err_set(err, -EINVAL, "at byte %zu: '[' expected", (size_t)(parser.lexer.start - text));
    } else {
        rc = ad_parse_brackets(&parser, &ad);
    }
    if (rc == 0) {
        rc = ad_parse_end(&parser);
    }
    if (rc == 0) {
        *ret = ad;
    } else {
        ad_destroy(ad);
        say_fault(&parser, text, fault);
    }
    ad_parser_fini(&parser);
    return rc;
}

/* ---- long form ---- */

static bool is_keyword(const struct ad_lexer *lexer)
{
    return ad_name_is_reserved(lexer->word, lexer->word_length) &&
           ad_name_special(lexer->word, lexer->word_length) ==
               AD_SPECIAL_NONE; /* PARENT may be a name */
}

#define PLAIN_DIGITS_MAX 18 /* a number of so many digits always fits */

/* Makes the value of a line that is a number in decimal digits, or a string without a backslash,
 * and nothing else: most values are.  NULL: it needs the parser. */
static struct ad_expr *plain_value(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t')) {
        at++;
    }
    const size_t length = (size_t)(end - at);
    if (length >= 2 && length - 2 <= AD_STRING_MAX && at[0] == '"' && end[-1] == '"') {
        const size_t inside = length - 2;
        const bool is_plain = memchr(at + 1, '"', inside) == NULL &&
                              memchr(at + 1, '\\', inside) == NULL &&
                              memchr(at + 1, '\0', inside) == NULL;
        return is_plain ? ad_expr_string(at + 1, inside) : NULL;
    }
    if (length == 0 || length > PLAIN_DIGITS_MAX || (at[0] == '0' && length > 1)) {
        return NULL;
    }
    int64_t number = 0;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9') {
            return NULL;
        }
        number = number * 10 + (*at - '0');
    }
    return ad_expr_int(number);
}

static int parse_line(struct ad_parser *parser, struct ad *ad, const char *line, size_t length)
{
    struct ad_lexer *lexer = &parser->lexer;
    arena_reset(parser->arena);
    parser->depth = 0;
    parser->node_count = 0;
    ad_lex_init(lexer, line, length, AD_OLD, parser->arena);
    ad_lex_next(lexer);
    if (lexer->token == AD_TOKEN_END) {
        return 0; /* nothing but a comment */
    }
    if (lexer->token != AD_TOKEN_NAME || lexer->word_length == 0 ||
        (!lexer->quoted && is_keyword(lexer))) {
        return err_set(parser->err, -EINVAL, "attribute name expected");
    }
    const char *name = lexer->word; /* in the line, or in the arena till the next line */
    const size_t name_length = lexer->word_length;
    ad_lex_next(lexer);
    if (lexer->token != AD_TOKEN_PUNCTUATION || lexer->mark != '=') {
        return err_set(parser->err, -EINVAL, "'=' expected after '%.*s'", (int)name_length, name);
    }
    struct ad_expr *expr = plain_value(lexer->at, lexer->end);
    int rc = 0;
    if (expr == NULL) {
        ad_lex_next(lexer);
        rc = ad_parse_one(parser, &expr);
        rc = rc == 0 ? ad_parse_end(parser) : rc;
    }
    if (rc == 0) {
        rc = ad_put(ad, name, name_length, expr, true);
        if (rc < 0) {
            (void)err_set(parser->err, rc, "too many attributes");
        }
    }
    if (rc < 0) {
        ad_expr_destroy(expr);
    }
    return rc;
}

static bool is_blank(const char *line, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
            return line[i] == '#';
        }
    }
    return true;
}

int ad_parse_long(const char *text, size_t length, struct ad **ret, struct err *err)
{
    return ad_parse_long_in(text, length, NULL, ret, NULL, err);
}

int ad_parse_long_in(const char *text, size_t length, const struct ad_context *context,
                     struct ad **ret, size_t *fault, struct err *err)
{
    struct ad_parser parser;
    if (fault != NULL) {
        *fault = 0;
    }
    int rc = ad_parser_init(&parser, text, length, AD_OLD, err);
    if (rc < 0) {
        return rc;
    }
    parser.context = context;
    struct ad *ad = ad_create();
    const char *end = text + length;
    unsigned long number = 0;
    for (const char *line = text; rc == 0 && line < end;) {
        const char *next = memchr(line, '\n', (size_t)(end - line));
        size_t line_length = (size_t)((next != NULL ? next : end) - line);
        number++;
        if (!is_blank(line, line_length)) {
            rc = parse_line(&parser, ad, line, line_length);
            if (rc < 0) {
                (void)err_prefix(err, rc, "line %lu", number);
            }
        }
        line = next != NULL ? next + 1 : end;
    }
    if (rc == 0) {
        *ret = ad;
    } else {
        ad_destroy(ad);
        say_fault(&parser, text, fault);
    }
    ad_parser_fini(&parser);
    return rc;
}

int ad_expr_check(void *context, const char *text, struct err *err)
{
    struct ad_expr *expr;
    (void)context;
    int rc = ad_expr_parse(text, strlen(text), AD_OLD, &expr, err);
    if (rc == 0) {
        ad_expr_destroy(expr);
    }
    return rc;
}

static int set_text(struct ad *ad, const char *name, const char *text, enum ad_syntax syntax,
                    struct err *err)
{
    struct ad_expr *expr = NULL;
    int rc = ad_expr_parse(text, strlen(text), syntax, &expr, err);
    if (rc < 0) {
        return err_prefix(err, rc, "%s", name);
    }
    ad_set(ad, name, expr);
    return 0;
}

int ad_set_expr(struct ad *ad, const char *name, const char *text, struct err *err)
{
    return set_text(ad, name, text, AD_NEW, err);
}

int ad_set_expr_old(struct ad *ad, const char *name, const char *text, struct err *err)
{
    return set_text(ad, name, text, AD_OLD, err);
}
