/* classad/ad_lex.c - splits text into tokens.
 *
 * The two syntaxes differ only inside quotes.  New syntax has the escapes of C; an unknown escape
 * is the character itself, and a zero byte is refused.  In old syntax a backslash is an ordinary
 * character, except before a quote that is not the last character of its line, so that "C:\dir\" is
 * a string.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_lex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"
#include "classad/ad_private.h"

void ad_lex_init(struct ad_lexer *lexer, const char *text, size_t length, enum ad_syntax syntax,
                 struct arena *arena)
{
    *lexer = (struct ad_lexer){.text = text,
                               .at = text,
                               .start = text,
                               .end = text + length,
                               .syntax = syntax,
                               .arena = arena};
}

static bool is_digit(const struct ad_lexer *lexer, const char *at)
{
    return at < lexer->end && *at >= '0' && *at <= '9';
}

static bool is_letter(char c)
{
    char low = ad_lower(c);
    return (low >= 'a' && low <= 'z') || c == '_';
}

static void refuse_token(struct ad_lexer *lexer, const char *why)
{
    lexer->token = AD_TOKEN_BAD;
    lexer->why = why;
}

static void bad_limit(struct ad_lexer *lexer, const char *why)
{
    lexer->too_big = true;
    refuse_token(lexer, why);
}

static void string_too_long(struct ad_lexer *lexer)
{
    bad_limit(lexer, "string is longer than 1 MiB");
}

/* ---- blanks ---- */

static bool skip_comment(struct ad_lexer *lexer)
{
    if (lexer->at[1] == '/') {
        while (lexer->at < lexer->end && *lexer->at != '\n') {
            lexer->at++;
        }
        return true;
    }
    for (const char *at = lexer->at + 2; at + 1 < lexer->end; at++) {
        if (at[0] == '*' && at[1] == '/') {
            lexer->at = at + 2;
            return true;
        }
    }
    return false;
}

static bool skip_blanks(struct ad_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        if (text_is_space(c)) {
            lexer->at++;
        } else if (c == '/' && lexer->at + 1 < lexer->end &&
                   (lexer->at[1] == '/' || lexer->at[1] == '*')) {
            if (!skip_comment(lexer)) {
                return false;
            }
        } else {
            break;
        }
    }
    return true;
}

/* ---- numbers ---- */

#define REAL_TEXT_MAX 4000 /* most digits of a real; a longer text is refused */

static void lex_real(struct ad_lexer *lexer, const char *end, bool negative)
{
    char copy[REAL_TEXT_MAX + 2];
    size_t length = (size_t)(end - lexer->at);
    if (length > REAL_TEXT_MAX) {
        bad_limit(lexer, "number is too long");
        return;
    }
    copy[0] = '-';
    memcpy(copy + 1, lexer->at, length);
    copy[length + 1] = '\0';
    lexer->real = strtod(negative ? copy : copy + 1, NULL);
    lexer->token = AD_TOKEN_REAL;
    lexer->at = end;
}

