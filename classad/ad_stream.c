/* classad/ad_stream.c - see ad_stream.h.
 *
 * The end of an ad is found by counting brackets outside quotes and comments, one byte after
 * another: each byte is looked at once, in whatever pieces the text arrives.  The parser decides
 * whether the text up to there is an ad.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_stream.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_alike.h"
#include "classad/ad_pool.h"

enum scan_in { SCAN_PLAIN, SCAN_QUOTED, SCAN_LINE_COMMENT, SCAN_COMMENT };

struct ad_stream {
    enum ad_form form;
    const struct ad_context *context;
    struct ad_pool *pool;   /* NULL: the ads are in none */
    struct ad_alike *alike; /* for the long form with a pool; else NULL */
    struct strbuf text;
    size_t base; /* bytes that were removed before text; positions count from the very beginning */
    size_t done; /* end of the last ad */
    size_t at;   /* scanned up to here */
    struct ad_place from; /* line and column of the byte at base */
    bool ended;
    bool stopped;
    /* the current ad */
    bool inside;
    size_t start;
    unsigned depth;
    enum scan_in in;
    char quote;
    bool escaped;
    unsigned lists; /* lists around it */
    size_t line;    /* in the long form: where the current line begins */
};

enum ad_form ad_form_guess(const char *text, size_t length)
{
    size_t at = 0;
    while (at < length && text_is_space(text[at])) {
        at++;
    }
    char first = at < length ? text[at++] : '\0';
    while (at < length && text_is_space(text[at])) {
        at++;
    }
    char second = at < length ? text[at] : '\0';
    switch (first) {
    case '[':
        return second == '{' ? AD_FORM_JSON : AD_FORM_NEW;
    case '{':
        return second == '[' ? AD_FORM_NEW : AD_FORM_JSON;
    default:
        return AD_FORM_LONG;
    }
}

struct ad_stream *ad_stream_create(enum ad_form form, const struct ad_context *context,
                                   struct ad_pool *pool)
{
    struct ad_stream *stream = mem_zalloc(sizeof(*stream));
    stream->form = form;
    stream->context = context;
    stream->pool = pool;
    stream->alike = pool != NULL && form == AD_FORM_LONG ? ad_alike_create(pool) : NULL;
    stream->from = (struct ad_place){1, 1};
    strbuf_init(&stream->text, SIZE_MAX / 4); /* the ads in it have the limit */
    return stream;
}

void ad_stream_destroy(struct ad_stream *stream)
{
    if (stream != NULL) {
        ad_alike_destroy(stream->alike);
        strbuf_fini(&stream->text);
        mem_free(stream);
    }
}

struct ad_place ad_place_of(const char *text, size_t offset, struct ad_place from)
{
    const char *end = text + offset;
    for (const char *next; offset > 0 && (next = memchr(text, '\n', (size_t)(end - text))) != NULL;
         text = next + 1) {
        from.line++;
        from.column = 1;
    }
    from.column += (unsigned long)(end - text);
    return from;
}

static void pass_over(struct ad_stream *stream, size_t to)
{
    if (to > stream->base) {
        stream->from =
            ad_place_of(stream->text.data + stream->base, to - stream->base, stream->from);
        stream->base = to;
    }
    stream->start = stream->done = stream->base;
}

void ad_stream_feed(struct ad_stream *stream, const char *bytes, size_t length)
{
    if (stream->stopped) {
        return;
    }
    size_t base = stream->base;
    if (!stream->inside) {
        pass_over(stream, stream->done);
        base = stream->base;
    }
    if (base > 0) {
        memmove(stream->text.data, stream->text.data + base, stream->text.length - base);
        stream->text.length -= base;
        stream->at -= base;
        stream->start -= base;
        stream->line -= base < stream->line ? base : stream->line;
        stream->done -= base;
        stream->base = 0;
    }
    strbuf_append(&stream->text, bytes, length);
}

void ad_stream_end(struct ad_stream *stream)
{
    stream->ended = true;
}

const char *ad_stream_text(const struct ad_stream *stream, size_t *length, struct ad_place *place)
{
    *length = stream->done - stream->start;
    *place =
        ad_place_of(stream->text.data + stream->base, stream->start - stream->base, stream->from);
    return stream->text.data + stream->start;
}

