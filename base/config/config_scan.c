/* base/config/config_scan.c - a strict reader of libconfuse's grammar that keeps only names and
 * places.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config_scan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config_skip.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/text.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_QUOTED, TOKEN_PUNCTUATION };

struct token {
    enum token_kind kind;
    const char *start; /* with the quotes */
    size_t length;
    unsigned line;    /* of its first byte */
    char punctuation; /* '+' for "+=" */
    size_t copied;    /* length of the copy before this token */
};

struct scanner {
    const char *path;
    const char *at;
    const char *end;
    unsigned line;
    struct token token; /* the current one */
    struct strbuf copy;
    unsigned sections; /* since the last cut */
    const struct config_scan_needs *needs;
    struct config_scan *result;
    struct err *err;
};

#define REFUSE(scanner, line, ...)                  \
    (err_set((scanner)->err, -EINVAL, __VA_ARGS__), \
     err_prefix((scanner)->err, -EINVAL, "%s:%u", (scanner)->path, (line)))

static bool is_one_of(char c, const char *set)
{
    return c != '\0' && strchr(set, c) != NULL;
}

/* Returns whether a character cannot be in an unquoted word. */
static bool ends_word(char c)
{
    return (unsigned char)c <= ' ' || is_one_of(c, "#\"'={}()+,*");
}

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

static bool is_hex(char c)
{
    char lower = text_lower(c);
    return text_is_digit(c) || (lower >= 'a' && lower <= 'f');
}

bool config_name_ok(const char *name, size_t length)
{
    if (length == 0 || length > CONFIG_NAME_MAX) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char c = text_lower(name[i]);
        bool letter = (c >= 'a' && c <= 'z') || c == '_';
        if (!letter && (i == 0 || !(text_is_digit(c) || c == '.'))) {
            return false;
        }
    }
    return true;
}

/* ---- tokens ---- */

/* Copies the token's text, without comments and carriage returns. */
static void copy_until(struct scanner *s, const char *end)
{
    for (; s->at < end; s->at++) {
        if (*s->at == '\n') {
            s->line++;
        }
        strbuf_putc(&s->copy, *s->at);
    }
}

static bool starts_with(const struct scanner *s, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(s->end - s->at) >= length && memcmp(s->at, text, length) == 0;
}

/* Skips blanks and comments; newlines stay, so that libconfuse counts the same lines. */
static int skip_space(struct scanner *s)
{
    for (;;) {
        if (starts_with(s, "/*")) {
            unsigned line = s->line;
            s->at += 2;
            while (s->at < s->end && !starts_with(s, "*/")) {
                if (*s->at == '\n') {
                    s->line++;
                    strbuf_putc(&s->copy, '\n');
                }
                s->at++;
            }
            if (s->at == s->end) {
                return REFUSE(s, line, "this comment is not closed");
            }
            s->at += 2;
            strbuf_putc(&s->copy, ' ');
        } else if (starts_with(s, "#") || starts_with(s, "//")) {
            while (s->at < s->end && *s->at != '\n') {
                s->at++;
            }
        } else if (s->at < s->end && is_one_of(*s->at, " \t\r\n")) {
            copy_until(s, s->at + 1);
        } else {
            return 0;
        }
    }
}

/* Refuses escapes that libconfuse refuses, or that would end the text. */
static int check_escape(struct scanner *s)
{
    const char *digit = s->at + 1;
    size_t count = 0;
    unsigned value = 0;
    if (digit < s->end && text_is_digit(*digit)) {
        bool octal = true;
        for (; digit + count < s->end && text_is_digit(digit[count]); count++) {
            octal = octal && is_octal(digit[count]);
            value = value * 8 + (unsigned)(digit[count] - '0');
            if (count >= 3) {
                octal = false;
                break;
            }
        }
        if (!octal || value > 0xff) {
            return REFUSE(s, s->line, "\\ and digits stand for a byte in octal: \\1 to \\377");
        }
    } else if (digit + 1 < s->end && *digit == 'x' && is_hex(digit[1])) {
        value =
            digit[1] == '0' && !(digit + 2 < s->end && is_hex(digit[2]) && digit[2] != '0') ? 0 : 1;
    } else {
        return 0;
    }
    return value == 0 ? REFUSE(s, s->line, "a value cannot contain a zero byte") : 0;
}

