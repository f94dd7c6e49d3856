/* classad/ad_json_read.c - reads JSON ads.
 *
 * Each member of the object is translated to new syntax and parsed as such.  So all limits of a
 * text hold here, too, and there is only one parser for expressions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "classad/ad_json.h"
#include "classad/ad_private.h"

struct json_reader {
    const char *text;
    const char *at;
    const char *end;
    const struct ad_context *context;
    unsigned depth;
    struct strbuf out;  /* the translated value */
    struct strbuf word; /* the decoded bytes of a string */
    const char *fault;
    struct err *err;
};

static int refuse_text(struct json_reader *reader, const char *at, const char *expected)
{
    reader->fault = at;
    return err_set(reader->err, -EINVAL, "at byte %zu: %s", (size_t)(at - reader->text), expected);
}

static int too_big(struct json_reader *reader, const char *what)
{
    reader->fault = reader->at;
    return err_set(reader->err, -E2BIG, "at byte %zu: %s", (size_t)(reader->at - reader->text),
                   what);
}

static void skip_blanks(struct json_reader *reader)
{
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t' ||
                                        *reader->at == '\n' || *reader->at == '\r')) {
        reader->at++;
    }
}

static bool next_is(struct json_reader *reader, char c)
{
    skip_blanks(reader);
    if (reader->at == reader->end || *reader->at != c) {
        return false;
    }
    reader->at++;
    return true;
}

/* ---- strings ---- */

static void put_character(unsigned value, struct strbuf *out)
{
    if (value < 0x80) {
        strbuf_putc(out, (char)value);
        return;
    }
    if (value < 0x800) {
        strbuf_putc(out, (char)(0xc0 | value >> 6));
    } else {
        if (value < 0x10000) {
            strbuf_putc(out, (char)(0xe0 | value >> 12));
        } else {
            strbuf_putc(out, (char)(0xf0 | value >> 18));
            strbuf_putc(out, (char)(0x80 | (value >> 12 & 0x3f)));
        }
        strbuf_putc(out, (char)(0x80 | (value >> 6 & 0x3f)));
    }
    strbuf_putc(out, (char)(0x80 | (value & 0x3f)));
}

/* Reads the four digits of \uXXXX; false when they are not hexadecimal. */
static bool read_hex4(const char *at, const char *end, unsigned *ret)
{
    unsigned value = 0;
    if (end - at < 4) {
        return false;
    }
    for (int i = 0; i < 4; i++) {
        char c = ad_lower(at[i]);
        bool digit = c >= '0' && c <= '9';
        if (!digit && (c < 'a' || c > 'f')) {
            return false;
        }
        value = value * 16 + (unsigned)(digit ? c - '0' : c - 'a' + 10);
    }
    *ret = value;
    return true;
}

/* Decodes \uXXXX; *at is behind the u.  Two surrogates are one character. */
static bool read_unicode(const char **at, const char *end, struct strbuf *out)
{
    unsigned value;
    unsigned low;
    if (!read_hex4(*at, end, &value) || value == 0) {
        return false; /* a string of ClassAds has no zero byte */
    }
    *at += 4;
    if (value >= 0xd800 && value < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' &&
        (*at)[1] == 'u' && read_hex4(*at + 2, end, &low) && low >= 0xdc00 && low < 0xe000) {
        *at += 6;
        value = 0x10000 + ((value - 0xd800) << 10) + (low - 0xdc00);
    }
    put_character(value >= 0xd800 && value < 0xe000 ? 0xfffd : value, out);
    return true;
}

/* Reads the string at a quote into reader->word.  *is_expr: the string stands for an expression,
 * whose text word then is. */
static int read_string(struct json_reader *reader, bool *is_expr)
{
    static const char FROM[] = "\"\\/bfnrt";
    static const char TO[] = "\"\\/\b\f\n\r\t";
    const char *start = reader->at++;
    const char *raw = reader->at;
    struct strbuf *word = &reader->word;
    strbuf_clear(word);
    while (reader->at < reader->end && *reader->at != '"') {
        const char *at = reader->at;
        if (*at == '\0') {
            return refuse_text(reader, at, "a zero byte is not allowed");
        }
        if (*at != '\\') {
            const char *plain = at;
            while (plain < reader->end && *plain != '"' && *plain != '\\' && *plain != '\0') {
                plain++;
            }
            strbuf_append(word, at, (size_t)(plain - at));
            reader->at = plain;
            continue;
        }
        at++;
        const char *known = at < reader->end && *at != '\0' ? strchr(FROM, *at) : NULL;
        if (known != NULL) {
            strbuf_putc(word, TO[known - FROM]);
            at++;
        } else if (at == reader->end || *at != 'u') {
            return refuse_text(reader, reader->at, "unknown escape sequence");
        } else {
            at++;
            if (!read_unicode(&at, reader->end, word)) {
                return refuse_text(reader, reader->at,
                                   "four hexadecimal digits expected, not all of them 0");
            }
        }
        reader->at = at;
    }
    if (reader->at == reader->end) {
        return refuse_text(reader, start, "the closing quote is missing");
    }
    size_t length = (size_t)(reader->at - raw);
    reader->at++;
    if (word->failed) {
        return too_big(reader, "string is too long");
    }
    const char *text = strbuf_text(word);
    *is_expr = length >= 4 && memcmp(raw, "\\/", 2) == 0 &&
               memcmp(raw + length - 2, "\\/", 2) == 0 && word->length >= 8 &&
               ad_name_equal(text, "/expr(", 6) && strcmp(text + word->length - 2, ")/") == 0;
    if (*is_expr) {
        memmove(word->data, word->data + 6, word->length - 8);
        word->length -= 8;
        word->data[word->length] = '\0';
    }
    return 0;
}

