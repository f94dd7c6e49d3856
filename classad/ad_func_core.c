/* classad/ad_func_core.c - built-ins about expressions and types.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad_convert.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"

void ad_func_type_is(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    ad_arg(ev, call, 0, ret);
    ad_is_bool(ret, ret->type == (enum ad_type)call->variant);
}

void ad_func_if(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    ad_arg(ev, call, 0, ret);
    switch (ad_truth_of(ret)) {
    case AD_TRUE:
        ad_arg(ev, call, 1, ret);
        break;
    case AD_FALSE:
        ad_arg(ev, call, 2, ret);
        break;
    case AD_UNDEFINED:
        ad_is(ret, AD_TYPE_UNDEFINED);
        break;
    case AD_ERROR:
        ad_is(ret, AD_TYPE_ERROR);
        break;
    }
}

void ad_func_debug(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    ad_arg(ev, call, 0, ret);
}

/* The text of any value is parsed as new syntax and evaluated where the call stands. */
void ad_func_eval(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    struct ad_expr *expr = NULL;
    struct strbuf text;
    ad_arg(ev, call, 0, &value);
    strbuf_init(&text, AD_STRING_MAX);
    if (value.type == AD_TYPE_UNDEFINED || value.type == AD_TYPE_ERROR) {
        ad_is(ret, AD_TYPE_ERROR);
    } else {
        ad_text_of(&value, &text);
        if (text.failed || !ad_evaluator_spend(ev, text.length / 16) ||
            ad_expr_parse(strbuf_text(&text), text.length, AD_NEW, &expr, NULL) < 0) {
            ad_is(ret, AD_TYPE_ERROR);
        } else {
            ad_evaluator_keep(ev, expr);
            ad_evaluate(ev, &expr->root, call->scope, ret);
        }
    }
    strbuf_fini(&text);
}

#define LIST_INDENT 3

static void put_line(unsigned indent, struct strbuf *out)
{
    strbuf_putc(out, '\n');
    for (unsigned i = 0; i < indent; i++) {
        strbuf_putc(out, ' ');
    }
}

/* As HTCondor's unparse() does: a list with one element a line, anything else on its own line. */
static void put_expression(const struct ad_node *node, unsigned indent, struct strbuf *out)
{
    if (node->kind != AD_NODE_LIST || node->count == 0) {
        ad_node_print(node, AD_NEW, out);
        return;
    }
    put_line(indent + LIST_INDENT, out);
    strbuf_putc(out, '{');
    for (uint32_t i = 0; i < node->count; i++) {
        put_line(indent + 2 * LIST_INDENT, out);
        put_expression(&node->kids[i], indent + 2 * LIST_INDENT, out);
        strbuf_puts(out, i + 1 < node->count ? "," : "");
    }
    put_line(indent + LIST_INDENT, out);
    strbuf_putc(out, '}');
}

/* The text of the expression that a plain name stands for, "" when there is none. */
void ad_func_unparse(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    const struct ad_node *arg = call->args;
    if (arg->kind != AD_NODE_REF) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    const struct ad *ad = ev->scopes[call->scope].ad;
    const struct ad_name *name = arg->named.name;
    const struct ad_expr *expr = NULL;
    if (ad != NULL && arg->count == 0) {
        expr = ad_find(ad, name->text, name->length, name->hash);
    }
    struct strbuf text;
    strbuf_init(&text, AD_STRING_MAX);
    if (expr != NULL) {
        put_expression(&expr->root, 0, &text);
    }
    ad_make_text(ev, &text, ret);
}
