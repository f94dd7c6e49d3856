/* cli/classad/classad_check_plan.c - see classad_check_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/classad/classad_check_plan.h"

#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "classad/ad.h"

struct region {
    size_t from;
    size_t to;
};

/* The line that contains the byte at `fault`, without its newline. */
static struct region line_around(const char *text, size_t length, size_t fault)
{
    struct region region = {fault < length ? fault : length, fault < length ? fault : length};
    while (region.from > 0 && text[region.from - 1] != '\n') {
        region.from--;
    }
    while (region.to < length && text[region.to] != '\n') {
        region.to++;
    }
    return region;
}

struct walk {
    unsigned depth;
    char quote; /* the quote inside which we are; '\0' outside quotes */
};

/* Follows quotes, comments and brackets across the next token; returns how many bytes it has. */
static size_t step_over(struct walk *walk, enum ad_form form, const char *text, size_t length,
                        size_t at)
{
    char c = text[at];
    if (walk->quote != '\0') {
        walk->quote = c == walk->quote ? '\0' : walk->quote;
        return c == '\\' ? 2 : 1;
    }
    if (c == '"' || (c == '\'' && form == AD_FORM_NEW)) {
        walk->quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
        walk->depth++;
    } else if ((c == ']' || c == '}' || c == ')') && walk->depth > 0) {
        walk->depth--;
    } else if (c == '/' && form == AD_FORM_NEW && at + 1 < length && text[at + 1] == '*') {
        const char *end = memmem(text + at + 2, length - at - 2, "*/", 2);
        return end != NULL ? (size_t)(end - text) + 2 - at : length - at;
    } else if (c == '/' && form == AD_FORM_NEW && at + 1 < length && text[at + 1] == '/') {
        const char *end = memchr(text + at, '\n', length - at);
        return end != NULL ? (size_t)(end - text) - at : length - at;
    }
    return 1;
}

/* The attribute that contains the byte at `fault`, with the separator after it; from == to when the
 * attribute cannot be found. */
static struct region attribute_around(enum ad_form form, const char *text, size_t length,
                                      size_t fault)
{
    char separator = form == AD_FORM_JSON ? ',' : ';';
    struct walk walk = {0};
    struct region region = {0, 0};
    for (size_t at = 0; at < length;) {
        bool plain = walk.quote == '\0';
        bool separates = plain && walk.depth == 1 && text[at] == separator;
        size_t taken = step_over(&walk, form, text, length, at);
        bool opens = plain && walk.depth == 1 && region.from == 0;
        bool closes = plain && walk.depth == 0 && region.from > 0;
        if (at >= fault && (separates || closes)) {
            region.to = at + separates;
            return region;
        }
        at += taken;
        if (separates || opens) {
            region.from = at;
        }
    }
    region.to = region.from;
    return region;
}

static int parse_ad(enum ad_form form, const char *text, size_t length,
                    const struct ad_context *context, size_t *fault, struct err *err)
{
    struct ad *ad = NULL;
    int rc;
    switch (form) {
    case AD_FORM_JSON:
        rc = ad_parse_json(text, length, context, &ad, fault, err);
        break;
    case AD_FORM_NEW:
        rc = ad_parse_in(text, length, context, &ad, fault, err);
        break;
    default:
        rc = ad_parse_long_in(text, length, context, &ad, fault, err);
        break;
    }
    ad_destroy(ad);
    return rc;
}

/* Overwrites the region with blanks, except newlines; false when it had only blanks before. */
static bool blank_region(char *text, struct region region)
{
    bool any = false;
    for (size_t i = region.from; i < region.to; i++) {
        if (text[i] != '\n' && text[i] != ' ') {
            text[i] = ' ';
            any = true;
        }
    }
    return any;
}

size_t classad_check_text(enum ad_form form, char *text, size_t length, struct ad_place from,
                          const struct ad_context *context, size_t most, classad_check_f *tell,
                          void *arg)
{
    size_t count = 0;
    while (count < most) {
        size_t fault = 0;
        struct err err;
        if (parse_ad(form, text, length, context, &fault, &err) == 0) {
            break;
        }
        tell(arg, ad_place_of(text, fault, from), ad_place_reason(err.text));
        count++;
        struct region region = form == AD_FORM_LONG ? line_around(text, length, fault)
                                                    : attribute_around(form, text, length, fault);
        if (!blank_region(text, region)) {
            break; /* nothing to leave out: what follows would be told of this one */
        }
    }
    return count;
}