/* Appends reader->word as a quoted text of new syntax. */
static void put_quoted(struct json_reader *reader, char quote)
{
    const char *text = strbuf_text(&reader->word);
    strbuf_putc(&reader->out, quote);
    for (size_t i = 0; i < reader->word.length; i++) {
        if (text[i] == quote || text[i] == '\\') {
            strbuf_putc(&reader->out, '\\');
        }
        strbuf_putc(&reader->out, text[i]);
    }
    strbuf_putc(&reader->out, quote);
}

/* ---- values ---- */

static int read_value(struct json_reader *reader);

static size_t count_digits(const struct json_reader *reader, const char *at)
{
    size_t count = 0;
    while (at + count < reader->end && at[count] >= '0' && at[count] <= '9') {
        count++;
    }
    return count;
}

/* Copies a number: the syntax of JSON is valid in ClassAds. */
static int read_number(struct json_reader *reader)
{
    const char *start = reader->at;
    const char *at = start + (*start == '-');
    size_t digits = count_digits(reader, at);
    bool good = digits == 1 || (digits > 1 && *at != '0');
    at += digits;
    if (good && at < reader->end && *at == '.') {
        digits = count_digits(reader, ++at);
        good = digits > 0;
        at += digits;
    }
    if (good && at < reader->end && ad_lower(*at) == 'e') {
        at++;
        at += at < reader->end && (*at == '+' || *at == '-');
        digits = count_digits(reader, at);
        good = digits > 0;
        at += digits;
    }
    if (!good) {
        return refuse_text(reader, start, "not a value");
    }
    strbuf_append(&reader->out, start, (size_t)(at - start));
    reader->at = at;
    return 0;
}

static bool read_word(struct json_reader *reader)
{
    static const char *const WORDS[][2] = {{"true", "true"},
                                           {"false", "false"},
                                           {"null", "undefined"}};
    for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++) {
        size_t length = strlen(WORDS[i][0]);
        if ((size_t)(reader->end - reader->at) >= length &&
            memcmp(reader->at, WORDS[i][0], length) == 0) {
            strbuf_puts(&reader->out, WORDS[i][1]);
            reader->at += length;
            return true;
        }
    }
    return false;
}

static int read_text(struct json_reader *reader)
{
    const char *start = reader->at;
    bool is_expr = false;
    int rc = read_string(reader, &is_expr);
    if (rc != 0) {
        return rc;
    }
    if (!is_expr) {
        put_quoted(reader, '"');
        return 0;
    }
    struct ad_expr *expr = NULL;
    rc = ad_expr_parse_in(strbuf_text(&reader->word), reader->word.length, AD_NEW, reader->context,
                          &expr, NULL, reader->err);
    if (rc != 0) {
        reader->fault = start;
        return err_prefix(reader->err, rc, "at byte %zu: in the expression",
                          (size_t)(start - reader->text));
    }
    ad_expr_destroy(expr);
    strbuf_append(&reader->out, strbuf_text(&reader->word), reader->word.length);
    strbuf_putc(&reader->out, '\n'); /* it may end in a comment */
    return 0;
}

static int read_array(struct json_reader *reader)
{
    strbuf_puts(&reader->out, "{ ");
    reader->at++;
    for (bool first = true; !next_is(reader, ']'); first = false) {
        if (!first) {
            if (!next_is(reader, ',')) {
                return refuse_text(reader, reader->at, "',' or ']' expected");
            }
            strbuf_putc(&reader->out, ',');
        }
        int rc = read_value(reader);
        if (rc != 0) {
            return rc;
        }
    }
    strbuf_puts(&reader->out, " }");
    return 0;
}

