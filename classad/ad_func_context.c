/* classad/ad_func_context.c - built-ins that evaluate an expression elsewhere, or look into one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad_convert.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_func_variants.h"
#include "classad/ad_regex.h"

/* ---- anyCompare, allCompare ---- */

static bool comparison(const char *text, enum ad_op *ret)
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

/* anyCompare(operator, list, value), allCompare: ended by the first element that decides, or whose
 * comparison is no boolean. */
void ad_func_list_compare(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value text;
    struct ad_value list;
    struct ad_value value;
    enum ad_op op = AD_OP_NONE;
    ad_arg(ev, call, 0, &text);
    if (text.type != AD_TYPE_STRING || !comparison(text.string.text, &op)) {
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
        ad_item(ev, &list, i, &item);
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

/* The expression to evaluate in each ad: that of the attribute when a name is given which means one
 * here.  NULL: the name means nothing, and there is an ad around in which it would have been looked
 * for. */
static const struct ad_node *expression_of(struct ad_evaluator *ev, const struct ad_call *call)
{
    const struct ad_node *arg = call->args;
    if (arg->kind != AD_NODE_REF) {
        return arg;
    }
    struct ad_found found;
    if (ad_find_reference(ev, arg, call->scope, &found)) {
        return &found.expr->root;
    }
    return ev->scopes[call->scope].parent == AD_SCOPE_NONE ? arg : NULL;
}

void ad_func_each_context(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value list;
    const struct ad_node *expr = expression_of(ev, call);
    ad_arg(ev, call, 1, &list);
    if (list.type != AD_TYPE_LIST) {
        ad_is(ret, list.type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        return;
    }
    if (expr == NULL) {
        ad_is(ret, AD_TYPE_UNDEFINED);
        return;
    }
    uint32_t count = list.list->count;
    struct ad_node *items = ad_make_list(ev, count, ret);
    struct ad_value made = *ret;
    for (uint32_t i = 0; items != NULL && i < count; i++) {
        struct ad_value item;
        struct ad_value value;
        ad_item(ev, &list, i, &item);
        if (item.type == AD_TYPE_AD) {
            ad_evaluate(ev, expr, item.scope, &value);
        } else {
            ad_is(&value, item.type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        }
        ad_list_put(ev, items, i, &value);
    }
    *ret = made;
}

void ad_func_count_matches(struct ad_evaluator *ev, const struct ad_call *call,
                           struct ad_value *ret)
{
    struct ad_value list;
    const struct ad_node *expr = expression_of(ev, call);
    int64_t count = 0;
    ad_arg(ev, call, 1, &list);
    if (list.type != AD_TYPE_LIST && list.type != AD_TYPE_UNDEFINED) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    for (uint32_t i = 0; expr != NULL && list.type == AD_TYPE_LIST && i < list.list->count; i++) {
        struct ad_value item;
        struct ad_value value;
        ad_item(ev, &list, i, &item);
        if (item.type == AD_TYPE_AD) {
            ad_evaluate(ev, expr, item.scope, &value);
            count += ad_truth_of(&value) == AD_TRUE;
        }
    }
    ad_is_int(ret, count);
}

/* ---- unresolved ---- */

static int by_name(const char *a, const char *b)
{
    return ad_name_compare(a, b);
}

static void sort_names(const char **names, size_t count)
{
    for (size_t gap = count / 2; gap > 0; gap /= 2) {
        for (size_t i = gap; i < count; i++) {
            const char *name = names[i];
            size_t at = i;
            for (; at >= gap && by_name(names[at - gap], name) > 0; at -= gap) {
                names[at] = names[at - gap];
            }
            names[at] = name;
        }
    }
}

static void print_names(const struct strmap *map, struct strbuf *out)
{
    size_t count = 0;
    const char **names = mem_alloc((strmap_count(map) + 1) * sizeof(*names));
    size_t at = 0;
    void *value;
    while (strmap_next(map, &at, &names[count], &value)) {
        count++;
    }
    sort_names(names, count);
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            strbuf_putc(out, ',');
        }
        strbuf_puts(out, names[i]);
    }
    mem_free(names);
}

/* Does the pattern match one of the names?  -1: it is none. */
static int any_matches(struct ad_evaluator *ev, const struct strmap *names,
                       const struct ad_value *pattern)
{
    struct ad_regex *regex = ad_regex_create(pattern->string.text, pattern->string.length, "i");
    int found = regex != NULL ? 0 : -1;
    size_t at = 0;
    const char *name;
    void *value;
    while (found == 0 && strmap_next(names, &at, &name, &value)) {
        struct ad_regex *matcher = regex;
        size_t start = 0;
        size_t end = 0;
        found = ad_evaluator_spend(ev, 10) ? ad_regex_match(matcher, name, strlen(name), 0,
                                                            AD_REGEX_ANYWHERE, &ev->steps_left)
                                           : -1;
        (void)ad_regex_group(matcher, 0, &start, &end);
        found = found > 0 && start == end ? 0 : found; /* a match of nothing is none */
    }
    if (ev->steps_left == 0) {
        (void)ad_evaluator_fail(ev);
    }
    ad_regex_destroy(regex);
    return found;
}

/* unresolved(name): the names that the expression of an attribute needs from elsewhere; with a
 * pattern as second argument: does it match one of them? */
void ad_func_unresolved(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    const struct ad_node *arg = call->args;
    const struct ad_scope *scope = &ev->scopes[call->scope];
    struct ad_found found;
    struct ad_value pattern;
    if (arg->kind != AD_NODE_REF) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    if (scope->ad == NULL || !ad_find_reference(ev, arg, call->scope, &found)) {
        ad_is(ret, AD_TYPE_UNDEFINED);
        return;
    }
    ad_is_text(&pattern, "", 0);
    if (call->count > 1) {
        ad_arg(ev, call, 1, &pattern);
        if (pattern.type != AD_TYPE_STRING) {
            ad_is(ret, AD_TYPE_ERROR);
            return;
        }
    }
    struct strmap *names = strmap_create(STRMAP_CASE_IGNORED);
    bool in_match = ev->scopes[call->scope].root == AD_SCOPE_MATCH; /* there TARGET is known */
    size_t visited = ad_refs_unresolved(found.expr, ev->scopes[call->scope].ad, names, !in_match);
    if (!ad_evaluator_spend(ev, visited)) {
        ad_is(ret, AD_TYPE_ERROR);
    } else if (call->count > 1) {
        int matches = any_matches(ev, names, &pattern);
        ad_is_bool(ret, matches > 0);
        if (matches < 0) {
            ad_is(ret, AD_TYPE_ERROR);
        }
    } else {
        struct strbuf text;
        strbuf_init(&text, AD_STRING_MAX);
        print_names(names, &text);
        ad_make_text(ev, &text, ret);
    }
    strmap_destroy(names, NULL);
}
