/* classad/ad_grammar.c - makes trees of tokens.
 *
 * The parser uses precedence climbing; operators of one precedence become one chain.  Precedences
 * from low to high: `? :`, ||, &&, |, ^, &, equality, order, shift, sum, product, unary, postfix.
 * Postfix operators are .name, [subscript] and ?: written as one token, which binds tighter than
 * any binary operator; written apart, `? :` is a conditional without a middle part (both as in
 * HTCondor).  A minus directly before a number, where an operand is expected, belongs to the
 * number.
 *
 * Trees are built in an arena, with children on a stack until their parent is complete, and then
 * copied into one block.  So an expression that is refused leaves nothing behind.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_grammar.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/mem.h"
#include "classad/ad_func.h"
#include "classad/ad_time.h"

#define PARSE_BYTES_MAX ((size_t)256 << 20)

int ad_parser_init(struct ad_parser *parser, const char *text, size_t length, enum ad_syntax syntax,
                   struct err *err)
{
    *parser = (struct ad_parser){.err = err};
    if (length > AD_TEXT_MAX) {
        return err_set(err, -E2BIG, "text of %zu bytes is longer than %zu", length, AD_TEXT_MAX);
    }
    parser->arena = arena_create(0, PARSE_BYTES_MAX);
    ad_lex_init(&parser->lexer, text, length, syntax, parser->arena);
    return 0;
}

void ad_parser_fini(struct ad_parser *parser)
{
    vec_fini(&parser->nested, ad_destroy_item);
    mem_free(parser->stack);
    arena_destroy(parser->arena);
}

/* ---- errors and helpers ---- */

static int refuse_token(struct ad_parser *parser, const char *expected)
{
    struct ad_lexer *lexer = &parser->lexer;
    size_t offset = (size_t)(lexer->start - lexer->text);
    if (lexer->token == AD_TOKEN_BAD) {
        return err_set(parser->err, lexer->too_big ? -E2BIG : -EINVAL, "at byte %zu: %s", offset,
                       lexer->why);
    }
    if (lexer->token == AD_TOKEN_END) {
        return err_set(parser->err, -EINVAL, "at byte %zu: %s expected, the text ends", offset,
                       expected);
    }
    size_t shown = (size_t)(lexer->at - lexer->start);
    return err_set(parser->err, -EINVAL, "at byte %zu: %s expected, not '%.*s'", offset, expected,
                   (int)(shown < 40 ? shown : 40), lexer->start);
}

static int too_big(struct ad_parser *parser, const char *what)
{
    return err_set(parser->err, -E2BIG, "at byte %zu: %s",
                   (size_t)(parser->lexer.start - parser->lexer.text), what);
}

static bool at_mark(const struct ad_parser *parser, char mark)
{
    return parser->lexer.token == AD_TOKEN_PUNCTUATION && parser->lexer.mark == mark;
}

static int expect_mark(struct ad_parser *parser, char mark, const char *name)
{
    if (!at_mark(parser, mark)) {
        return refuse_token(parser, name);
    }
    ad_lex_next(&parser->lexer);
    return 0;
}

static int enter_level(struct ad_parser *parser)
{
    return ++parser->depth > AD_DEPTH_MAX ? too_big(parser, "nested too deeply") : 0;
}

static int push_node(struct ad_parser *parser, const struct ad_node *node)
{
    if (++parser->node_count > AD_NODES_MAX) {
        return too_big(parser, "expression has too many parts");
    }
    if (parser->stack_count == parser->stack_capacity) {
        size_t capacity = parser->stack_capacity == 0 ? 64 : parser->stack_capacity * 2;
        struct ad_node *grown = mem_try_realloc(parser->stack, capacity * sizeof(*grown));
        if (grown == NULL) {
            return too_big(parser, "out of memory");
        }
        parser->stack = grown;
        parser->stack_capacity = capacity;
    }
    parser->stack[parser->stack_count++] = *node;
    return 0;
}

/* Makes the nodes that were pushed since `from` the children of node, in the arena; node must be of
 * a kind with children. */
static int adopt_children(struct ad_parser *parser, size_t from, struct ad_node *node)
{
    size_t count = parser->stack_count - from;
    struct ad_node *kids = NULL;
    if (count > 0) {
        kids = arena_alloc(parser->arena, count * sizeof(*kids));
        if (kids == NULL) {
            return too_big(parser, "out of memory");
        }
        memcpy(kids, &parser->stack[from], count * sizeof(*kids));
    }
    parser->stack_count = from;
    node->count = (uint32_t)count;
    if (node->kind == AD_NODE_REF || node->kind == AD_NODE_CALL) {
        node->named.kids = kids;
    } else {
        node->kids = kids;
    }
    return 0;
}

