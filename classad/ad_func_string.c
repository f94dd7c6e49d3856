/* classad/ad_func_string.c - built-in functions on strings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad_convert.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"

/* Appends the text of a value.  False: the value is undefined or error, which *ret becomes, or a
 * limit was reached. */
static bool append_text(struct ad_evaluator *ev, const struct ad_value *value, struct strbuf *text,
                        struct ad_value *ret)
{
    if (value->type == AD_TYPE_UNDEFINED || value->type == AD_TYPE_ERROR) {
        ad_is(ret, value->type);
        return false;
    }
    size_t before = text->length;
    ad_text_of(value, text);
    ad_charge_print(ev, value, text->length - before);
    if (text->failed || !ad_evaluator_spend(ev, (text->length - before) / AD_JOIN_BYTES_A_STEP)) {
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

/* join(separator, list), join(separator, item...), join(list).  Undefined items are left out, and
 * the separator is written only after some text.  If all are undefined, the result is undefined. */
void ad_func_join(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value separator;
    struct ad_value last;
    struct strbuf text;
    struct strbuf between;
    bool from_list = false;
    bool early = call->count == 1 || call->count == 2; /* the last argument may be a list */
    bool defined = call->count == 0;
    bool undefined = false;
    strbuf_init(&text, AD_STRING_MAX);
    strbuf_init(&between, AD_STRING_MAX);
    if (early) {
        ad_arg(ev, call, call->count - 1, &last);
        from_list = last.type == AD_TYPE_LIST;
    }
    if (call->count > (from_list ? 1u : 0u)) {
        if (call->count == 1) {
            separator = last;
        } else {
            ad_arg(ev, call, 0, &separator);
        }
        undefined = separator.type == AD_TYPE_UNDEFINED;
        if (!undefined && !append_text(ev, &separator, &between, ret)) {
            goto out;
        }
    }
    uint32_t count = from_list ? last.list->count : call->count == 0 ? 0 : call->count - 1;
    for (uint32_t i = 0; i < count; i++) {
        struct ad_value item;
        if (from_list) {
            ad_item_from(ev, &last, i, call->scope, &item);
        } else if (early) {
            item = last;
        } else {
            ad_arg(ev, call, i + 1, &item);
        }
        if (item.type == AD_TYPE_UNDEFINED) {
            undefined = true;
            continue;
        }
        if (text.length > 0 && item.type != AD_TYPE_ERROR) {
            strbuf_append(&text, strbuf_text(&between), between.length);
        }
        defined = true;
        if (!append_text(ev, &item, &text, ret)) {
            goto out;
        }
    }
    if (undefined && !defined) {
        ad_is(ret, AD_TYPE_UNDEFINED);
    } else {
        ad_make_text(ev, &text, ret);
    }
out:
    strbuf_fini(&text);
    strbuf_fini(&between);
}

static char upper_char(char c)
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
        text.data[i] = call->variant != 0 ? upper_char(text.data[i]) : ad_lower(text.data[i]);
    }
    ad_make_text(ev, &text, ret);
}

void ad_func_substr(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value args[3] = {{.type = AD_TYPE_UNDEFINED}};
    bool undefined = false;
    for (uint32_t i = 0; i < call->count; i++) {
        ad_arg(ev, call, i, &args[i]);
        undefined = undefined || args[i].type == AD_TYPE_UNDEFINED;
    }
    if (undefined) {
        ad_is(ret, AD_TYPE_UNDEFINED);
        return;
    }
    if (args[0].type != AD_TYPE_STRING || args[1].type != AD_TYPE_INT ||
        (call->count > 2 && args[2].type != AD_TYPE_INT)) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    int64_t length = (int64_t)args[0].string.length;
    int64_t from = ad_to_int32(&args[1]);
    int64_t count = call->count > 2 ? ad_to_int32(&args[2]) : length;
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

/* strcmp, stricmp: compare the texts of any values; the result is -1, 0 or 1. */
void ad_func_compare(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value values[2];
    ad_arg(ev, call, 0, &values[0]);
    ad_arg(ev, call, 1, &values[1]);
    struct strbuf text[2];
    strbuf_init(&text[0], AD_STRING_MAX);
    strbuf_init(&text[1], AD_STRING_MAX);
    if (values[0].type == AD_TYPE_UNDEFINED || values[1].type == AD_TYPE_UNDEFINED) {
        ad_is(ret, AD_TYPE_UNDEFINED); /* even beside an error */
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

struct splitting {
    size_t at;
    char last; /* the last separator that was passed and is not a blank */
    bool done;
};

/* Finds the next item.  Of several separators in a row, only the same one twice (blanks do not
 * count) makes an empty item.  There is no item before the first separators or after the last. */
static bool next_item(const struct ad_value *text, const struct ad_value *set,
                      struct splitting *state, struct ad_value *item)
{
    const char *bytes = text->string.text;
    size_t length = text->string.length;
    while (!state->done) {
        size_t from = state->at;
        size_t end = from + strcspn(bytes + from, set->string.text);
        if (end == length) {
            state->done = true;
            ad_is_text(item, bytes + from, end - from);
            return end > from;
        }
        char c = bytes[end];
        bool again = c == state->last && !text_is_space(c);
        state->at = end + 1;
        state->last = text_is_space(c) ? state->last : c;
        if (end > from || again) {
            ad_is_text(item, bytes + from, end - from);
            return true;
        }
    }
    return false;
}

/* split(text[, separators]) */
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
    for (struct splitting state = {0}; next_item(&text, &set, &state, &item);) {
        if (!ad_evaluator_spend(ev, set.string.length / AD_JOIN_BYTES_A_STEP)) {
            ad_is(ret, AD_TYPE_ERROR);
            return;
        }
        count++;
    }
    struct ad_node *items = ad_make_list(ev, count, ret);
    struct ad_value made = *ret;
    struct splitting state = {0};
    for (uint32_t i = 0; items != NULL && i < count && next_item(&text, &set, &state, &item); i++) {
        struct ad_value copy;
        ad_make_string(ev, item.string.text, item.string.length, &copy);
        ad_list_put(ev, items, i, &copy);
    }
    *ret = made;
}

/* splitUserName("user@domain"), splitSlotName("slot@host").  Without an @, all of the text is the
 * user or the host. */
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
