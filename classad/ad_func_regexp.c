/* classad/ad_func_regexp.c - built-ins with regular expressions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_func_variants.h"
#include "classad/ad_regex.h"
#include "classad/ad_stringlist.h"

#define REGEX_STEPS 20 /* what compiling a pattern counts in an evaluation */

static struct ad_regex *compile(struct ad_evaluator *ev, const struct ad_value *pattern,
                                const struct ad_value *options)
{
    if (!ad_evaluator_spend(ev, REGEX_STEPS + pattern->string.length / 4)) {
        return NULL;
    }
    return ad_regex_create(pattern->string.text, pattern->string.length, options->string.text);
}

static int search(struct ad_evaluator *ev, struct ad_regex *regex, const struct ad_value *text,
                  size_t from)
{
    if (!ad_evaluator_spend(ev, 10 + (text->string.length - from) / 64)) {
        return -1;
    }
    int found =
        ad_regex_match(regex, text->string.text, text->string.length, from, &ev->steps_left);
    if (ev->steps_left == 0) {
        (void)ad_evaluator_fail(ev); /* the whole evaluation is error */
    }
    return found;
}

/* The optional argument with options; absent: none.  False: *ret is set. */
static bool options_arg(struct ad_evaluator *ev, const struct ad_call *call, uint32_t index,
                        struct ad_value *options, struct ad_value *ret)
{
    ad_is_text(options, "", 0);
    return index >= call->count || ad_arg_string(ev, call, index, options, ret);
}

/* regexp(pattern, text[, options]) */
void ad_func_regexp(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value pattern;
    struct ad_value text;
    struct ad_value options;
    if (!ad_arg_string(ev, call, 0, &pattern, ret) || !ad_arg_string(ev, call, 1, &text, ret) ||
        !options_arg(ev, call, 2, &options, ret)) {
        return;
    }
    struct ad_regex *regex = compile(ev, &pattern, &options);
    int found = regex != NULL ? search(ev, regex, &text, 0) : -1;
    if (found < 0) {
        ad_is(ret, AD_TYPE_ERROR);
    } else {
        ad_is_bool(ret, found > 0);
    }
    ad_regex_destroy(regex);
}

/* regexpMember(pattern, list[, options]): elements that are not strings match nothing, nor does a
 * wrong pattern. */
void ad_func_regexp_member(struct ad_evaluator *ev, const struct ad_call *call,
                           struct ad_value *ret)
{
    struct ad_value pattern;
    struct ad_value list;
    struct ad_value options;
    if (!ad_arg_string(ev, call, 0, &pattern, ret) || !options_arg(ev, call, 2, &options, ret)) {
        return;
    }
    ad_arg(ev, call, 1, &list);
    if (list.type != AD_TYPE_LIST) {
        ad_is(ret, list.type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        return;
    }
    struct ad_regex *regex = compile(ev, &pattern, &options);
    bool found = false;
    for (uint32_t i = 0; regex != NULL && !found && i < list.list->count; i++) {
        struct ad_value item;
        ad_item(ev, &list, i, &item);
        found = item.type == AD_TYPE_STRING && search(ev, regex, &item, 0) > 0;
    }
    ad_is_bool(ret, found);
    ad_regex_destroy(regex);
}

/* stringList_regexpMember(pattern, list[, separators[, options]]): an empty list is undefined. */
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
    struct ad_regex *regex = compile(ev, &args[0], &args[3]);
    struct ad_value item;
    int found = regex != NULL ? 0 : -1;
    bool empty = true;
    for (size_t at = 0; found == 0 && ad_stringlist_next(&args[1], &args[2], &at, &item);) {
        found = search(ev, regex, &item, 0);
        empty = false;
    }
    if (found < 0) {
        ad_is(ret, AD_TYPE_ERROR);
    } else if (empty) {
        ad_is(ret, AD_TYPE_UNDEFINED);
    } else {
        ad_is_bool(ret, found > 0);
    }
    ad_regex_destroy(regex);
}

/* ---- substitution ---- */

/* `substitute` with \0 to \9 replaced by what the groups matched; false when there is no such
 * group. */
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
        from++;
        if (!ad_regex_group(regex, (size_t)(*from - '0'), &start, &end)) {
            return false;
        }
        strbuf_append(out, text->string.text + start, end - start);
    }
    return true;
}

struct substitution {
    bool all;  /* every match, not the first alone */
    bool full; /* the text around the matches is kept */
};

static bool substitute_all(struct ad_evaluator *ev, struct ad_regex *regex,
                           const struct ad_value *text, const struct ad_value *substitute,
                           struct substitution how, struct strbuf *out)
{
    size_t length = text->string.length;
    size_t done = 0;
    size_t from = 0;
    bool any = false;
    while (from <= length && (!any || how.all)) {
        int found = search(ev, regex, text, from);
        if (found < 0) {
            return false;
        }
        if (found == 0) {
            break;
        }
        any = true;
        size_t start = 0;
        size_t end = 0;
        (void)ad_regex_group(regex, 0, &start, &end); /* group 0 is always set after a match */
        if (how.full) {
            strbuf_append(out, text->string.text + done, start - done);
        }
        if (end < start || !put_substitute(regex, text, substitute, out)) {
            return false;
        }
        done = end;
        from = end > start ? end : end + 1;
    }
    if (how.full) {
        strbuf_append(out, text->string.text + done, length - done);
    }
    return true;
}

/* regexps(pattern, text, substitute[, options]) gives the substitute alone, "" without a match;
 * replace and replaceAll (and the option f) keep the rest of the text. */
void ad_func_regexps(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value pattern;
    struct ad_value text;
    struct ad_value substitute;
    struct ad_value options;
    if (!ad_arg_string(ev, call, 0, &pattern, ret) || !ad_arg_string(ev, call, 1, &text, ret) ||
        !ad_arg_string(ev, call, 2, &substitute, ret) || !options_arg(ev, call, 3, &options, ret)) {
        return;
    }
    enum ad_replace kind = (enum ad_replace)call->variant;
    struct substitution how = {
        .all = kind == AD_REPLACE_ALL || strchr(options.string.text, 'g') != NULL,
        .full = kind != AD_REPLACE_NONE || strchr(options.string.text, 'f') != NULL,
    };
    struct ad_regex *regex = compile(ev, &pattern, &options);
    struct strbuf out;
    strbuf_init(&out, AD_STRING_MAX);
    if (regex != NULL && substitute_all(ev, regex, &text, &substitute, how, &out)) {
        ad_make_text(ev, &out, ret);
    } else {
        strbuf_fini(&out);
        ad_is(ret, AD_TYPE_ERROR);
    }
    ad_regex_destroy(regex);
}