static int adopt_one(struct ad_parser *parser, struct ad_node *parent, const struct ad_node *kid)
{
    size_t from = parser->stack_count;
    int rc = push_node(parser, kid);
    return rc < 0 ? rc : adopt_children(parser, from, parent);
}

static int adopt_two(struct ad_parser *parser, struct ad_node *parent, const struct ad_node *a,
                     const struct ad_node *b)
{
    size_t from = parser->stack_count;
    int rc = push_node(parser, a);
    if (rc == 0) {
        rc = push_node(parser, b);
    }
    return rc < 0 ? rc : adopt_children(parser, from, parent);
}

/* ---- primaries ---- */

static int not_a_time(struct ad_parser *parser, const char *kind)
{
    size_t offset = (size_t)(parser->lexer.start - parser->lexer.text);
    return err_set(parser->err, -EINVAL, "before byte %zu: the text is not a valid %s time", offset,
                   kind);
}

/* absTime("...") and relTime("...") with one literal are literals, too. */
static int time_literal(struct ad_parser *parser, const struct ad_node *call, struct ad_node *ret)
{
    const struct ad_name *name = call->named.name;
    if (name->length != 7 || call->count != 1 || call->named.kids[0].kind != AD_NODE_STRING) {
        return 0;
    }
    const struct ad_node *text = &call->named.kids[0];
    if (ad_name_equal(name->text, "abstime", 7)) {
        struct ad_node literal = {.kind = AD_NODE_ABSTIME};
        int32_t offset_s;
        bool zoned;
        if (!ad_time_parse_absolute(text->text, text->count, &literal.integer, &offset_s, &zoned)) {
            return not_a_time(parser, "absolute");
        }
        const struct ad_context *context = parser->context;
        if (!zoned && context != NULL && context->zone_offset_s != NULL) {
            offset_s = context->zone_offset_s(context->arg, literal.integer);
            offset_s = context->zone_offset_s(context->arg, literal.integer - offset_s);
            literal.integer -= offset_s;
        }
        literal.count = (uint32_t)offset_s;
        *ret = literal;
    } else if (ad_name_equal(name->text, "reltime", 7)) {
        struct ad_node literal = {.kind = AD_NODE_RELTIME};
        if (!ad_time_parse_relative(text->text, text->count, &literal.real)) {
            return not_a_time(parser, "relative");
        }
        *ret = literal;
    }
    return 0;
}

/* The result lives in the parser's arena. */
static int ad_parse_tree(struct ad_parser *parser, struct ad_node *ret);

static int parse_list(struct ad_parser *parser, char closing, const char *closing_name,
                      struct ad_node *ret)
{
    size_t from = parser->stack_count;
    int rc = enter_level(parser);
    if (rc < 0) {
        return rc;
    }
    ad_lex_next(&parser->lexer);
    if (!at_mark(parser, closing)) {
        for (;;) {
            struct ad_node item;
            rc = ad_parse_tree(parser, &item);
            if (rc == 0) {
                rc = push_node(parser, &item);
            }
            if (rc < 0) {
                return rc;
            }
            if (!at_mark(parser, ',') && !(closing == ')' && at_mark(parser, ';'))) {
                break; /* arguments may be separated by semicolons, as in old ClassAds */
            }
            ad_lex_next(&parser->lexer);
        }
    }
    rc = expect_mark(parser, closing, closing_name);
    if (rc < 0) {
        return rc;
    }
    parser->depth--;
    return adopt_children(parser, from, ret);
}

static int parse_parens(struct ad_parser *parser, struct ad_node *ret)
{
    int rc = enter_level(parser);
    if (rc < 0) {
        return rc;
    }
    ad_lex_next(&parser->lexer);
    struct ad_node inner;
    rc = ad_parse_tree(parser, &inner);
    if (rc == 0) {
        rc = expect_mark(parser, ')', "')'");
    }
    if (rc < 0) {
        return rc;
    }
    parser->depth--;
    *ret = (struct ad_node){.kind = AD_NODE_PAREN};
    return adopt_one(parser, ret, &inner);
}

static int new_name(struct ad_parser *parser, struct ad_node *ret)
{
    struct ad_lexer *lexer = &parser->lexer;
    ret->named.name = ad_name_in(parser->arena, lexer->word, lexer->word_length);
    return ret->named.name == NULL ? too_big(parser, "out of memory") : 0;
}

