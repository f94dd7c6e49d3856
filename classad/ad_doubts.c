/* classad/ad_doubts.c - see ad_doubts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_doubts.h"

#include "base/strbuf.h"
#include "classad/ad_eval.h"
#include "classad/ad_func.h"
#include "classad/ad_private.h"
#include "classad/ad_value.h"

/* ---- calls */

struct calls {
    ad_doubt_f each;
    void *arg;
};

static void doubt_call(const struct calls *calls, const struct ad_node *node)
{
    const char *name = node->named.name->text;
    struct strbuf text;
    strbuf_init(&text, 0);
    if (node->op == AD_CALL_UNKNOWN) {
        const char *nearest = ad_func_nearest(name);
        strbuf_printf(&text, "calls the unknown function '%s'", name);
        if (nearest != NULL) {
            strbuf_printf(&text, "; did you mean %s?", nearest);
        }
    } else {
        const struct ad_func *func = ad_func_at(node->op);
        if (node->count < func->least || (func->most != AD_ARGS_ANY && node->count > func->most)) {
            strbuf_printf(&text, "calls %s() with %u argument%s; expected %s%u", name,
                          (unsigned)node->count, node->count == 1 ? "" : "s",
                          func->most == AD_ARGS_ANY ? "at least " : "", (unsigned)func->least);
            if (func->most != AD_ARGS_ANY && func->most != func->least) {
                strbuf_printf(&text, " to %u", (unsigned)func->most);
            }
        }
    }
    if (text.length > 0) {
        calls->each(calls->arg, strbuf_text(&text));
    }
    strbuf_fini(&text);
}

static void look_calls(const struct calls *calls, const struct ad_node *node)
{
    if (node->kind == AD_NODE_CALL) {
        doubt_call(calls, node);
    }
    uint32_t count = ad_node_kid_count(node);
    const struct ad_node *kids = ad_node_kids(node);
    for (uint32_t i = 0; i < count; i++) {
        look_calls(calls, &kids[i]);
    }
}

void ad_call_doubts(const struct ad_expr *expr, ad_doubt_f each, void *arg)
{
    const struct calls calls = {each, arg};
    look_calls(&calls, &expr->root);
}

/* ---- results */

static void look_results(const struct ad_node *node, ad_constant_f each, void *arg)
{
    const struct ad_node *kids = ad_node_kids(node);
    struct ad_value value = {0};
    switch ((enum ad_kind)node->kind) {
    case AD_NODE_PAREN:
        look_results(&kids[0], each, arg);
        return;
    case AD_NODE_ELSE:
        look_results(&kids[0], each, arg);
        look_results(&kids[1], each, arg);
        return;
    case AD_NODE_CALL:
        if (node->count != 3 || ad_name_compare(node->named.name->text, "ifthenelse") != 0) {
            return;
        }
        look_results(&kids[1], each, arg);
        look_results(&kids[2], each, arg);
        return;
    case AD_NODE_COND:
        look_results(&kids[1], each, arg);
        look_results(&kids[2], each, arg);
        return;
    case AD_NODE_BOOL:
        value.type = AD_TYPE_BOOL;
        value.boolean = node->boolean;
        break;
    case AD_NODE_INT:
        value.type = AD_TYPE_INT;
        value.integer = node->integer;
        break;
    case AD_NODE_REAL:
        value.type = AD_TYPE_REAL;
        value.real = node->real;
        break;
    case AD_NODE_STRING:
        value.type = AD_TYPE_STRING;
        value.string.text = node->text;
        value.string.length = node->count;
        break;
    default:
        return;
    }
    each(arg, &value);
}

void ad_constant_results(const struct ad_expr *expr, ad_constant_f each, void *arg)
{
    look_results(&expr->root, each, arg);
}
