/* classad/ad_func_string.c - built-ins on strings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad_convert.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"

/* Undefined and error pass through: false and *ret set. */
static bool append_text(struct ad_evaluator *ev, const struct ad_value *value, struct strbuf *text,
                        struct ad_value *ret)
{
    if (value->type == AD_TYPE_UNDEFINED || value->type == AD_TYPE_ERROR) {
        ad_is(ret, value->type);
        return false;
    }
    size_t before = text->length;
    ad_text_of(value, text);
    if (text->failed || !ad_evaluator_spend(ev, (text->length - before) / 16)) {
        (void)ad_evaluator_fail(ev);
        ad_is(ret, AD_TYPE_ERROR);
        return false;
    }
    return true;
}

void ad_func_strcat(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct strbuf text;
    strbuf_init(&text, AD_STRING_MAX);
    for (uint32_t i = 0; i < call->count; i++) {
        struct ad_value value;
        ad_arg(ev, call, i, &value);
        if (!append_text(ev, &value, &text, ret)) {
            strbuf_fini(&text);
            return;
        }
    }
    ad_make_text(ev, &text, ret);
}

/* join(separator, list), join(separator, item...), join(list): undefined items are left out. */
void ad_func_join(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value separator;
    struct ad_value list;
    if (call->count == 0) {
        ad_is_text(ret, "", 0);
        return;
    }
    ad_arg(ev, call, 0, &separator);
    if (separator.type == AD_TYPE_UNDEFINED || separator.type == AD_TYPE_ERROR) {
        ad_is(ret, separator.type);
        return;
    }
    ad_is(&list, AD_TYPE_STRING);
    if (call->count == 1) {
        list = separator;
        ad_is_text(&separator, "", 0);
    } else if (call->count == 2) {
        ad_arg(ev, call, 1, &list);
        if (list.type == AD_TYPE_UNDEFINED || list.type == AD_TYPE_ERROR) {
            ad_is(ret, list.type);
            return;
        }
    }
    struct strbuf text;
    strbuf_init(&text, AD_STRING_MAX);
    bool first = true;
    uint32_t count = list.type == AD_TYPE_LIST ? list.list->count : call->count - 1;
    for (uint32_t i = 0; i < count; i++) {
        struct ad_value item;
        if (list.type == AD_TYPE_LIST) {
            ad_item(ev, &list, i, &item);
        } else {
            ad_arg(ev, call, i + 1, &item);
        }
        if (item.type == AD_TYPE_UNDEFINED) {
            continue;
        }
        if (!first) {
            ad_text_of(&separator, &text);
        }
        first = false;
        if (!append_text(ev, &item, &text, ret)) {
            strbuf_fini(&text);
            return;
        }
    }
    ad_make_text(ev, &text, ret);
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
}

void ad_func_case(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    struct strbuf text;
    ad_arg(ev, call, 0, &value);
    strbuf_init(&text, AD_STRING_MAX);
    if (!append_text(ev, &value, &text, ret)) {
        strbuf_fini(&text);
        return;
    }
    for (size_t i = 0; i < text.length; i++) {
        text.data[i] = call->variant != 0 ? upper(text.data[i]) : ad_lower(text.data[i]);
    }
    ad_make_text(ev, &text, ret);
}

void ad_func_substr(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value args[3] = {0};
    ad_is_int(&args[2], INT64_MAX);
    bool undefined = false;
    for (uint32_t i = 0; i < call->count; i++) {
        ad_arg(ev, call, i, &args[i]);
        enum ad_type wanted = i == 0 ? AD_TYPE_STRING : AD_TYPE_INT;
        if (args[i].type == AD_TYPE_UNDEFINED) {
            undefined = true;
        } else if (args[i].type != wanted) {
            ad_is(ret, AD_TYPE_ERROR);
            return;
        }
    }
    if (undefined) {
        ad_is(ret, AD_TYPE_UNDEFINED);
        return;
    }
    int64_t length = (int64_t)args[0].string.length;
    int64_t from = args[1].integer;
    int64_t count = args[2].integer;
    from = from < -length ? 0 : from < 0 ? from + length : from > length ? length : from;
    int64_t end = length;
    if (count < 0) {
        end = count < -length ? 0 : length + count;
    } else if (count < length - from) {
        end = from + count;
    }
    if (end < from) {
        end = from;
    }
    ad_make_string(ev, args[0].string.text + from, (size_t)(end - from), ret);
}