static int parse_keyword(const struct ad_lexer *lexer, struct ad_node *ret)
{
    static const struct {
        const char *text;
        size_t length;
        enum ad_kind kind;
        bool boolean;
    } WORDS[] = {
        {"true", 4, AD_NODE_BOOL, true},
        {"false", 5, AD_NODE_BOOL, false},
        {"undefined", 9, AD_NODE_UNDEFINED, false},
        {"error", 5, AD_NODE_ERROR, false},
    };
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
        if (lexer->word_length == WORDS[i].length &&
            ad_name_equal(lexer->word, WORDS[i].text, WORDS[i].length)) {
            *ret = (struct ad_node){.kind = (uint8_t)WORDS[i].kind, .boolean = WORDS[i].boolean};
            return 1;
        }
    }
    return 0;
}

static int parse_name(struct ad_parser *parser, struct ad_node *ret)
{
    struct ad_lexer *lexer = &parser->lexer;
    if (!lexer->quoted && parse_keyword(lexer, ret)) {
        ad_lex_next(lexer);
        return 0;
    }
    *ret = (struct ad_node){.kind = AD_NODE_REF};
    int rc = new_name(parser, ret);
    if (rc < 0) {
        return rc;
    }
    ad_lex_next(lexer);
    if (!at_mark(parser, '(')) {
        return 0;
    }
    ret->kind = AD_NODE_CALL;
    ret->op = ad_func_index(ret->named.name->text, ret->named.name->length);
    rc = parse_list(parser, ')', "')' or ','", ret);
    return rc < 0 ? rc : time_literal(parser, ret, ret);
}

/* Parses the name after a '.'; reserved words are refused. */
static int parse_selected(struct ad_parser *parser, struct ad_node *ret)
{
    struct ad_node word;
    if (parser->lexer.token != AD_TOKEN_NAME ||
        (!parser->lexer.quoted && parse_keyword(&parser->lexer, &word))) {
        return refuse_token(parser, "attribute name");
    }
    int rc = new_name(parser, ret);
    ad_lex_next(&parser->lexer);
    return rc;
}

static int parse_string(struct ad_parser *parser, struct ad_node *ret)
{
    struct ad_lexer *lexer = &parser->lexer;
    *ret = (struct ad_node){.kind = AD_NODE_STRING,
                            .count = (uint32_t)lexer->word_length,
                            .text = lexer->word};
    ad_lex_next(lexer);
    return 0;
}

static int parse_nested(struct ad_parser *parser, struct ad_node *ret)
{
    struct ad *nested = NULL;
    int rc = ad_parse_brackets(parser, &nested);
    if (rc < 0) {
        return rc;
    }
    vec_push(&parser->nested, nested);
    *ret = (struct ad_node){.kind = AD_NODE_AD, .nested = nested};
    return 0;
}

static int parse_primary(struct ad_parser *parser, struct ad_node *ret)
{
    struct ad_lexer *lexer = &parser->lexer;
    switch (lexer->token) {
    case AD_TOKEN_INT:
        *ret = (struct ad_node){.kind = AD_NODE_INT, .integer = lexer->integer};
        ad_lex_next(lexer);
        return 0;
    case AD_TOKEN_REAL:
        *ret = (struct ad_node){.kind = AD_NODE_REAL, .real = lexer->real};
        ad_lex_next(lexer);
        return 0;
    case AD_TOKEN_STRING:
        return parse_string(parser, ret);
    case AD_TOKEN_NAME:
        return parse_name(parser, ret);
    case AD_TOKEN_PUNCTUATION:
        break;
    default:
        return refuse_token(parser, "expression");
    }
    switch (lexer->mark) {
    case '(':
        return parse_parens(parser, ret);
    case '{':
        *ret = (struct ad_node){.kind = AD_NODE_LIST};
        return parse_list(parser, '}', "'}' or ','", ret);
    case '[':
        return parse_nested(parser, ret);
    case '.':
        ad_lex_next(lexer);
        *ret = (struct ad_node){.kind = AD_NODE_REF, .op = AD_REF_ABSOLUTE};
        return parse_selected(parser, ret);
    default:
        return refuse_token(parser, "expression");
    }
}

/* ---- operators ---- */

static int parse_postfix(struct ad_parser *parser, struct ad_node *ret);

/* Parses what follows `?:` written as one token: not a unary expression, but a number may have a
 * sign. */