static int read_quoted(struct scanner *s)
{
    const char quote = *s->at;
    const unsigned line = s->line;
    copy_until(s, s->at + 1);
    while (s->at < s->end && *s->at != quote) {
        if (*s->at == '\n' || starts_with(s, "\r\n")) {
            return REFUSE(s, line,
                          "this string is not closed on its line (end the line with \\ to continue "
                          "on the next line)");
        }
        if (*s->at == '\\' && s->end - s->at >= 2) {
            int rc = quote == '"' ? check_escape(s) : 0;
            if (rc < 0) {
                return rc;
            }
            if (starts_with(s, "\\\r\n")) {
                strbuf_puts(&s->copy, "\\\n");
                s->at += 3;
                s->line++;
            } else {
                copy_until(s, s->at + 2);
            }
            continue;
        }
        if (quote == '"' && starts_with(s, "${")) {
            return REFUSE(
                s, s->line,
                "write $ENV(NAME) for an environment variable, or \\${ for the characters");
        }
        unsigned char c = (unsigned char)*s->at;
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return REFUSE(s, s->line,
                          "a control character (0x%02x); write an escape sequence instead", c);
        }
        copy_until(s, s->at + 1);
    }
    if (s->at == s->end) {
        return REFUSE(s, line, "this string is not closed");
    }
    copy_until(s, s->at + 1);
    return 0;
}

/* Reads the next token into s->token and copies it. */
static int next_token(struct scanner *s)
{
    int rc = skip_space(s);
    if (rc < 0) {
        return rc;
    }
    struct token *token = &s->token;
    *token = (struct token){.kind = TOKEN_END,
                            .start = s->at,
                            .line = s->line,
                            .copied = s->copy.length};
    if (s->at == s->end) {
        return 0;
    }
    char c = *s->at;
    if (c == '"' || c == '\'') {
        token->kind = TOKEN_QUOTED;
        rc = read_quoted(s);
        token->length = (size_t)(s->at - token->start);
        return rc;
    }
    if (starts_with(s, "+=") || is_one_of(c, "={}(),")) {
        token->kind = TOKEN_PUNCTUATION;
        token->punctuation = c;
        copy_until(s, s->at + (c == '+' ? 2 : 1));
        token->length = (size_t)(s->at - token->start);
        return 0;
    }
    const char *end = s->at;
    while (end < s->end && !ends_word(*end)) {
        end++;
    }
    if (end == s->at) {
        return (unsigned char)c < ' '
                   ? REFUSE(s, s->line, "a control character (0x%02x)", (unsigned char)c)
                   : REFUSE(s, s->line,
                            "'%c' is not expected here; a value that contains this character needs "
                            "quotes",
                            c);
    }
    if (end[-1] == '$' && end < s->end && (*end == '(' || *end == '{')) {
        return REFUSE(s, s->line, "a value with $( ) or ${ } needs quotes");
    }
    token->kind = TOKEN_WORD;
    /* In quotes, so that libconfuse's idea of a word does not matter. */
    strbuf_putc(&s->copy, '"');
    for (; s->at < end; s->at++) {
        if (*s->at == '\\') {
            strbuf_putc(&s->copy, '\\');
        }
        strbuf_putc(&s->copy, *s->at);
    }
    strbuf_putc(&s->copy, '"');
    token->length = (size_t)(s->at - token->start);
    return 0;
}

/* ---- grammar ---- */

