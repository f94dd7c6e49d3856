/* classad/ad_grammar.h - the parser, from tokens to trees; used by ad_expr_parse(), ad_parse(),
 * eval().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_GRAMMAR_H
#define CLASSAD_AD_GRAMMAR_H

#include "base/vec.h"
#include "classad/ad_lex.h"
#include "classad/ad_private.h"

struct ad_parser {
    struct ad_lexer lexer;
    struct arena *arena;   /* memory of the trees under construction */
    struct ad_node *stack; /* nodes whose parent is not complete yet */
    size_t stack_count;
    size_t stack_capacity;
    size_t node_count;
    unsigned depth;
    struct vec nested;                /* ads that no expression owns yet */
    const struct ad_context *context; /* time zone for times that name none; NULL: UTC */
    struct err *err;
};

/* text must outlive the parser.  Returns 0, or -E2BIG when text is longer than AD_TEXT_MAX. */
int ad_parser_init(struct ad_parser *parser, const char *text, size_t length, enum ad_syntax syntax,
                   struct err *err);
/* also destroys nested ads that no expression took over */
void ad_parser_fini(struct ad_parser *parser);

/* Each function begins at the current token (call ad_lex_next() first) and leaves the parser at the
 * token after what it read. */
/* Parses one expression into one memory block. */
int ad_parse_one(struct ad_parser *parser, struct ad_expr **ret);
/* Parses an ad `[ ... ]`; the current token is '['. */
int ad_parse_brackets(struct ad_parser *parser, struct ad **ret);
/* Checks that only white space is left. */
int ad_parse_end(struct ad_parser *parser);

#endif
