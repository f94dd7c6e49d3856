/* classad/ad_func_stringlist.c - built-in functions on lists that are stored in one string, such as
 * "a, b, c".
 *
 * Items are separated by any byte of the set of separators (by default blank and comma) and trimmed
 * of blanks; empty items are left out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <float.h>
#include <string.h>

#include "base/text.h"
#include "classad/ad_convert.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_func_variants.h"
#include "classad/ad_stringlist.h"

bool ad_stringlist_next(const struct ad_value *list, const struct ad_value *set, size_t *at,
                        struct ad_value *item)
{
    const char *text = list->string.text;
    size_t length = list->string.length;
    while (*at < length) {
        size_t from = *at;
        size_t end = from;
        while (end < length && memchr(set->string.text, text[end], set->string.length) == NULL) {
            end++;
        }
        *at = end + 1;
        while (from < end && text_is_space(text[from])) {
            from++;
        }
        while (end > from && text_is_space(text[end - 1])) {
            end--;
        }
        if (end > from) {
            ad_is_text(item, text + from, end - from);
            return true;
        }
    }
    return false;
}

#define WALK_BYTES_A_STEP 8
#define NUMBER_STEPS      4 /* steps of an item that is read as a number */
/* separators in one step; each byte of the list is compared with all of them */
#define SET_BYTES_A_STEP 64

/* Counts the steps of walking through a list.  False: the budget is used up. */
static bool spend_walk(struct ad_evaluator *ev, const struct ad_value *list,
                       const struct ad_value *set)
{
    return ad_evaluator_spend(ev,
                              1 + list->string.length / WALK_BYTES_A_STEP +
                                  list->string.length * (set->string.length / SET_BYTES_A_STEP));
}

/* Evaluates the arguments of size and of the totals, which must be strings.  False: *ret is set. */
static bool strict_args(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *list,
                        struct ad_value *set, struct ad_value *ret)
{
    ad_is_text(set, ", ", 2);
    ad_arg(ev, call, 0, list);
    if (call->count > 1) {
        ad_arg(ev, call, 1, set);
    }
    if (list->type == AD_TYPE_STRING && set->type == AD_TYPE_STRING && spend_walk(ev, list, set)) {
        return true;
    }
    ad_is(ret, AD_TYPE_ERROR);
    return false;
}

void ad_func_list_size(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value list;
    struct ad_value set;
    struct ad_value item;
    int64_t count = 0;
    if (!strict_args(ev, call, &list, &set, ret)) {
        return;
    }
    for (size_t at = 0; ad_stringlist_next(&list, &set, &at, &item);) {
        count++;
    }
    ad_is_int(ret, count);
}

/* Reads the number at the beginning of an item; *whole: it has only digits and signs. */
static bool leading_number(const struct ad_value *item, double *number, bool *whole)
{
    char copy[128];
    size_t length = item->string.length < sizeof(copy) - 1 ? item->string.length : sizeof(copy) - 1;
    memcpy(copy, item->string.text, length);
    copy[length] = '\0';
    *whole = strspn(copy, "+-0123456789") == item->string.length;
    return ad_text_to_real(copy, number);
}

void ad_func_list_total(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value list;
    struct ad_value set;
    struct ad_value item;
    enum ad_total kind = (enum ad_total)call->variant;
    if (!strict_args(ev, call, &list, &set, ret)) {
        return;
    }
    /* HTCondor starts from these floats, so that no maximum is below the smallest of them. */
    double total = kind == AD_TOTAL_MIN   ? (double)FLT_MAX
                   : kind == AD_TOTAL_MAX ? (double)FLT_MIN
                                          : 0;
    size_t count = 0;
    bool integers = true;
    for (size_t at = 0; ad_stringlist_next(&list, &set, &at, &item); count++) {
        double number;
        bool whole;
        if (!ad_evaluator_spend(ev, NUMBER_STEPS) || !leading_number(&item, &number, &whole)) {
            ad_is(ret, AD_TYPE_ERROR);
            return;
        }
        integers = integers && whole;
        if (kind == AD_TOTAL_SUM || kind == AD_TOTAL_AVG) {
            total += number;
        } else if (kind == AD_TOTAL_MIN ? number < total : number > total) {
            total = number;
        }
    }
    if (count == 0) {
        if (kind == AD_TOTAL_MIN || kind == AD_TOTAL_MAX) {
            ad_is(ret, AD_TYPE_UNDEFINED);
        } else {
            ad_is_real(ret, 0.0);
        }
        return;
    }
    total = kind == AD_TOTAL_AVG ? total / (double)count : total;
    if (integers) {
        ad_is_int(ret, ad_real_to_int(total));
    } else {
        ad_is_real(ret, total);
    }
}