static bool is_punctuation(const struct scanner *s, char c)
{
    return s->token.kind == TOKEN_PUNCTUATION && s->token.punctuation == c;
}

static bool is_string(const struct scanner *s)
{
    return s->token.kind == TOKEN_WORD || s->token.kind == TOKEN_QUOTED;
}

/* Sets err to what is expected and what was found. */
static int refuse_token(struct scanner *s, const char *expected)
{
    if (s->token.kind == TOKEN_END) {
        return REFUSE(s, s->token.line, "the file ends where %s is expected", expected);
    }
    return REFUSE(s, s->token.line, "expected %s, not '%.*s' (a value with blanks needs quotes)",
                  expected, (int)(s->token.length < 40 ? s->token.length : 40), s->token.start);
}

static void add_string(struct scanner *s, unsigned line, bool list_item)
{
    struct config_scan *result = s->result;
    if (result->string_count == result->string_capacity) {
        result->string_capacity = result->string_capacity == 0 ? 64 : result->string_capacity * 2;
        result->strings =
            mem_realloc(result->strings, result->string_capacity * sizeof(*result->strings));
    }
    result->strings[result->string_count++] = (struct config_scan_string){line, list_item};
}

static int read_value(struct scanner *s)
{
    if (is_string(s)) {
        add_string(s, s->token.line, false);
        return next_token(s);
    }
    if (!is_punctuation(s, '{')) {
        return refuse_token(s, "a value");
    }
    const unsigned line = s->token.line;
    const size_t brace = s->copy.length - 1;
    int rc = next_token(s);
    if (rc == 0 && is_punctuation(s, '}')) {
        /* libconfuse tells nobody of an empty list. */
        if (!s->copy.failed) {
            s->copy.data[brace] = ' ';
            s->copy.data[s->copy.length - 1] = '"';
            strbuf_putc(&s->copy, '"');
        }
        add_string(s, line, false);
        return next_token(s);
    }
    while (rc == 0 && !is_punctuation(s, '}')) {
        if (s->token.kind == TOKEN_END) {
            return REFUSE(s, line, "this list is not closed: '}' is missing");
        }
        if (!is_string(s)) {
            return refuse_token(s, "an item of the list or '}'");
        }
        add_string(s, s->token.line, true);
        rc = next_token(s);
        if (rc == 0 && is_punctuation(s, ',')) {
            rc = next_token(s);
        } else if (rc == 0 && s->token.kind != TOKEN_END && !is_punctuation(s, '}')) {
            return refuse_token(s, "',' or '}'");
        }
    }
    return rc < 0 ? rc : next_token(s);
}

/* ---- values as the seeds and HTCondor write them: the rest of the line, without quotes */

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\r')) {
        at++;
    }
    return at;
}

static const char *skip_word(const char *at, const char *end)
{
    while (at < end && !ends_word(*at)) {
        at++;
    }
    return at;
}

/* Returns whether another statement begins there: a name, and what follows names. */
static bool is_statement(const char *at, const char *end)
{
    const char *after = skip_word(at, end);
    if (!config_name_ok(at, (size_t)(after - at))) {
        return false;
    }
    after = skip_blanks(after, end);
    size_t left = (size_t)(end - after);
    if (left > 0 && *after == '=') {
        return left < 2 || after[1] != '='; /* a comparison is part of an expression */
    }
    return left > 0 &&
           (is_one_of(*after, "({\"'") || (*after == '+' && left > 1 && after[1] == '='));
}

/* Returns whether what follows `=` is the rest of the line: more than libconfuse's words can hold,
 * and not two statements. */
static bool is_plain_line(const char *at, const char *end)
{
    at = skip_blanks(at, end);
    const char *after = skip_word(at, end);
    if (after == at) {
        return at < end && is_one_of(*at, "(+*");
    }
    if (after < end && !is_one_of(*after, " \t\r\n")) {
        return !is_one_of(*after, "#}\"'") && !(*after == '{' && after[-1] == '$');
    }
    after = skip_blanks(after, end);
    size_t left = (size_t)(end - after);
    bool ends = left == 0 || is_one_of(*after, "\n#}") ||
                (left > 1 && *after == '/' && is_one_of(after[1], "/*"));
    return !ends && !is_statement(after, end);
}

