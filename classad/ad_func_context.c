/* classad/ad_func_context.c - built-in functions that compare or evaluate each element of a list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"

/* ---- anyCompare, allCompare ---- */

static bool comparison_of(const char *text, enum ad_op *ret)
{
    static const struct {
        char text[6];
        uint8_t op;
    } OPS[] = {
        {"<", AD_OP_LT}, {"<=", AD_OP_LE}, {"==", AD_OP_EQ}, {"!=", AD_OP_NE},
        {">", AD_OP_GT}, {">=", AD_OP_GE}, {"is", AD_OP_IS}, {"isnt", AD_OP_ISNT},
    };
    for (size_t i = 0; i < sizeof(OPS) / sizeof(OPS[0]); i++) {
        if (strcmp(text, OPS[i].text) == 0) {
            *ret = (enum ad_op)OPS[i].op;
            return true;
        }
    }
    return false;
}

/* anyCompare(operator, list, value), allCompare.  The first element that decides ends the
 * evaluation, and so does one whose comparison is not a boolean. */
void ad_func_list_compare(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value text;
    struct ad_value list;
    struct ad_value value;
    enum ad_op op = AD_OP_NONE;
    ad_arg(ev, call, 0, &text);
    if (text.type != AD_TYPE_STRING || !comparison_of(text.string.text, &op)) {
        ad_is(ret, text.type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        return;
    }
    ad_arg(ev, call, 1, &list);
    if (list.type != AD_TYPE_LIST) {
        ad_is(ret, list.type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        return;
    }
    ad_arg(ev, call, 2, &value);
    bool all = call->variant != 0;
    for (uint32_t i = 0; i < list.list->count; i++) {
        struct ad_value item;
        struct ad_value result;
        ad_item_from(ev, &list, i, call->scope, &item);
        ad_binary(op, &item, &value, &result);
        if (result.type == AD_TYPE_UNDEFINED) {
            ad_is_bool(ret, false); /* whatever comes behind it */
            return;
        }
        if (result.type != AD_TYPE_BOOL) {
            ad_is(ret, AD_TYPE_ERROR);
            return;
        }
        if (result.boolean != all) {
            ad_is_bool(ret, !all);
            return;
        }
    }
    ad_is_bool(ret, all);
}

/* ---- evalInEachContext, countMatches ---- */

struct each { /* an expression, and the ads in which it is evaluated */
    const struct ad_node *expr;
    uint32_t written; /* scope in which expr was written */
    uint32_t at;      /* scope in which the elements are evaluated */
    struct ad_value list;
};

/* Prepares evaluation in each element.  A name that is known here stands for its expression.
 * HTCondor's search for the name ends at some ad, and the list is then looked up from that ad; for
 * an unknown name this is the topmost ad.  A list that is written in the call is always looked up
 * from the call.  False: the second argument is not a list. */
static bool begin_each(struct ad_evaluator *ev, const struct ad_call *call, struct each *each)
{
    const struct ad_node *list = &call->args[1];
    *each = (struct each){.expr = call->args, .written = call->scope, .at = call->scope};
    if (call->args->kind == AD_NODE_REF && call->scope != AD_SCOPE_NONE) {
        struct ad_found found;
        if (ad_find_reference(ev, call->args, call->scope, &found, &each->at)) {
            each->expr = &found.expr->root;
            each->written = found.scope;
        }
    }
    ad_evaluate(ev, list, list->kind == AD_NODE_LIST ? call->scope : each->at, &each->list);
    return each->list.type == AD_TYPE_LIST;
}

/* Evaluates the expression in one element.  In an element that is an ad of one side, names may fall
 * through to the other side. */
static void evaluate_each(struct ad_evaluator *ev, const struct each *each, uint32_t index,
                          struct ad_value *ret)
{
    struct ad_value item;
    ad_item_from(ev, &each->list, index, each->at, &item);
    if (item.type != AD_TYPE_AD || item.scope == AD_SCOPE_NONE) {
        ad_is(ret, item.type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        return;
    }
    uint32_t parent = ev->scopes[item.scope].parent;
    uint32_t other = ev->scopes[item.scope].other;
    if (parent == AD_SCOPE_MY || parent == AD_SCOPE_TARGET) {
        ev->scopes[item.scope].other = ev->scopes[parent].other;
    }
    ad_evaluate_from(ev, each->expr, item.scope, each->written, ret);
    ev->scopes[item.scope].other = other;
}

void ad_func_each_context(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct each each;
    if (!begin_each(ev, call, &each)) {
        ad_is(ret, each.list.type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        return;
    }
    uint32_t count = each.list.list->count;
    struct ad_node *items = ad_make_list(ev, count, ret);
    struct ad_value made = *ret;
    for (uint32_t i = 0; items != NULL && i < count; i++) {
        struct ad_value value;
        evaluate_each(ev, &each, i, &value);
        ad_list_put(ev, items, i, &value);
    }
    *ret = made;
}

void ad_func_count_matches(struct ad_evaluator *ev, const struct ad_call *call,
                           struct ad_value *ret)
{
    struct each each;
    bool good = begin_each(ev, call, &each);
    if (!good && each.list.type != AD_TYPE_UNDEFINED) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    int64_t count = 0;
    for (uint32_t i = 0; good && i < each.list.list->count; i++) {
        struct ad_value value;
        evaluate_each(ev, &each, i, &value);
        count += ad_truth_of(&value) == AD_TRUE;
    }
    ad_is_int(ret, count);
}
