/* classad/ad_func_core.c - built-in functions about expressions and types.
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

/* eval(value): parses the text of any value in new syntax and evaluates it in the scope of the
 * call. */
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
        ad_charge_print(ev, &value, text.length);
        if (text.failed || !ad_evaluator_spend(ev, text.length * AD_PARSE_STEPS_A_BYTE) ||
            ad_expr_parse_in(strbuf_text(&text), text.length, AD_NEW, ev->context, &expr, NULL,
                             NULL) < 0) {
            ad_is(ret, AD_TYPE_ERROR);
        } else {
            ad_evaluator_keep(ev, expr);
            ad_evaluate(ev, &expr->root, call->scope, ret);
        }
    }
    strbuf_fini(&text);
}

/* Returns whether the name is printed without quotes. */
static bool is_plain(const struct ad_name *name)
{
    struct strbuf text;
    strbuf_init(&text, 4 * AD_NAME_MAX + 3);
    ad_print_name(name->text, name->length, AD_NEW, &text);
    bool plain = text.length == name->length;
    strbuf_fini(&text);
    return plain;
}

/* unparse(name): the text of the expression that a plain name stands for; "" when there is none. */
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
    if (ad != NULL && arg->count == 0 && arg->op != AD_REF_ABSOLUTE && is_plain(name)) {
        expr = ad_find(ad, name->text, name->length, name->hash);
    }
    struct strbuf text;
    strbuf_init(&text, AD_STRING_MAX);
    if (expr != NULL) {
        ad_node_print_lines(&expr->root, &text);
        (void)ad_evaluator_spend(ev, text.length / AD_PRINT_BYTES_A_STEP); /* error if too much */
    }
    ad_make_text(ev, &text, ret);
}
