/* base/shell_words.c - lines into words, and back: see shell_words.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/shell_words.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"

static const char REFUSED[] = "|&;<>()$`";
/* The named escapes of $'...': letters, and the bytes that they stand for. */
static const char ESCAPES[] = "ntr\\'\"eabfv";
static const char ESCAPED[] = "\n\t\r\\'\"\033\a\b\f\v";

struct reader {
    const char *text;
    size_t at, length;
    struct strbuf word;
    struct err *err;
};

static bool is_gap(char c)
{
    return text_is_blank(c) || c == '\n';
}

/* Refuses the text because of the character at `at`. */
static int refuse(const struct reader *reader, size_t at, const char *why)
{
    char c = reader->text[at];
    if ((unsigned char)c < 0x20 || c == 0x7f) {
        return err_set(reader->err, -EINVAL, "column %zu: the byte 0x%02x %s", at + 1,
                       (unsigned)(unsigned char)c, why);
    }
    return err_set(reader->err, -EINVAL, "column %zu: the character %c %s", at + 1, c, why);
}

static int is_open(const struct reader *reader, size_t opened, const char *quote)
{
    return err_set(reader->err, -EINVAL, "column %zu: the quote %s is not closed", opened + 1,
                   quote);
}

static int put_char(struct reader *reader, char c)
{
    if (c == '\0') {
        return refuse(reader, reader->at, "cannot be part of a word");
    }
    strbuf_putc(&reader->word, c);
    return 0;
}

/* Reads what follows '...; at is behind the quote. */
static int read_single(struct reader *reader)
{
    size_t opened = reader->at - 1;
    for (; reader->at < reader->length; reader->at++) {
        char c = reader->text[reader->at];
        int rc = c == '\'' ? 0 : put_char(reader, c);
        if (c == '\'' || rc != 0) {
            reader->at++;
            return rc;
        }
    }
    return is_open(reader, opened, "'");
}

static int read_double(struct reader *reader)
{
    size_t opened = reader->at - 1;
    for (; reader->at < reader->length; reader->at++) {
        char c = reader->text[reader->at];
        if (c == '"') {
            reader->at++;
            return 0;
        }
        if (c == '\\' && reader->at + 1 < reader->length &&
            memchr("\"\\`$", reader->text[reader->at + 1], 4) != NULL) {
            c = reader->text[++reader->at];
        }
        int rc = put_char(reader, c);
        if (rc != 0) {
            return rc;
        }
    }
    return is_open(reader, opened, "\"");
}

/* The value of a digit; 99: not a digit of any base. */
static unsigned digit_value(char c)
{
    char lower = text_lower(c);
    return text_is_digit(c)               ? (unsigned)(c - '0')
           : lower >= 'a' && lower <= 'f' ? (unsigned)(lower - 'a') + 10
                                          : 99;
}

/* Reads at most `most` digits of the base; at is on the first one and ends behind the last one. */
static unsigned read_number(struct reader *reader, unsigned base, size_t most, size_t *digits)
{
    unsigned value = 0;
    for (*digits = 0; *digits < most && reader->at < reader->length &&
                      digit_value(reader->text[reader->at]) < base;
         ++*digits) {
        value = value * base + digit_value(reader->text[reader->at++]);
    }
    return value;
}

/* Reads an escape of $'...'; at is on the backslash, and ends behind the escape. */
static int read_escape(struct reader *reader)
{
    size_t began = reader->at++, digits;
    char c = reader->at < reader->length ? reader->text[reader->at] : '\0';
    const char *named = c != '\0' ? strchr(ESCAPES, c) : NULL;
    if (named != NULL) {
        reader->at++;
        strbuf_putc(&reader->word, ESCAPED[named - ESCAPES]);
        return 0;
    }
    reader->at += c == 'x' ? 1 : 0;
    unsigned value =
        c == 'x' ? read_number(reader, 16, 2, &digits) : read_number(reader, 8, 3, &digits);
    if (digits == 0) {
        return refuse(reader, began, "begins an unknown escape in $'...'");
    }
    if (value == 0 || value > 255) {
        return refuse(reader, began, "begins an escape that stands for no byte from 1 to 255");
    }
    strbuf_putc(&reader->word, (char)(unsigned char)value);
    return 0;
}

static int read_dollar(struct reader *reader)
{
    size_t opened = reader->at - 2;
    while (reader->at < reader->length) {
        char c = reader->text[reader->at];
        if (c == '\'') {
            reader->at++;
            return 0;
        }
        int rc = c == '\\' ? read_escape(reader) : put_char(reader, c);
        if (rc != 0) {
            return rc;
        }
        reader->at += c == '\\' ? 0 : 1;
    }
    return is_open(reader, opened, "$'");
}

