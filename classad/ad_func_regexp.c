/* classad/ad_func_regexp.c - built-in functions with regular expressions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad_convert.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_func_variants.h"
#include "classad/ad_regex.h"
#include "classad/ad_stringlist.h"

#define AD_REGEX_OPTIONS_MAX 8 /* most bytes of the options, with the terminating zero */

static struct ad_regex *compile_pattern(struct ad_evaluator *ev, const struct ad_value *pattern,
                                        const struct ad_value *options)
{
    return ad_evaluator_regex(ev, pattern->string.text, pattern->string.length,
                              options->string.text);
}

static int search_text(struct ad_evaluator *ev, struct ad_regex *regex, const struct ad_value *text,
                       size_t from, enum ad_regex_how how)
{
    if (!ad_evaluator_spend(ev, 10 + (text->string.length - from) / 64)) {
        return -1;
    }
    int found =
        ad_regex_match(regex, text->string.text, text->string.length, from, how, &ev->steps_left);
    if (ev->steps_left == 0) {
        (void)ad_evaluator_fail(ev); /* the whole evaluation is error */
    }
    return found;
}

/* Evaluates the arguments.  The last, at index `options`, may be absent.  The first `texts`
 * arguments and the options must be strings.  False: *ret is set; error wins over undefined,
 * undefined over a wrong type. */
static bool regexp_args(struct ad_evaluator *ev, const struct ad_call *call, uint32_t texts,
                        uint32_t options, struct ad_value *args, struct ad_value *ret)
{
    ad_is_text(&args[options], "", 0);
    if (!ad_args_strict(ev, call, args, ret)) {
        return false;
    }
    bool good = args[options].type == AD_TYPE_STRING;
    for (uint32_t i = 0; i < texts; i++) {
        good = good && args[i].type == AD_TYPE_STRING;
    }
    if (!good) {
        ad_is(ret, AD_TYPE_ERROR);
    }
    return good;
}

/* regexp(pattern, text[, options]) */
void ad_func_regexp(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value args[3];
    if (!regexp_args(ev, call, 2, 2, args, ret)) {
        return;
    }
    struct ad_regex *regex = compile_pattern(ev, &args[0], &args[2]);
    int found = regex != NULL ? search_text(ev, regex, &args[1], 0, AD_REGEX_ANYWHERE) : -1;
    if (found < 0) {
        ad_is(ret, AD_TYPE_ERROR);
    } else {
        ad_is_bool(ret, found > 0);
    }
    ad_evaluator_regex_done(ev, regex);
}

/* regexpMember(pattern, list[, options]).  An element that is not a string is an error; undefined
 * elements make the result undefined unless another element matches; an invalid pattern matches
 * nothing. */
void ad_func_regexp_member(struct ad_evaluator *ev, const struct ad_call *call,
                           struct ad_value *ret)
{
    struct ad_value args[3];
    if (!regexp_args(ev, call, 1, 2, args, ret)) {
        return;
    }
    if (args[1].type != AD_TYPE_LIST) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    struct ad_regex *regex = compile_pattern(ev, &args[0], &args[2]);
    enum ad_truth found = AD_FALSE;
    for (uint32_t i = 0; found != AD_TRUE && found != AD_ERROR && i < args[1].list->count; i++) {
        struct ad_value item;
        ad_item_from(ev, &args[1], i, call->scope, &item);
        if (item.type == AD_TYPE_UNDEFINED) {
            found = AD_UNDEFINED;
        } else if (item.type != AD_TYPE_STRING) {
            found = AD_ERROR;
        } else if (regex != NULL && search_text(ev, regex, &item, 0, AD_REGEX_ANYWHERE) > 0) {
            found = AD_TRUE;
        }
    }
    if (found == AD_TRUE || found == AD_FALSE) {
        ad_is_bool(ret, found == AD_TRUE);
    } else {
        ad_is(ret, found == AD_ERROR ? AD_TYPE_ERROR : AD_TYPE_UNDEFINED);
    }
    ad_evaluator_regex_done(ev, regex);
}

/* Copies the options in lower case: this function accepts upper case, too. */
static void lower_options(const struct ad_value *options, char *small)
{
    size_t length = 0;
    for (const char *from = options->string.text; *from != '\0'; from++) {
        char c = ad_lower(*from);
        if (strchr("imsx", c) != NULL && memchr(small, c, length) == NULL) {
            small[length++] = c;
        }
    }
    small[length] = '\0';
}

/* stringList_regexpMember(pattern, list[, separators[, options]]).  The result for an empty list is
 * undefined. */
