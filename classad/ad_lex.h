/* classad/ad_lex.h - the lexer, from text to tokens, for both syntaxes.
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
    AD_TOKEN_BAD, /* error; lexer->why is the message */
    AD_TOKEN_INT,
    AD_TOKEN_REAL,
    AD_TOKEN_STRING,
    AD_TOKEN_NAME,        /* a name or reserved word; `quoted` is set for a name written 'name' */
    AD_TOKEN_OPERATOR,    /* operator in `op`; + and - are given as the binary operators */
    AD_TOKEN_PUNCTUATION, /* ( ) [ ] { } , ; . = ? : in `mark`; 'E' stands for ?: */
};

struct ad_lexer {
    const char *text;
    const char *at; /* next byte after the current token */
    const char *end;
    enum ad_syntax syntax;
    struct arena *arena; /* memory for strings with escapes */

    enum ad_token token;
    const char *start; /* first byte of the current token */
    bool quoted;
    char mark;
    uint8_t op; /* enum ad_op */
    int64_t integer;
    double real;
    const char *word; /* text of a name or string, escapes decoded */
    size_t word_length;
    const char *why; /* error message, a static string */
    bool too_big;    /* true when a limit was exceeded, false when the syntax is wrong */
};

void ad_lex_init(struct ad_lexer *lexer, const char *text, size_t length, enum ad_syntax syntax,
                 struct arena *arena);
void ad_lex_next(struct ad_lexer *lexer);

/* Call at a minus sign.  True when a number follows directly; the token is then that negative
 * number. */
bool ad_lex_negative(struct ad_lexer *lexer);

#endif
