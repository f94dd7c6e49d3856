/* classad/ad_lex.h - text to tokens, in both syntaxes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_LEX_H
#define CLASSAD_AD_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classad/ad_expr.h"

struct arena;

enum ad_token {
    AD_TOKEN_END,
    AD_TOKEN_BAD, /* lexer->why says what is wrong */
    AD_TOKEN_INT,
    AD_TOKEN_REAL,
    AD_TOKEN_STRING,
    AD_TOKEN_NAME,        /* also the reserved words; quoted tells 'name' */
    AD_TOKEN_OPERATOR,    /* binary or unary: op; for + and - it is the binary one */
    AD_TOKEN_PUNCTUATION, /* ( ) [ ] { } , ; . = ? : in `mark`, and 'E' for ?: */
};

struct ad_lexer {
    const char *text;
    const char *at; /* the next byte after the token */
    const char *end;
    enum ad_syntax syntax;
    struct arena *arena; /* for strings with escapes */

    enum ad_token token;
    const char *start; /* of the token */
    bool quoted;
    char mark;
    uint8_t op; /* enum ad_op */
    int64_t integer;
    double real;
    const char *word; /* names and strings: the bytes after escapes */
    size_t word_length;
    const char *why; /* static text */
    bool too_big;    /* a limit, rather than a mistake */
};

void ad_lex_init(struct ad_lexer *lexer, const char *text, size_t length, enum ad_syntax syntax,
                 struct arena *arena);
void ad_lex_next(struct ad_lexer *lexer);

/* At a minus: true when a number follows at once; it is read as the next token, negative. */
bool ad_lex_negative(struct ad_lexer *lexer);

#endif