static bool ad_stringlist_has(const struct ad_value *list, const struct ad_value *set,
                              const struct ad_value *wanted, bool ignore_case)
{
    struct ad_value item;
    for (size_t at = 0; ad_stringlist_next(list, set, &at, &item);) {
        if (item.string.length == wanted->string.length &&
            (ignore_case
                 ? ad_name_equal(item.string.text, wanted->string.text, item.string.length)
                 : memcmp(item.string.text, wanted->string.text, item.string.length) == 0)) {
            return true;
        }
    }
    return false;
}

/* Evaluates the arguments of member and subset.  If both are undefined, so is the result. */
static bool member_args(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *item,
                        struct ad_value *list, struct ad_value *set, struct ad_value *ret)
{
    struct ad_value args[3] = {{.type = AD_TYPE_UNDEFINED}};
    ad_is_text(item, "", 0);
    ad_is_text(list, "", 0);
    ad_is_text(set, ", \t\r\n", 5);
    struct ad_value *const texts[3] = {item, list, set};
    for (uint32_t i = 0; i < call->count; i++) {
        ad_arg(ev, call, i, &args[i]);
        if (args[i].type == AD_TYPE_STRING) {
            *texts[i] = args[i];
        } else if (args[i].type != AD_TYPE_UNDEFINED) {
            ad_is(ret, AD_TYPE_ERROR);
            return false;
        }
    }
    if (args[0].type == AD_TYPE_UNDEFINED && args[1].type == AD_TYPE_UNDEFINED) {
        ad_is(ret, AD_TYPE_UNDEFINED);
        return false;
    }
    return true;
}

void ad_func_list_member(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value wanted;
    struct ad_value list;
    struct ad_value set;
    if (member_args(ev, call, &wanted, &list, &set, ret)) {
        ad_is_bool(ret, spend_walk(ev, &list, &set) &&
                            ad_stringlist_has(&list, &set, &wanted, call->variant != 0));
    }
}

/* Returns whether every item of the first list is in the second.  An empty text is a subset of any
 * list; a text of separators only is not. */
void ad_func_list_subset(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value part;
    struct ad_value whole;
    struct ad_value set;
    struct ad_value item;
    if (!member_args(ev, call, &part, &whole, &set, ret)) {
        return;
    }
    bool subset = spend_walk(ev, &part, &set) && part.string.length == 0;
    for (size_t at = 0; ad_stringlist_next(&part, &set, &at, &item);) {
        subset = spend_walk(ev, &whole, &set) &&
                 ad_stringlist_has(&whole, &set, &item, call->variant != 0);
        if (!subset) {
            break;
        }
    }
    ad_is_bool(ret, subset);
}

/* Finds the next item for stringListsIntersect(), which does not trim items. */
static bool next_raw(const struct ad_value *list, const char *set, size_t *at,
                     struct ad_value *item)
{
    const char *text = list->string.text;
    *at += strspn(text + *at, set);
    size_t length = strcspn(text + *at, set);
    ad_is_text(item, text + *at, length);
    *at += length;
    return length > 0;
}

static bool has_raw(const struct ad_value *list, const char *set, const struct ad_value *wanted)
{
    struct ad_value item;
    for (size_t at = 0; next_raw(list, set, &at, &item);) {
        if (item.string.length == wanted->string.length &&
            memcmp(item.string.text, wanted->string.text, item.string.length) == 0) {
            return true;
        }
    }
    return false;
}

/* stringListsIntersect(list, list[, separators]).  Empty separators mean the usual ones. */
void ad_func_lists_intersect(struct ad_evaluator *ev, const struct ad_call *call,
                             struct ad_value *ret)
{
    struct ad_value args[3];
    struct ad_value item;
    ad_is_text(&args[2], "", 0);
    if (!ad_args_strict(ev, call, args, ret)) {
        return;
    }
    if (args[0].type != AD_TYPE_STRING || args[1].type != AD_TYPE_STRING ||
        args[2].type != AD_TYPE_STRING) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    const char *set = args[2].string.length > 0 ? args[2].string.text : " ,";
    bool common = false;
    (void)spend_walk(ev, &args[0], &args[2]); /* error if too much */
    for (size_t at = 0; !common && next_raw(&args[0], set, &at, &item);) {
        common = spend_walk(ev, &args[1], &args[2]) && has_raw(&args[1], set, &item);
    }
    ad_is_bool(ret, common);
}