/* ---- where an ad ends ---- */

/* Handles the end of a line of the long form, or of the text, at `at`.  True: an ad is complete. */
static bool long_line(struct ad_stream *stream, size_t at)
{
    const char *text = stream->text.data;
    size_t from = stream->line;
    while (from < at && text_is_space(text[from])) {
        from++;
    }
    bool blank = from == at;
    if (!blank && text[from] != '#' && !stream->inside) {
        stream->inside = true;
        stream->start = stream->line; /* comments before it are none of it */
    }
    stream->line = at + 1;
    return blank && stream->inside;
}

static bool scan_long(struct ad_stream *stream)
{
    const char *text = stream->text.data;
    while (stream->at < stream->text.length) {
        const char *next = memchr(text + stream->at, '\n', stream->text.length - stream->at);
        stream->at = next != NULL ? (size_t)(next - text) + 1 : stream->text.length;
        if (next != NULL && long_line(stream, stream->at - 1)) {
            return true;
        }
    }
    if (stream->ended && stream->line < stream->at) {
        (void)long_line(stream, stream->at); /* the last line need not be ended */
    }
    return stream->ended && stream->inside;
}

/* Handles one byte outside quotes and comments.  True: it closes the ad. */
static bool plain_byte(struct ad_stream *stream, char c, char next)
{
    bool json = stream->form == AD_FORM_JSON;
    switch (c) {
    case '\'':
        if (json) {
            return false;
        }
        /* fall through */
    case '"':
        stream->in = SCAN_QUOTED;
        stream->quote = c;
        stream->escaped = false;
        return false;
    case '/':
        if (!json && (next == '/' || next == '*')) {
            stream->in = next == '/' ? SCAN_LINE_COMMENT : SCAN_COMMENT;
            stream->at++; /* past the second byte: the comment may not be closed by it */
        }
        return false;
    case '[':
    case '{':
        stream->depth++;
        return false;
    case ']':
    case '}':
        return --stream->depth == 0;
    default:
        return false;
    }
}

static void quoted_byte(struct ad_stream *stream, char c)
{
    if (stream->escaped) {
        stream->escaped = false;
    } else if (c == '\\') {
        stream->escaped = true;
    } else if (c == stream->quote) {
        stream->in = SCAN_PLAIN;
    }
}

static void comment_byte(struct ad_stream *stream, char c, char next)
{
    if (stream->in == SCAN_LINE_COMMENT && c == '\n') {
        stream->in = SCAN_PLAIN;
    } else if (stream->in == SCAN_COMMENT && c == '*' && next == '/') {
        stream->in = SCAN_PLAIN;
        stream->at++;
    }
}

/* Handles a byte between ads.  Returns 1 when an ad begins here, 0 for a byte to skip, -1 for a
 * byte that cannot be there. */
static int outer_byte(struct ad_stream *stream, char c, char next)
{
    bool json = stream->form == AD_FORM_JSON;
    if (c == (json ? '{' : '[')) {
        return 1;
    }
    if (c == (json ? '[' : '{')) {
        stream->lists++;
        return 0;
    }
    if (c == (json ? ']' : '}') && stream->lists > 0) {
        stream->lists--;
        return 0;
    }
    if (text_is_space(c) || c == ',' || (!json && c == ';')) {
        return 0;
    }
    return !json && c == '/' && (next == '/' || next == '*') ? 0 : -1;
}

static int scan_brackets(struct ad_stream *stream, struct err *err)
{
    const char *text = stream->text.data;
    for (; stream->at < stream->text.length; stream->at++) {
        char c = text[stream->at];
        bool last = stream->at + 1 == stream->text.length;
        if (last && !stream->ended && (c == '/' || c == '*')) {
            return 0; /* the next byte may belong to it */
        }
        char next = last ? '\0' : text[stream->at + 1];
        if (stream->in == SCAN_QUOTED) {
            quoted_byte(stream, c);
        } else if (stream->in != SCAN_PLAIN) {
            comment_byte(stream, c, next);
        } else if (stream->inside || c == '/') {
            if (!stream->inside && outer_byte(stream, c, next) < 0) {
                goto no_ad;
            }
            if (plain_byte(stream, c, next)) {
                stream->at++;
                return 1;
            }
        } else {
            int what = outer_byte(stream, c, next);
            if (what < 0) {
                goto no_ad;
            }
            if (what > 0) {
                stream->inside = true;
                stream->start = stream->at;
                stream->depth = 1;
            }
        }
        if (stream->at - stream->start > AD_TEXT_MAX && stream->inside) {
            return 1; /* its parser says that it is too long */
        }
    }
    if (stream->ended && !stream->inside && stream->lists > 0) {
        stream->start = stream->at;
        return err_set(err, -EINVAL, "the list of ads is not closed");
    }
    return stream->ended && stream->inside; /* its parser says what is missing */
no_ad:
    stream->start = stream->at;
    return err_set(err, -EINVAL, "'%c' expected at the beginning of an ad",
                   stream->form == AD_FORM_JSON ? '{' : '[');
}