void ad_func_list_regexp(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value args[4] = {0};
    ad_is_text(&args[2], ", ", 2);
    ad_is_text(&args[3], "", 0);
    for (uint32_t i = 0; i < call->count; i++) {
        ad_arg(ev, call, i, &args[i]);
        if (args[i].type != AD_TYPE_STRING) {
            ad_is(ret, AD_TYPE_ERROR);
            return;
        }
    }
    char small[AD_REGEX_OPTIONS_MAX];
    struct ad_value options;
    lower_options(&args[3], small);
    ad_is_text(&options, small, strlen(small));
    struct ad_regex *regex = compile_pattern(ev, &args[0], &options);
    struct ad_value item;
    int found = regex != NULL ? 0 : -1;
    bool empty = true;
    for (size_t at = 0; found == 0 && ad_stringlist_next(&args[1], &args[2], &at, &item);) {
        found = search_text(ev, regex, &item, 0, AD_REGEX_ANYWHERE);
        empty = false;
    }
    if (found < 0) {
        ad_is(ret, AD_TYPE_ERROR);
    } else if (empty) {
        ad_is(ret, AD_TYPE_UNDEFINED);
    } else {
        ad_is_bool(ret, found > 0);
    }
    ad_evaluator_regex_done(ev, regex);
}

/* ---- substitution ---- */

/* Appends `substitute`, with \\0 to \\9 replaced by the text of the groups; a group without a match
 * gives "".  False: a group beyond the last one with a match. */
static bool put_substitute(const struct ad_regex *regex, const struct ad_value *text,
                           const struct ad_value *substitute, struct strbuf *out)
{
    const char *from = substitute->string.text;
    for (; *from != '\0'; from++) {
        if (from[0] != '\\' || from[1] < '0' || from[1] > '9') {
            strbuf_putc(out, *from);
            continue;
        }
        size_t start;
        size_t end;
        size_t group = (size_t)(*++from - '0');
        if (group >= ad_regex_matched(regex)) {
            return false;
        }
        if (ad_regex_group(regex, group, &start, &end)) {
            strbuf_append(out, text->string.text + start, end - start);
        }
    }
    return true;
}

struct substitution {
    bool all;  /* replace all matches, not only the first */
    bool full; /* keep the text around the matches */
};

/* Replaces matches one after another.  After an empty match, the next match must not be empty and
 * must begin there; otherwise one byte is copied.  At the end of the text this fails, as in
 * HTCondor. */
static bool substitute_all(struct ad_evaluator *ev, struct ad_regex *regex,
                           const struct ad_value *text, const struct ad_value *substitute,
                           struct substitution how, struct strbuf *out)
{
    size_t length = text->string.length;
    size_t from = 0;
    bool nothing = false;
    do {
        int found = search_text(ev, regex, text, from,
                                nothing ? AD_REGEX_SOMETHING_HERE : AD_REGEX_ANYWHERE);
        if (found < 0) {
            return false;
        }
        if (found == 0 && nothing) {
            if (from == length) {
                return false;
            }
            strbuf_putc(out, text->string.text[from++]);
            nothing = false;
            continue;
        }
        if (found == 0) {
            break;
        }
        size_t start = 0;
        size_t end = 0;
        (void)ad_regex_group(regex, 0, &start, &end); /* group 0 is always set after a match */
        if (start < from || end < start) {
            return false; /* a pattern may move both about */
        }
        if (how.full) {
            strbuf_append(out, text->string.text + from, start - from);
        }
        if (!put_substitute(regex, text, substitute, out)) {
            return false;
        }
        from = end;
        nothing = start == end;
    } while (how.all);
    if (how.full) {
        strbuf_append(out, text->string.text + from, length - from);
    }
    return true;
}

/* regexps(pattern, text, substitute[, options]) returns only the substitute, "" without a match;
 * replace and replaceAll (and the option f) keep the rest of the text. */
void ad_func_regexps(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value args[4];
    if (!regexp_args(ev, call, 3, 3, args, ret)) {
        return;
    }
    enum ad_replace kind = (enum ad_replace)call->variant;
    const char *options = args[3].string.text;
    struct substitution how = {
        .all = kind == AD_REPLACE_ALL || strchr(options, 'g') != NULL,
        .full = kind != AD_REPLACE_NONE || strchr(options, 'f') != NULL,
    };
    struct ad_regex *regex = compile_pattern(ev, &args[0], &args[3]);
    struct strbuf out;
    strbuf_init(&out, AD_STRING_MAX);
    if (regex != NULL && substitute_all(ev, regex, &args[1], &args[2], how, &out)) {
        ad_make_text(ev, &out, ret);
    } else {
        strbuf_fini(&out);
        ad_is(ret, AD_TYPE_ERROR);
    }
    ad_evaluator_regex_done(ev, regex);
}
