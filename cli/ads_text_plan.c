/* cli/ads_text_plan.c - see ads_text_plan.h.
 *
 * A text of new syntax is cut where the brackets of an ad close, strings and quoted names passed
 * over; what is between is the parser's business.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/ads_text_plan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"
#include "classad/ad.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static size_t skip_blank(const char *text, size_t length, size_t at)
{
    while (at < length && is_blank(text[at])) {
        at++;
    }
    return at;
}

typedef int (*parse_f)(const char *text, size_t length, struct ad **ret, struct err *err);

static int add(parse_f parse, const char *text, size_t length, struct vec *ads, struct err *err)
{
    struct ad *ad;
    int rc = parse(text, length, &ad, err);
    if (rc != 0) {
        return err_prefix(err, rc, "ad %zu", ads->count + 1);
    }
    vec_push(ads, ad);
    return 0;
}

/* ---- new syntax */

/* Behind the closing quote; length when there is none. */
static size_t skip_quoted(const char *text, size_t length, size_t at)
{
    char quote = text[at++];
    while (at < length && text[at] != quote) {
        at += text[at] == '\\' ? 2 : 1;
    }
    return at < length ? at + 1 : length;
}

/* Behind a comment that begins there; at itself when none does. */
static size_t skip_comment(const char *text, size_t length, size_t at)
{
    if (at + 1 >= length || text[at] != '/' || (text[at + 1] != '/' && text[at + 1] != '*')) {
        return at;
    }
    bool line = text[at + 1] == '/';
    for (at += 2; at < length; at++) {
        if (line ? text[at] == '\n' : text[at] == '/' && text[at - 1] == '*') {
            return at + 1;
        }
    }
    return length;
}

/* Behind the bracket that closes the one at `at`; length when none does. */
static size_t skip_ad(const char *text, size_t length, size_t at)
{
    size_t depth = 0;
    while (at < length) {
        size_t behind = skip_comment(text, length, at);
        if (behind > at) {
            at = behind;
            continue;
        }
        char c = text[at];
        if (c == '"' || c == '\'') {
            at = skip_quoted(text, length, at);
            continue;
        }
        at++;
        depth += c == '[' ? 1 : 0;
        depth -= c == ']' ? 1 : 0;
        if (depth == 0) {
            return at;
        }
    }
    return length;
}

static int read_new(const char *text, size_t length, size_t at, bool list, struct vec *ads,
                    struct err *err)
{
    int rc = 0;
    while (rc == 0 && (at = skip_blank(text, length, at)) < length) {
        size_t behind = skip_comment(text, length, at);
        if (behind > at) {
            at = behind;
            continue;
        }
        if (list && text[at] == '}' && skip_blank(text, length, at + 1) == length) {
            return 0;
        }
        if (text[at] == ',' && ads->count > 0) {
            at++;
        } else if (text[at] == '[') {
            size_t end = skip_ad(text, length, at);
            rc = add(ad_parse, text + at, end - at, ads, err);
            at = end;
        } else {
            return err_set(err, -EINVAL, "ad %zu: '[' is expected at byte %zu", ads->count + 1, at);
        }
    }
    return rc != 0 || !list ? rc : err_set(err, -EINVAL, "the list of ads has no end");
}

/* ---- long form */

/* The length of the line at `at` with its end. */
static size_t line_length(const char *text, size_t length, size_t at)
{
    const char *end = memchr(text + at, '\n', length - at);
    return end != NULL ? (size_t)(end - text) + 1 - at : length - at;
}

static int read_long(const char *text, size_t length, struct vec *ads, struct err *err)
{
    int rc = 0;
    size_t begin = 0;
    bool any = false;
    for (size_t at = 0; at < length && rc == 0;) {
        size_t line = line_length(text, length, at);
        size_t first = skip_blank(text, at + line, at);
        bool empty = first == at + line;
        if (empty && any) {
            rc = add(ad_parse_long, text + begin, at - begin, ads, err);
        }
        at += line;
        if (empty) {
            begin = at;
        }
        any = !empty && (any || text[first] != '#');
    }
    if (rc == 0 && any) {
        rc = add(ad_parse_long, text + begin, length - begin, ads, err);
    }
    return rc;
}

int ads_text_read(const char *text, size_t length, struct vec *ads, struct err *err)
{
    size_t at = skip_blank(text, length, 0);
    if (at < length && text[at] == '[') {
        return read_new(text, length, at, false, ads, err);
    }
    if (at < length && text[at] == '{') {
        return read_new(text, length, at + 1, true, ads, err);
    }
    return read_long(text, length, ads, err);
}