/* Returns the end of a value that begins at `at`: the end of the line, or a comment. */
static const char *plain_end(const char *at, const char *end)
{
    bool quoted = false;
    const char *last = at; /* behind the last byte that is no blank */
    for (; at < end && *at != '\n'; at++) {
        bool blank = is_one_of(*at, " \t\r");
        if (!quoted && last < at &&
            (*at == '#' || (end - at > 1 && at[0] == '/' && at[1] == '/'))) {
            break;
        }
        if (*at == '\\' && end - at > 1) { /* the next line goes on with it */
            const char *next = at + 1 + (at[1] == '\r' && end - at > 2 ? 1 : 0);
            at = *next == '\n' || quoted ? next : at;
            last = at + 1;
            continue;
        }
        quoted = *at == '"' ? !quoted : quoted;
        last = blank ? last : at + 1;
    }
    return last;
}

/* Copies such a value in quotes. */
static int read_plain(struct scanner *s)
{
    const unsigned line = s->line;
    copy_until(s, skip_blanks(s->at, s->end));
    const char *end = plain_end(s->at, s->end);
    if (end == s->at) {
        return REFUSE(s, line, "the value is missing");
    }
    add_string(s, line, false);
    strbuf_putc(&s->copy, '"');
    while (s->at < end) {
        unsigned char c = (unsigned char)*s->at;
        if (starts_with(s, "\\\n") || starts_with(s, "\\\r\n")) {
            strbuf_puts(&s->copy, "\\\n");
            s->at += starts_with(s, "\\\n") ? 2 : 3;
            s->line++;
            continue;
        }
        if (starts_with(s, "${")) {
            return REFUSE(s, s->line, "write $ENV(NAME) for an environment variable");
        }
        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return REFUSE(s, s->line, "a control character (0x%02x)", c);
        }
        if (c == '"' || c == '\\') {
            strbuf_putc(&s->copy, '\\');
        }
        copy_until(s, s->at + 1);
    }
    strbuf_putc(&s->copy, '"');
    return next_token(s);
}

/* ---- statements */

/* Reads what follows a name, which is the current token. plain: a value may be the rest of its
 * line. */
static int read_assignment(struct scanner *s, bool plain)
{
    bool colon = plain && is_punctuation(s, ':');
    if (!colon && !is_punctuation(s, '=') && !is_punctuation(s, '+')) {
        return refuse_token(s, "'=' or '+='");
    }
    const char *value = skip_blanks(s->at, s->end);
    bool quoted = value < s->end && is_one_of(*value, "\"'{");
    if ((colon && !quoted) || (plain && !quoted && is_plain_line(s->at, s->end))) {
        return read_plain(s);
    }
    int rc = next_token(s);
    return rc < 0 ? rc : read_value(s);
}

/* Reads the ':' that ends a name, or follows it: START : $(CPU_Idle) */
static int read_colon(struct scanner *s)
{
    int rc = skip_space(s);
    if (rc == 0 && starts_with(s, ":")) {
        s->token = (struct token){.kind = TOKEN_PUNCTUATION,
                                  .start = s->at,
                                  .length = 1,
                                  .line = s->line,
                                  .punctuation = ':'};
        strbuf_putc(&s->copy, '=');
        s->at++;
        return 0;
    }
    return rc < 0 ? rc : next_token(s);
}

