/* classad/ad_func_list.c - built-in functions on lists.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_func_variants.h"

void ad_func_size(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    ad_arg(ev, call, 0, &value);
    switch (value.type) {
    case AD_TYPE_STRING:
        ad_is_int(ret, (int64_t)value.string.length);
        break;
    case AD_TYPE_LIST:
        ad_is_int(ret, value.list->count);
        break;
    case AD_TYPE_AD:
        ad_is_int(ret, value.ad != NULL ? (int64_t)ad_count(value.ad) : 0);
        break;
    default:
        ad_is(ret, value.type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        break;
    }
}

/* member() compares with ==, identicalMember() with =?=. */
void ad_func_member(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    struct ad_value list;
    bool equal = call->variant == AD_OP_EQ;
    ad_arg(ev, call, 0, &value);
    ad_arg(ev, call, 1, &list);
    if (list.type == AD_TYPE_UNDEFINED || (equal && value.type == AD_TYPE_UNDEFINED)) {
        ad_is(ret, AD_TYPE_UNDEFINED);
        return;
    }
    if (list.type != AD_TYPE_LIST || value.type == AD_TYPE_LIST || value.type == AD_TYPE_AD ||
        (equal && value.type == AD_TYPE_ERROR)) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    for (uint32_t i = 0; i < list.list->count; i++) {
        struct ad_value item;
        struct ad_value same;
        ad_item_from(ev, &list, i, call->scope, &item);
        ad_binary((enum ad_op)call->variant, &item, &value, &same);
        if (same.type == AD_TYPE_BOOL && same.boolean) {
            ad_is_bool(ret, true);
            return;
        }
    }
    ad_is_bool(ret, false);
}

static void as_integer(struct ad_value *value)
{
    if (value->type == AD_TYPE_BOOL) {
        ad_is_int(value, value->boolean);
    }
}

/* Adds one more number to the total.  Integers stay integers until a real comes; a boolean that is
 * alone stays a boolean. */
static void combine_items(enum ad_total kind, struct ad_value *total, struct ad_value *item)
{
    struct ad_value result;
    if (kind == AD_TOTAL_SUM || kind == AD_TOTAL_AVG) {
        ad_binary(AD_OP_ADD, total, item, &result);
        *total = result;
        return;
    }
    ad_binary(kind == AD_TOTAL_MIN ? AD_OP_LT : AD_OP_GT, item, total, &result);
    bool real = total->type == AD_TYPE_REAL || item->type == AD_TYPE_REAL;
    if (result.type == AD_TYPE_BOOL && result.boolean) {
        *total = *item;
    }
    as_integer(total);
    if (real) {
        ad_is_real(total, ad_number(total));
    }
}

/* sum, avg, min, max of the numbers and booleans in a list; undefined elements are ignored. */
void ad_func_total(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value list;
    ad_arg(ev, call, 0, &list);
    if (list.type != AD_TYPE_LIST) {
        ad_is(ret, list.type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        return;
    }
    enum ad_total kind = (enum ad_total)call->variant;
    struct ad_value total;
    uint32_t count = 0;
    ad_is_int(&total, 0);
    for (uint32_t i = 0; i < list.list->count; i++) {
        struct ad_value item;
        ad_item_from(ev, &list, i, call->scope, &item);
        if (item.type == AD_TYPE_UNDEFINED) {
            continue;
        }
        if (!ad_is_number(&item)) {
            ad_is(ret, AD_TYPE_ERROR);
            return;
        }
        if (count++ == 0) {
            total = item;
        } else {
            combine_items(kind, &total, &item);
        }
    }
    if (count == 0 && kind >= AD_TOTAL_MIN) {
        ad_is(ret, AD_TYPE_UNDEFINED);
    } else if (count > 0 && kind == AD_TOTAL_AVG) {
        struct ad_value divisor;
        ad_is_real(&divisor, count);
        ad_binary(AD_OP_DIV, &total, &divisor, ret);
    } else {
        *ret = total;
    }
}