static int parse_alternative(struct ad_parser *parser, struct ad_node *ret)
{
    struct ad_lexer *lexer = &parser->lexer;
    if (lexer->token == AD_TOKEN_OPERATOR && lexer->op == AD_OP_SUB) {
        (void)ad_lex_negative(lexer); /* else it is no operand, which shows there */
    }
    return parse_postfix(parser, ret);
}

static int parse_postfix(struct ad_parser *parser, struct ad_node *ret)
{
    unsigned depth = parser->depth;
    int rc = parse_primary(parser, ret);
    while (rc == 0 && (at_mark(parser, '.') || at_mark(parser, '[') || at_mark(parser, 'E'))) {
        struct ad_node left = *ret;
        struct ad_node right;
        char mark = parser->lexer.mark;
        rc = enter_level(parser); /* the tree deepens to the left */
        if (rc < 0) {
            return rc;
        }
        ad_lex_next(&parser->lexer);
        if (mark == '.') {
            if (left.kind == AD_NODE_INT) {
                struct ad_node number = left; /* `3 .x` would print as `3.x`, which is no number */
                left = (struct ad_node){.kind = AD_NODE_PAREN};
                rc = adopt_one(parser, &left, &number);
                if (rc < 0) {
                    return rc;
                }
            }
            *ret = (struct ad_node){.kind = AD_NODE_REF};
            rc = parse_selected(parser, ret);
            if (rc == 0) {
                rc = adopt_one(parser, ret, &left);
            }
            continue;
        }
        if (mark == 'E') {
            rc = parse_alternative(parser, &right);
            *ret = (struct ad_node){.kind = AD_NODE_ELSE};
        } else {
            rc = ad_parse_tree(parser, &right);
            if (rc == 0) {
                rc = expect_mark(parser, ']', "']'");
            }
            *ret = (struct ad_node){.kind = AD_NODE_SUBSCRIPT};
        }
        if (rc == 0) {
            rc = adopt_two(parser, ret, &left, &right);
        }
    }
    parser->depth = depth;
    return rc;
}

static int parse_unary(struct ad_parser *parser, struct ad_node *ret)
{
    struct ad_lexer *lexer = &parser->lexer;
    if (lexer->token != AD_TOKEN_OPERATOR) {
        return parse_postfix(parser, ret);
    }
    *ret = (struct ad_node){.kind = AD_NODE_UNARY};
    switch (lexer->op) {
    case AD_OP_SUB:
        if (ad_lex_negative(lexer)) {
            return parse_postfix(parser, ret);
        }
        ret->op = AD_OP_MINUS;
        break;
    case AD_OP_ADD:
        ret->op = AD_OP_PLUS;
        break;
    case AD_OP_NOT:
    case AD_OP_BIT_NOT:
        ret->op = lexer->op;
        break;
    default:
        return refuse_token(parser, "expression");
    }
    int rc = enter_level(parser);
    if (rc < 0) {
        return rc;
    }
    ad_lex_next(lexer);
    struct ad_node operand;
    rc = parse_unary(parser, &operand);
    parser->depth--;
    return rc < 0 ? rc : adopt_one(parser, ret, &operand);
}

static bool at_binary(const struct ad_parser *parser, int least, int most)
{
    if (parser->lexer.token != AD_TOKEN_OPERATOR || parser->lexer.op >= AD_OP_NOT) {
        return false;
    }
    int level = ad_op_precedence((enum ad_op)parser->lexer.op);
    return level >= least && level <= most;
}

static int parse_binary(struct ad_parser *parser, int least, struct ad_node *ret)
{
    int rc = parse_unary(parser, ret);
    while (rc == 0 && at_binary(parser, least, 9)) {
        int level = ad_op_precedence((enum ad_op)parser->lexer.op);
        size_t from = parser->stack_count;
        rc = push_node(parser, ret);
        while (rc == 0 && at_binary(parser, level, level)) {
            uint8_t op = parser->lexer.op;
            struct ad_node right;
            ad_lex_next(&parser->lexer);
            rc = parse_binary(parser, level + 1, &right);
            if (rc == 0) {
                right.link = op;
                rc = push_node(parser, &right);
            }
        }
        if (rc == 0) {
            *ret = (struct ad_node){.kind = AD_NODE_CHAIN};
            rc = adopt_children(parser, from, ret);
        }
    }
    return rc;
}

/* `a ? : b`, written with blanks, binds loosely but is printed as `a ?: b`; parentheses keep its
 * meaning. */