static bool is_hex(const struct ad_lexer *lexer, const char *at)
{
    char c = at < lexer->end ? ad_lower(*at) : '\0';
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* HTCondor allows no integer that begins with 0, but then reads what follows a minus: so -017 is
 * -17, and -0x1F is 0.  A number that does not fit is 0. */
static void lex_integer(struct ad_lexer *lexer, const char *end, bool negative)
{
    if (!negative && *lexer->at == '0' && end - lexer->at > 1) {
        refuse_token(lexer, "an integer may not begin with 0");
        return;
    }
    uint64_t limit = (uint64_t)INT64_MAX + negative;
    uint64_t value = 0;
    for (const char *digit = lexer->at; digit < end && *digit >= '0' && *digit <= '9'; digit++) {
        uint64_t one = (uint64_t)(*digit - '0');
        if (value > (limit - one) / 10) {
            value = 0;
            break;
        }
        value = value * 10 + one;
    }
    lexer->integer = (int64_t)(negative ? 0 - value : value);
    lexer->token = AD_TOKEN_INT;
    lexer->at = end;
}

/* Passes the digits at *at; *real: the number is not an integer.  NULL: not a number, and the error
 * is set. */
static const char *skip_digits(struct ad_lexer *lexer, const char *at, bool *real)
{
    bool octal = *at == '0';
    if (octal && at + 1 < lexer->end && ad_lower(at[1]) == 'x') {
        at += 2;
        if (!is_hex(lexer, at)) {
            refuse_token(lexer, "hexadecimal digits expected");
            return NULL;
        }
        while (is_hex(lexer, at)) {
            at++;
        }
        return at;
    }
    bool beyond = false;
    while (is_digit(lexer, at)) {
        beyond = beyond || *at > '7';
        at++;
    }
    *real = at < lexer->end && (*at == '.' || ad_lower(*at) == 'e');
    if (octal && beyond && !*real) {
        refuse_token(lexer, "an integer may not begin with 0");
        return NULL;
    }
    return at;
}

/* Reads a number; `at` is at a digit, or at one or two points before a digit. */
static void lex_number(struct ad_lexer *lexer, bool negative)
{
    const char *at = lexer->at;
    bool real = *at == '.';
    if (!real) {
        at = skip_digits(lexer, at, &real);
        if (at == NULL) {
            return;
        }
    }
    if (at < lexer->end && *at == '.') {
        real = true;
        at += 1 + (at + 1 < lexer->end && at == lexer->at && at[1] == '.');
        if (!is_digit(lexer, at)) {
            refuse_token(lexer, "digits expected after the decimal point");
            return;
        }
        while (is_digit(lexer, at)) {
            at++;
        }
    }
    if (real && at < lexer->end && ad_lower(*at) == 'e') {
        at++;
        if (at < lexer->end && (*at == '+' || *at == '-')) {
            at++;
        }
        if (!is_digit(lexer, at)) {
            refuse_token(lexer, "digits expected in the exponent");
            return;
        }
        while (is_digit(lexer, at)) {
            at++;
        }
    }
    if (real) {
        lex_real(lexer, at, negative);
    } else {
        lex_integer(lexer, at, negative);
    }
}

bool ad_lex_negative(struct ad_lexer *lexer)
{
    if (!is_digit(lexer, lexer->at) &&
        !(lexer->at < lexer->end && *lexer->at == '.' && is_digit(lexer, lexer->at + 1))) {
        return false;
    }
    lex_number(lexer, true);
    return true;
}

/* ---- strings and quoted names ---- */

static bool new_escape(const char *end, const char **from, char *to)
{
    char c = *(*from)++;
    switch (c) {
    case 'a':
        *to = '\a';
        return true;
    case 'b':
        *to = '\b';
        return true;
    case 'f':
        *to = '\f';
        return true;
    case 'n':
        *to = '\n';
        return true;
    case 'r':
        *to = '\r';
        return true;
    case 't':
        *to = '\t';
        return true;
    case 'v':
        *to = '\v';
        return true;
    default:
        break;
    }
    if (c < '0' || c > '7') {
        *to = c;
        return true;
    }
    int value = c - '0';
    int digits = c <= '3' ? 2 : 1;
    while (digits-- > 0 && *from < end && **from >= '0' && **from <= '7') {
        value = value * 8 + (*(*from)++ - '0');
    }
    *to = (char)(unsigned char)value;
    return value != 0;
}

/* Returns the end of the quoted text that begins at lexer->at (after the opening quote); NULL when
 * the closing quote is missing. */
static const char *closing_quote(struct ad_lexer *lexer, char quote, bool *escapes)
{
    for (const char *at = lexer->at; at < lexer->end; at++) {
        if (*at == quote) {
            return at;
        }
        if (*at == '\0') {
            return NULL;
        }
        if (*at != '\\') {
            continue;
        }
        if (lexer->syntax == AD_NEW) {
            *escapes = true;
            at++;
            if (at < lexer->end && *at == '\0') {
                return NULL;
            }
        } else if (at + 1 < lexer->end && at[1] == quote) {
            bool last = at + 2 == lexer->end || at[2] == '\n' || at[2] == '\r';
            if (!last) {
                *escapes = true;
                at++;
            }
        }
    }
    return NULL;
}

/* Decodes the escapes of the raw text into `to`, in new or old syntax.  Returns the length;
 * SIZE_MAX when a byte would be zero. */
static size_t unescape_string(struct ad_lexer *lexer, const char *from, const char *end, char quote,
                              char *to)
{
    const char *const first = to;
    while (from < end) {
        if (*from != '\\') {
            *to++ = *from++;
        } else if (lexer->syntax == AD_NEW) {
            from++;
            if (!new_escape(end, &from, to++)) {
                return SIZE_MAX;
            }
        } else {
            from += from + 1 < end && from[1] == quote;
            *to++ = *from++;
        }
    }
    return (size_t)(to - first);
}

/* In new syntax, quoted texts that only blanks separate are joined before their escapes are
 * decoded.  Appends the texts that follow to raw.  Returns the result; NULL: a quote is missing, or
 * no memory. */
static const char *join_quoted(struct ad_lexer *lexer, char quote, const char *raw, size_t *length,
                               bool *escapes)
{
    size_t capacity = 0;
    char *joined = NULL;
    for (;;) {
        const char *next = lexer->at;
        while (next < lexer->end && text_is_space(*next)) {
            next++;
        }
        if (lexer->syntax == AD_OLD || next == lexer->end || *next != quote) {
            return joined != NULL ? joined : raw;
        }
        lexer->at = next + 1;
        const char *end = closing_quote(lexer, quote, escapes);
        size_t more = end != NULL ? (size_t)(end - lexer->at) : 0;
        if (end == NULL) {
            refuse_token(lexer, "the closing quote is missing");
            return NULL;
        }
        if (*length + more > AD_STRING_MAX) {
            string_too_long(lexer);
            return NULL;
        }
        if (*length + more >= capacity) {
            capacity = 2 * (*length + more) + 64;
            char *grown = arena_alloc(lexer->arena, capacity);
            if (grown == NULL) {
                bad_limit(lexer, "out of memory");
                return NULL;
            }
            memcpy(grown, joined != NULL ? joined : raw, *length);
            joined = grown;
        }
        memcpy(joined + *length, lexer->at, more);
        *length += more;
        lexer->at = end + 1;
    }
}

static void lex_quoted(struct ad_lexer *lexer, char quote)
{
    lexer->at++;
    bool escapes = false;
    const char *end = closing_quote(lexer, quote, &escapes);
    if (end == NULL) {
        refuse_token(lexer, "the closing quote is missing");
        return;
    }
    size_t length = (size_t)(end - lexer->at);
    if (length > AD_STRING_MAX) {
        string_too_long(lexer);
        return;
    }
    const char *raw = lexer->at;
    lexer->at = end + 1;
    raw = join_quoted(lexer, quote, raw, &length, &escapes);
    if (raw == NULL) {
        return;
    }
    if (escapes) {
        char *copy = arena_alloc(lexer->arena, length + 1);
        if (copy == NULL) {
            bad_limit(lexer, "out of memory");
            return;
        }
        length = unescape_string(lexer, raw, raw + length, quote, copy);
        if (length == SIZE_MAX) {
            refuse_token(lexer, "a string cannot contain a zero byte");
            return;
        }
        raw = copy;
    }
    lexer->word = raw;
    lexer->word_length = length;
    lexer->quoted = quote == '\'';
    lexer->token = lexer->quoted ? AD_TOKEN_NAME : AD_TOKEN_STRING;
    if (lexer->quoted && length > AD_NAME_MAX) {
        bad_limit(lexer, "name is too long");
    }
}

/* ---- all else ---- */

static void lex_name(struct ad_lexer *lexer)
{
    const char *at = lexer->at;
    while (at < lexer->end && (is_letter(*at) || (*at >= '0' && *at <= '9'))) {
        at++;
    }
    lexer->token = AD_TOKEN_NAME;
    lexer->quoted = false;
    lexer->word = lexer->at;
    lexer->word_length = (size_t)(at - lexer->at);
    lexer->at = at;
    if (lexer->word_length > AD_NAME_MAX) {
        bad_limit(lexer, "name is too long");
        return;
    }
    if (lexer->word_length == 2 && ad_name_equal(lexer->word, "is", 2)) {
        lexer->token = AD_TOKEN_OPERATOR;
        lexer->op = AD_OP_IS;
    } else if (lexer->word_length == 4 && ad_name_equal(lexer->word, "isnt", 4)) {
        lexer->token = AD_TOKEN_OPERATOR;
        lexer->op = AD_OP_ISNT;
    }
}

/* Among operators with the same beginning, the longest comes first. */
static const struct {
    char text[4];
    uint8_t op;
} OPERATORS[] = {
    {"=?=", AD_OP_IS}, {"=!=", AD_OP_ISNT}, {"==", AD_OP_EQ},     {"!=", AD_OP_NE},
    {"||", AD_OP_OR},  {"&&", AD_OP_AND},   {"<<", AD_OP_SHL},    {">>>", AD_OP_USHR},
    {">>", AD_OP_SHR}, {"<=", AD_OP_LE},    {">=", AD_OP_GE},     {"<", AD_OP_LT},
    {">", AD_OP_GT},   {"|", AD_OP_BIT_OR}, {"^", AD_OP_BIT_XOR}, {"&", AD_OP_BIT_AND},
    {"+", AD_OP_ADD},  {"-", AD_OP_SUB},    {"*", AD_OP_MUL},     {"/", AD_OP_DIV},
    {"%", AD_OP_MOD},  {"!", AD_OP_NOT},    {"~", AD_OP_BIT_NOT},
};

static void lex_mark(struct ad_lexer *lexer)
{
    size_t left = (size_t)(lexer->end - lexer->at);
    for (size_t i = 0; i < sizeof(OPERATORS) / sizeof(OPERATORS[0]); i++) {
        if (OPERATORS[i].text[0] != *lexer->at) {
            continue;
        }
        size_t length = strlen(OPERATORS[i].text);
        if (length <= left && memcmp(lexer->at, OPERATORS[i].text, length) == 0) {
            lexer->token = AD_TOKEN_OPERATOR;
            lexer->op = OPERATORS[i].op;
            lexer->at += length;
            return;
        }
    }
    char c = *lexer->at;
    if (c == '\0' || strchr("()[]{},;.=?:", c) == NULL) {
        refuse_token(lexer, "unexpected character");
        return;
    }
    lexer->token = AD_TOKEN_PUNCTUATION;
    lexer->mark = c;
    lexer->at++;
    if (c == '.' && left > 1 && *lexer->at == '.') {
        lexer->at++; /* two points are one, as in HTCondor */
    }
    if (c == '?' && left > 1 && *lexer->at == ':') {
        lexer->mark = 'E';
        lexer->at++;
    }
}

/* Returns whether a fraction begins here: `.5`, or `..5`, which HTCondor reads as 0.0. */
static bool at_fraction(const struct ad_lexer *lexer)
{
    const char *at = lexer->at;
    bool two = at + 1 < lexer->end && at[1] == '.';
    return *at == '.' && is_digit(lexer, at + 1 + two);
}

void ad_lex_next(struct ad_lexer *lexer)
{
    if (!skip_blanks(lexer)) {
        lexer->start = lexer->at;
        refuse_token(lexer, "the comment is not closed");
        return;
    }
    lexer->start = lexer->at;
    if (lexer->at == lexer->end) {
        lexer->token = AD_TOKEN_END;
        return;
    }
    char c = *lexer->at;
    if (is_letter(c)) {
        lex_name(lexer);
    } else if ((c >= '0' && c <= '9') || at_fraction(lexer)) {
        lex_number(lexer, false);
    } else if (c == '"' || c == '\'') {
        lex_quoted(lexer, c);
    } else {
        lex_mark(lexer);
    }
}