/* Checks the current token as a name and copies it, zero-terminated, into name. */
static int read_name(struct scanner *s, char name[CONFIG_NAME_MAX + 1])
{
    const char *colon = memchr(s->token.start, ':', s->token.length);
    if (s->token.kind == TOKEN_WORD && colon != NULL && colon > s->token.start &&
        !s->copy.failed) { /* the copy keeps the opening quote and the name */
        const size_t length = (size_t)(colon - s->token.start);
        s->copy.length = s->token.copied + 1 + length;
        strbuf_putc(&s->copy, '"');
        s->token.length = length;
        s->at = colon;
    }
    const struct token token = s->token;
    if (token.kind != TOKEN_WORD || !config_name_ok(token.start, token.length) ||
        (token.length >= 2 && memcmp(token.start, "__", 2) == 0)) {
        return refuse_token(s, "a name");
    }
    memcpy(name, token.start, token.length);
    name[token.length] = '\0';
    return read_colon(s);
}

/* Notes that the copy may be cut before the current token. */
static void add_cut(struct scanner *s)
{
    struct config_scan *result = s->result;
    if (result->cut_count == result->cut_capacity) {
        result->cut_capacity = result->cut_capacity == 0 ? 16 : result->cut_capacity * 2;
        result->cuts = mem_realloc(result->cuts, result->cut_capacity * sizeof(*result->cuts));
    }
    result->cuts[result->cut_count++] =
        (struct config_scan_cut){s->token.copied, result->string_count};
    s->sections = 0;
}

/* Steps over the section whose title is the current token, and over those of its kind that follow,
 * if they are not needed. name: the token of the kind.  Returns whether it did; s->at is then
 * behind the last of them, and the copy has none of them. */
static bool skip_sections(struct scanner *s, const char *kind, const struct token *name)
{
    struct config_skip skip = {.kind = name->start, .kind_length = name->length};
    if (s->needs == NULL ||
        (s->needs->kind(s->needs->arg, kind, &skip.needed_title) && skip.needed_title == NULL)) {
        return false;
    }
    skip.refers = s->needs->refers;
    skip.arg = s->needs->arg;
    unsigned lines = s->token.line;
    const char *after = config_skip_titled(&skip, s->token.start, s->end, &lines);
    if (after == NULL) {
        return false;
    }
    for (; after != NULL; after = config_skip_section(&skip, s->at, s->end, &lines)) {
        s->at = after;
    }
    s->line = lines;
    if (!s->copy.failed) {
        s->copy.length = name->copied;
    }
    return true;
}

static int read_section(struct scanner *s, const char *kind, const struct token *first)
{
    const struct token title = s->token;
    const unsigned kind_line = first->line;
    bool empty = title.kind == TOKEN_QUOTED && title.length == 2;
    if (empty || title.length > CONFIG_TITLE_MAX) {
        return REFUSE(s, title.line, "the name of a section has 1 to %d characters",
                      CONFIG_TITLE_MAX);
    }
    /* libconfuse takes a section called root for the whole file. */
    if (text_equal_nocase(kind, "root") || strmap_get(s->result->names, kind)) {
        return REFUSE(s, kind_line, "'%s' is not a kind of section", kind);
    }
    struct config_scan_kind *entry = strmap_get(s->result->kinds, kind);
    if (!entry) {
        entry = mem_zalloc(sizeof(*entry));
        entry->names = strmap_create(STRMAP_CASE_IGNORED);
        (void)strmap_set(s->result->kinds, kind, entry);
    }
    if (skip_sections(s, kind, first)) {
        return next_token(s);
    }
    int rc = next_token(s);
    if (rc < 0) {
        return rc;
    }
    if (!is_punctuation(s, '{')) {
        return refuse_token(s, "'{' after the name of the section");
    }
    strbuf_puts(&s->copy, " " CONFIG_SCAN_OPENED " = \"\" ");
    add_string(s, title.line, false);
    rc = next_token(s);
    while (rc == 0 && !is_punctuation(s, '}')) {
        if (s->token.kind == TOKEN_END) {
            return REFUSE(s, kind_line, "the section '%s' is not closed: '}' is missing", kind);
        }
        char name[CONFIG_NAME_MAX + 1];
        const unsigned line = s->token.line;
        rc = read_name(s, name);
        if (rc == 0 && (is_string(s) || is_punctuation(s, '{'))) {
            return REFUSE(s, line,
                          "expected '=' after '%s' (sections cannot be nested; is the '}' of the "
                          "section in line %u missing?)",
                          name, kind_line);
        }
        if (rc == 0) {
            (void)strmap_set(entry->names, name, entry);
            rc = read_assignment(s, false);
        }
    }
    rc = rc < 0 ? rc : next_token(s);
    if (rc == 0 && ++s->sections == CONFIG_CUT_SECTIONS) {
        add_cut(s);
    }
    return rc;
}