static int in_parens(struct ad_parser *parser, struct ad_node *node)
{
    if (node->kind != AD_NODE_CHAIN && node->kind != AD_NODE_COND && node->kind != AD_NODE_ELSE) {
        return 0;
    }
    struct ad_node inner = *node;
    *node = (struct ad_node){.kind = AD_NODE_PAREN};
    return adopt_one(parser, node, &inner);
}

static int parse_conditional(struct ad_parser *parser, struct ad_node *ret)
{
    struct ad_node condition = *ret;
    struct ad_node last;
    int rc = enter_level(parser);
    if (rc < 0) {
        return rc;
    }
    ad_lex_next(&parser->lexer);
    if (at_mark(parser, ':')) {
        ad_lex_next(&parser->lexer);
        rc = ad_parse_tree(parser, &last);
        if (rc == 0) {
            rc = in_parens(parser, &last);
        }
        if (rc == 0) {
            rc = in_parens(parser, &condition);
        }
        parser->depth--;
        *ret = (struct ad_node){.kind = AD_NODE_ELSE};
        return rc < 0 ? rc : adopt_two(parser, ret, &condition, &last);
    }
    size_t from = parser->stack_count;
    rc = push_node(parser, &condition);
    for (int part = 0; rc == 0 && part < 2; part++) {
        rc = part == 0 ? 0 : expect_mark(parser, ':', "':'");
        if (rc == 0) {
            rc = ad_parse_tree(parser, &last);
        }
        if (rc == 0) {
            rc = push_node(parser, &last);
        }
    }
    parser->depth--;
    *ret = (struct ad_node){.kind = AD_NODE_COND};
    return rc < 0 ? rc : adopt_children(parser, from, ret);
}

static int ad_parse_tree(struct ad_parser *parser, struct ad_node *ret)
{
    int rc = parse_binary(parser, 0, ret);
    if (rc == 0 && at_mark(parser, '?')) {
        return parse_conditional(parser, ret);
    }
    return rc;
}

/* ---- blocks and ads ---- */

int ad_parse_one(struct ad_parser *parser, struct ad_expr **ret)
{
    size_t mark = parser->nested.count;
    struct ad_node root;
    int rc = ad_parse_tree(parser, &root);
    if (rc < 0) {
        return rc;
    }
    struct ad_expr *expr = ad_expr_compact(&root);
    if (expr == NULL) {
        return too_big(parser, "expression is too large");
    }
    parser->nested.count = mark; /* they belong to the block now */
    *ret = expr;
    return 0;
}

static int parse_attribute(struct ad_parser *parser, struct ad *ad)
{
    struct ad_lexer *lexer = &parser->lexer;
    struct ad_node word;
    if (lexer->token != AD_TOKEN_NAME || (!lexer->quoted && parse_keyword(lexer, &word)) ||
        lexer->word_length == 0) {
        return refuse_token(parser, "attribute name");
    }
    struct ad_node name;
    int rc = new_name(parser, &name);
    if (rc < 0) {
        return rc;
    }
    ad_lex_next(lexer);
    rc = expect_mark(parser, '=', "'='");
    struct ad_expr *expr = NULL;
    if (rc == 0) {
        rc = ad_parse_one(parser, &expr);
    }
    if (rc < 0) {
        return rc;
    }
    rc = ad_put(ad, name.named.name->text, name.named.name->length, expr, true);
    if (rc < 0) {
        ad_expr_destroy(expr);
        return too_big(parser, "too many attributes");
    }
    return 0;
}

int ad_parse_brackets(struct ad_parser *parser, struct ad **ret)
{
    int rc = enter_level(parser);
    if (rc < 0) {
        return rc;
    }
    ad_lex_next(&parser->lexer);
    struct ad *ad = ad_create();
    bool separated = false;
    while (rc == 0 && !at_mark(parser, ']')) {
        if (at_mark(parser, ';')) {
            separated = true;
            ad_lex_next(&parser->lexer);
            continue;
        }
        rc = parse_attribute(parser, ad);
        if (rc == 0 && !at_mark(parser, ';') && !at_mark(parser, ']')) {
            rc = refuse_token(parser, "';' or ']'");
        }
    }
    if (rc == 0 && separated && ad_count(ad) == 0) {
        rc = refuse_token(parser, "attribute name");
    }
    if (rc < 0) {
        ad_destroy(ad);
        return rc;
    }
    ad_lex_next(&parser->lexer);
    parser->depth--;
    *ret = ad;
    return 0;
}

int ad_parse_end(struct ad_parser *parser)
{
    return parser->lexer.token == AD_TOKEN_END ? 0 : refuse_token(parser, "end of text");
}
