/* classad/ad_grammar.h - tokens to trees; shared by ad_expr_parse(), ad_parse() and eval().
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
    struct arena *arena;   /* of the trees under construction */
    struct ad_node *stack; /* children whose parent is not complete */
    size_t stack_count;
    size_t stack_capacity;
    size_t node_count;
    unsigned depth;
    struct vec nested;                /* ads that no expression owns yet */
    const struct ad_context *context; /* the zone of times that name none; NULL: UTC */
    struct err *err;
};

/* text must outlive the parser.  0 or -E2BIG (longer than AD_TEXT_MAX). */
int ad_parser_init(struct ad_parser *parser, const char *text, size_t length, enum ad_syntax syntax,
                   struct err *err);
void ad_parser_fini(struct ad_parser *parser); /* also destroys nested ads that nobody took */

/* Each begins at the current token (call ad_lex_next() first) and leaves the token after what it
 * read. */
int ad_parse_one(struct ad_parser *parser, struct ad_expr **ret); /* as a block */
int ad_parse_brackets(struct ad_parser *parser, struct ad **ret); /* at '[' */
int ad_parse_end(struct ad_parser *parser);                       /* nothing but blanks is left */

#endif