/* Reads one part of a word: a character or quoted text. */
static int read_part(struct reader *reader)
{
    char c = reader->text[reader->at];
    bool has_next = reader->at + 1 < reader->length;
    if (c == '\'' || c == '"') {
        reader->at++;
        return c == '"' ? read_double(reader) : read_single(reader);
    }
    if (c == '$' && has_next && reader->text[reader->at + 1] == '\'') {
        reader->at += 2;
        return read_dollar(reader);
    }
    if (c == '\\') {
        if (!has_next) {
            return refuse(reader, reader->at, "at the end has no character to keep");
        }
        c = reader->text[++reader->at];
    } else if (c != '\0' && strchr(REFUSED, c) != NULL) {
        return refuse(reader, reader->at, "is not quoted, and no shell reads this line");
    }
    int rc = put_char(reader, c);
    reader->at++;
    return rc;
}

static int take_word(struct reader *reader, struct vec *words)
{
    char *word = reader->word.failed ? NULL : mem_try_alloc(reader->word.length + 1);
    if (word == NULL) {
        return err_set(reader->err, -ENOMEM, "column %zu: no memory for this word", reader->at);
    }
    memcpy(word, strbuf_text(&reader->word), reader->word.length + 1);
    vec_push(words, word);
    return 0;
}

static int read_words(struct reader *reader, struct vec *words)
{
    size_t count = 0;
    for (;;) {
        while (reader->at < reader->length && is_gap(reader->text[reader->at])) {
            reader->at++;
        }
        if (reader->at < reader->length && reader->text[reader->at] == '#') {
            const char *end = memchr(reader->text + reader->at, '\n', reader->length - reader->at);
            reader->at = end != NULL ? (size_t)(end - reader->text) : reader->length;
            continue;
        }
        if (reader->at == reader->length) {
            return 0;
        }
        if (++count > SHELL_WORDS_COUNT_MAX) {
            return err_set(reader->err, -E2BIG, "column %zu: more than %d words", reader->at + 1,
                           SHELL_WORDS_COUNT_MAX);
        }
        int rc = 0;
        strbuf_clear(&reader->word);
        while (rc == 0 && reader->at < reader->length && !is_gap(reader->text[reader->at])) {
            rc = read_part(reader);
        }
        rc = rc == 0 ? take_word(reader, words) : rc;
        if (rc != 0) {
            return rc;
        }
    }
}

int shell_words_parse(const char *text, size_t length, struct vec *words, struct err *err)
{
    struct reader reader = {.text = text, .length = length, .err = err};
    size_t before = words->count;
    if (length > SHELL_WORDS_BYTES_MAX) {
        return err_set(err, -E2BIG, "a line of %zu bytes; at most %zu are read", length,
                       SHELL_WORDS_BYTES_MAX);
    }
    strbuf_init(&reader.word, SHELL_WORDS_BYTES_MAX);
    int rc = read_words(&reader, words);
    strbuf_fini(&reader.word);
    while (rc != 0 && words->count > before) {
        mem_free(words->items[--words->count]);
    }
    return rc;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool is_plain(const char *word)
{
    static const char PLAIN[] = "_@%+=:,./-";
    for (const char *at = word; *at != '\0'; at++) {
        char lower = text_lower(*at);
        if (!text_is_digit(*at) && !(lower >= 'a' && lower <= 'z') && strchr(PLAIN, *at) == NULL) {
            return false;
        }
    }
    return *word != '\0';
}

static void append_escaped(struct strbuf *out, const char *word)
{
    strbuf_puts(out, "$'");
    for (const char *at = word; *at != '\0'; at++) {
        const char *escape = strchr(ESCAPED, *at);
        if (escape != NULL && *at != '"') {
            strbuf_putc(out, '\\');
            strbuf_putc(out, ESCAPES[escape - ESCAPED]);
        } else if (is_control(*at)) {
            strbuf_printf(out, "\\x%02x", (unsigned)(unsigned char)*at);
        } else {
            strbuf_putc(out, *at);
        }
    }
    strbuf_putc(out, '\'');
}

static void append_quoted(struct strbuf *out, const char *word)
{
    strbuf_putc(out, '\'');
    for (const char *at = word; *at != '\0'; at++) {
        if (*at == '\'') {
            strbuf_puts(out, "'\\'");
        }
        strbuf_putc(out, *at);
    }
    strbuf_putc(out, '\'');
}

void shell_words_append(struct strbuf *out, const char *word)
{
    bool control = false;
    for (const char *at = word; *at != '\0'; at++) {
        control = control || is_control(*at);
    }
    if (out->length > 0) {
        strbuf_putc(out, ' ');
    }
    if (is_plain(word)) {
        strbuf_puts(out, word);
    } else if (control) {
        append_escaped(out, word);
    } else {
        append_quoted(out, word);
    }
}