static int read_include(struct scanner *s)
{
    int rc = next_token(s);
    if (rc == 0 && !is_string(s)) {
        rc = refuse_token(s, "the file name to include");
    }
    if (rc == 0) {
        add_string(s, s->token.line, false);
        rc = next_token(s);
    }
    if (rc == 0 && !is_punctuation(s, ')')) {
        rc = refuse_token(s, "')'");
    }
    return rc < 0 ? rc : next_token(s);
}

static int read_file(struct scanner *s)
{
    int rc = next_token(s);
    while (rc == 0 && s->token.kind != TOKEN_END) {
        if (is_punctuation(s, '}')) {
            return REFUSE(s, s->token.line, "unexpected '}'");
        }
        char name[CONFIG_NAME_MAX + 1];
        struct token first = s->token;
        const unsigned line = first.line;
        rc = read_name(s, name);
        if (rc < 0) {
            return rc;
        }
        first.length = strlen(name);
        bool include = text_equal_nocase(name, "include");
        if (include && is_punctuation(s, '(')) {
            rc = read_include(s);
        } else if (include) {
            rc = refuse_token(s, "'(' after include");
        } else if (is_string(s)) {
            rc = read_section(s, name, &first);
        } else if (is_punctuation(s, '{')) {
            rc = REFUSE(s, line, "the section '%s' needs a name: %s \"name\" { ... }", name, name);
        } else if (strmap_get(s->result->kinds, name)) {
            rc = REFUSE(s, line, "'%s' is a kind of section and cannot be assigned a value", name);
        } else {
            (void)strmap_set(s->result->names, name, s->result);
            rc = read_assignment(s, true);
        }
    }
    add_cut(s);
    return rc;
}

int config_scan(const char *path, const char *text, size_t length,
                const struct config_scan_needs *needs, struct config_scan *ret, struct err *err)
{
    *ret = (struct config_scan){0};
    ret->names = strmap_create(STRMAP_CASE_IGNORED);
    ret->kinds = strmap_create(STRMAP_CASE_IGNORED);
    struct scanner scanner = {.path = path,
                              .at = text,
                              .end = text + length,
                              .line = 1,
                              .needs = needs,
                              .result = ret,
                              .err = err};
    strbuf_init(&scanner.copy, 0);
    int rc = read_file(&scanner);
    ret->text_length = scanner.copy.length;
    bool copied = !scanner.copy.failed;
    ret->text = strbuf_take(&scanner.copy);
    if (rc == 0 && !copied) {
        rc = err_set(err, -ENOMEM, "%s: not enough memory to read the file", path);
    }
    if (rc < 0) {
        config_scan_fini(ret);
    }
    return rc;
}

static void free_kind(void *value)
{
    struct config_scan_kind *kind = value;
    strmap_destroy(kind->names, NULL);
    mem_free(kind);
}

void config_scan_fini(struct config_scan *scan)
{
    strmap_destroy(scan->names, NULL);
    strmap_destroy(scan->kinds, free_kind);
    mem_free(scan->text);
    mem_free(scan->strings);
    mem_free(scan->cuts);
    *scan = (struct config_scan){0};
}