/* ---- ads ---- */

const char *ad_place_reason(const char *text)
{
    static const char *const PREFIXES[] = {"line ", "at byte ", "before byte "};
    for (size_t i = 0; i < sizeof PREFIXES / sizeof PREFIXES[0]; i++) {
        size_t length = strlen(PREFIXES[i]);
        size_t digits =
            strncmp(text, PREFIXES[i], length) == 0 ? strspn(text + length, "0123456789") : 0;
        if (digits > 0 && strncmp(text + length + digits, ": ", 2) == 0) {
            text += length + digits + 2;
        }
    }
    return text;
}

static int parse_ad(struct ad_stream *stream, struct ad **ret, size_t *fault, struct err *err)
{
    const char *text = stream->text.data + stream->start;
    size_t length = stream->done - stream->start;
    int rc = stream->alike != NULL
                 ? ad_alike_parse(stream->alike, text, length, stream->context, ret, fault, err)
             : stream->form == AD_FORM_JSON
                 ? ad_parse_json(text, length, stream->context, ret, fault, err)
             : stream->form == AD_FORM_NEW
                 ? ad_parse_in(text, length, stream->context, ret, fault, err)
                 : ad_parse_long_in(text, length, stream->context, ret, fault, err);
    if (rc == 0 && stream->pool != NULL && stream->alike == NULL) {
        ad_pack(stream->pool, NULL, *ret);
    }
    return rc;
}

static void place_fault(const struct ad_stream *stream, size_t at, struct ad_place *place,
                        struct err *err)
{
    if (place != NULL && err != NULL) {
        const char *reason = ad_place_reason(err->text);
        memmove(err->text, reason, strlen(reason) + 1);
    }
    if (place != NULL) {
        *place = ad_place_of(stream->text.data + stream->base, at - stream->base, stream->from);
    }
}

int ad_stream_next(struct ad_stream *stream, struct ad **ret, struct ad_place *place,
                   struct err *err)
{
    if (stream->stopped) {
        return 0;
    }
    if (!stream->inside) {
        pass_over(stream, stream->done);
    }
    int rc = stream->form == AD_FORM_LONG ? scan_long(stream) : scan_brackets(stream, err);
    if (rc < 0) {
        stream->done = stream->start = stream->at;
        place_fault(stream, stream->at, place, err);
        stream->stopped = true;
        return rc;
    }
    if (stream->form == AD_FORM_LONG && !stream->inside &&
        stream->at > stream->line + AD_TEXT_MAX) { /* a line without end: its parser says so */
        stream->inside = true;
        stream->start = stream->line;
    }
    bool closed = rc > 0 && stream->depth == 0;
    if (rc == 0 && (!stream->inside || stream->at - stream->start <= AD_TEXT_MAX)) {
        if (!stream->inside) { /* nothing of it is needed again */
            stream->done = stream->form == AD_FORM_LONG ? stream->line : stream->at;
            stream->done = stream->done < stream->at ? stream->done : stream->at;
        }
        return 0;
    }
    stream->done = stream->at;
    stream->inside = false;
    stream->depth = 0;
    stream->in = SCAN_PLAIN;
    size_t fault = 0;
    rc = parse_ad(stream, ret, &fault, err);
    if (rc < 0) {
        place_fault(stream, stream->start + fault, place, err);
        stream->stopped = !closed; /* where the next one begins nobody knows */
    }
    return rc < 0 ? rc : 1;
}
