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

/* Makes the parser ready to read text, which must outlive the parser.  Returns 0, or -E2BIG when
 * text is longer than AD_TEXT_MAX. */
int ad_parser_init(struct ad_parser *parser, const char *text, size_t length, enum ad_syntax syntax,
                   struct err *err);
/* Releases the parser's memory, and destroys nested ads that no expression took over. */
void ad_parser_fini(struct ad_parser *parser);

/* The next functions begin at the current token (call ad_lex_next() before the first of them) and
 * leave the parser at the token after what they read.  They return 0, -EINVAL (syntax) or -E2BIG (a
 * limit), and fill the err of ad_parser_init(). */
/* Parses one expression and sets *ret to it (release with ad_expr_destroy()).  Returns 0, -EINVAL
 * (syntax) or -E2BIG (a limit). */
int ad_parse_one(struct ad_parser *parser, struct ad_expr **ret);
/* Parses an ad `[ ... ]` and sets *ret to it (release with ad_destroy()); the current token is '['.
 * Returns 0, -EINVAL (syntax) or -E2BIG (a limit). */
int ad_parse_brackets(struct ad_parser *parser, struct ad **ret);
/* Returns 0 when only white space is left in the text; -EINVAL when other text follows, or -E2BIG
 * when this text exceeds a limit. */
int ad_parse_end(struct ad_parser *parser);

#endif