/* Reads a name and the colon after it into reader->word. */
static int read_name(struct json_reader *reader)
{
    bool is_expr;
    skip_blanks(reader);
    const char *start = reader->at;
    if (start == reader->end || *start != '"') {
        return refuse_text(reader, start, "attribute name in double quotes expected");
    }
    int rc = read_string(reader, &is_expr);
    if (rc != 0) {
        return rc;
    }
    if (reader->word.length == 0 || is_expr) {
        return refuse_text(reader, start, "not a valid attribute name");
    }
    if (reader->word.length > AD_NAME_MAX) {
        return too_big(reader, "name is too long");
    }
    return next_is(reader, ':') ? 0 : refuse_text(reader, reader->at, "':' expected");
}

/* Passes the comma before a member, or the closing brace.  Returns 1 when a member follows, 0 at
 * the end, -EINVAL. */
static int next_member(struct json_reader *reader, bool first)
{
    bool comma = false;
    while (next_is(reader, ',')) {
        comma = true;
    }
    if (next_is(reader, '}')) {
        return 0;
    }
    return first || comma ? 1 : refuse_text(reader, reader->at, "',' or '}' expected");
}

static int read_object(struct json_reader *reader)
{
    strbuf_puts(&reader->out, "[ ");
    reader->at++;
    for (bool first = true;; first = false) {
        int rc = next_member(reader, first);
        if (rc == 0) {
            break;
        }
        rc = rc > 0 ? read_name(reader) : rc;
        if (rc == 0) {
            put_quoted(reader, '\'');
            strbuf_puts(&reader->out, " = ");
            rc = read_value(reader);
        }
        if (rc != 0) {
            return rc;
        }
        strbuf_puts(&reader->out, "; ");
    }
    strbuf_puts(&reader->out, "]");
    return 0;
}

static int read_value(struct json_reader *reader)
{
    int rc;
    skip_blanks(reader);
    if (reader->at == reader->end) {
        return refuse_text(reader, reader->at, "a value is expected, but the text ends");
    }
    if (++reader->depth > AD_DEPTH_MAX) {
        return too_big(reader, "nested too deeply");
    }
    switch (*reader->at) {
    case '{':
        rc = read_object(reader);
        break;
    case '[':
        rc = read_array(reader);
        break;
    case '"':
        rc = read_text(reader);
        break;
    default:
        rc = read_word(reader) ? 0 : read_number(reader);
        break;
    }
    reader->depth--;
    return rc != 0 || !reader->out.failed ? rc : too_big(reader, "value is too large");
}

/* ---- the ad ---- */

static int read_attribute(struct json_reader *reader, struct ad *ad)
{
    char name[AD_NAME_MAX + 1];
    int rc = read_name(reader);
    if (rc != 0) {
        return rc;
    }
    size_t length = reader->word.length;
    memcpy(name, strbuf_text(&reader->word), length);
    skip_blanks(reader);
    const char *start = reader->at;
    strbuf_clear(&reader->out);
    rc = read_value(reader);
    if (rc != 0) {
        return rc;
    }
    struct ad_expr *expr = NULL;
    rc = ad_expr_parse_in(strbuf_text(&reader->out), reader->out.length, AD_NEW, reader->context,
                          &expr, NULL, reader->err);
    if (rc == 0) {
        rc = ad_put(ad, name, length, expr, true);
        if (rc != 0) {
            ad_expr_destroy(expr);
            (void)err_set(reader->err, rc, "too many attributes");
        }
    }
    if (rc != 0) {
        reader->fault = start;
        (void)err_prefix(reader->err, rc, "at byte %zu", (size_t)(start - reader->text));
    }
    return rc;
}

int ad_parse_json(const char *text, size_t length, const struct ad_context *context,
                  struct ad **ret, size_t *fault, struct err *err)
{
    struct json_reader reader = {.text = text,
                                 .at = text,
                                 .end = text + length,
                                 .context = context,
                                 .depth = 1,
                                 .fault = text,
                                 .err = err};
    struct ad *ad = ad_create();
    int rc;
    strbuf_init(&reader.out, AD_TEXT_MAX);
    strbuf_init(&reader.word, AD_STRING_MAX);
    if (length > AD_TEXT_MAX) {
        rc = err_set(err, -E2BIG, "text of %zu bytes is longer than %zu", length, AD_TEXT_MAX);
    } else if (!next_is(&reader, '{')) {
        rc = refuse_text(&reader, reader.at, "'{' expected");
    } else {
        bool first = true;
        while ((rc = next_member(&reader, first)) > 0) {
            first = false;
            rc = read_attribute(&reader, ad);
            if (rc != 0) {
                break;
            }
        }
        skip_blanks(&reader);
        if (rc == 0 && reader.at < reader.end) {
            rc = refuse_text(&reader, reader.at, "end of text expected");
        }
    }
    if (rc == 0) {
        *ret = ad;
    } else {
        ad_destroy(ad);
    }
    if (fault != NULL) {
        *fault = (size_t)(reader.fault - text);
    }
    strbuf_fini(&reader.out);
    strbuf_fini(&reader.word);
    return rc;
}