/* strcmp, stricmp: of the texts of any values; -1, 0 or 1. */
void ad_func_compare(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value values[2];
    ad_arg(ev, call, 0, &values[0]);
    ad_arg(ev, call, 1, &values[1]);
    struct strbuf text[2];
    strbuf_init(&text[0], AD_STRING_MAX);
    strbuf_init(&text[1], AD_STRING_MAX);
    if (values[1].type == AD_TYPE_ERROR) {
        ad_is(ret, AD_TYPE_ERROR);
    } else if (append_text(ev, &values[0], &text[0], ret) &&
               append_text(ev, &values[1], &text[1], ret)) {
        const char *a = strbuf_text(&text[0]);
        const char *b = strbuf_text(&text[1]);
        int sign = call->variant != 0 ? ad_name_compare(a, b) : strcmp(a, b);
        ad_is_int(ret, sign < 0 ? -1 : sign > 0);
    }
    strbuf_fini(&text[0]);
    strbuf_fini(&text[1]);
}

/* ---- split ---- */

static bool is_in(const struct ad_value *set, char c)
{
    return memchr(set->string.text, c, set->string.length) != NULL;
}

/* Finds the next item from *at; false at the end.  Blanks among the separators count as one with
 * what they surround. */
static bool next_item(const struct ad_value *text, const struct ad_value *set, size_t *at,
                      struct ad_value *item)
{
    const char *bytes = text->string.text;
    size_t length = text->string.length;
    if (*at > length) {
        return false;
    }
    size_t from = *at;
    while (from < length && (from == 0 || is_in(set, bytes[from - 1])) && *at == 0 &&
           is_in(set, bytes[from])) {
        from++; /* nothing before the first item */
    }
    while (from < length && (bytes[from] == ' ' || bytes[from] == '\t') &&
           is_in(set, bytes[from])) {
        from++;
    }
    size_t end = from;
    while (end < length && !is_in(set, bytes[end])) {
        end++;
    }
    size_t next = end;
    while (next < length && (bytes[next] == ' ' || bytes[next] == '\t')) {
        next++;
    }
    if (next < length && is_in(set, bytes[next])) {
        next++; /* the separator that is not blank */
    }
    if (end == length && end == from) {
        return false; /* nor after the last */
    }
    ad_is_text(item, bytes + from, end - from);
    *at = end == length ? length + 1 : next;
    return true;
}

void ad_func_split(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value text;
    struct ad_value set;
    ad_arg(ev, call, 0, &text);
    ad_is_text(&set, ", \t", 3);
    if (call->count > 1) {
        ad_arg(ev, call, 1, &set);
    }
    if (text.type != AD_TYPE_STRING || set.type != AD_TYPE_STRING) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    uint32_t count = 0;
    struct ad_value item;
    for (size_t at = 0; text.string.length > 0 && next_item(&text, &set, &at, &item);) {
        count++;
    }
    struct ad_node *items = ad_make_list(ev, count, ret);
    struct ad_value made = *ret;
    size_t at = 0;
    for (uint32_t i = 0; items != NULL && i < count && next_item(&text, &set, &at, &item); i++) {
        struct ad_value copy;
        ad_make_string(ev, item.string.text, item.string.length, &copy);
        ad_list_put(ev, items, i, &copy);
    }
    *ret = made;
}

/* splitUserName("user@domain"), splitSlotName("slot@host"): without an @ all is the user, or the
 * host. */
void ad_func_split_at(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value text;
    ad_arg(ev, call, 0, &text);
    if (text.type != AD_TYPE_STRING) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    const char *bytes = text.string.text;
    size_t length = text.string.length;
    const char *sign = memchr(bytes, '@', length);
    size_t before = sign != NULL ? (size_t)(sign - bytes) : call->variant != 0 ? 0 : length;
    size_t after = sign != NULL ? before + 1 : before;
    struct ad_node *items = ad_make_list(ev, 2, ret);
    struct ad_value made = *ret;
    struct ad_value part;
    if (items != NULL) {
        ad_make_string(ev, bytes, before, &part);
        ad_list_put(ev, items, 0, &part);
        ad_make_string(ev, bytes + after, length - after, &part);
        ad_list_put(ev, items, 1, &part);
    }
    *ret = made;
}
