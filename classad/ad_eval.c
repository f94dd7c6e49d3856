/* classad/ad_eval.c - the evaluator: control, limits, and the functions for callers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_eval.h"

#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"

/* What a list or ad needs after its evaluation has ended; stored in the value's arena. */
struct ad_world {
    const struct ad_scope *scopes;
    uint32_t scope_count;
    size_t expr_count;
    struct ad_expr **exprs;
    bool has_context;
    struct ad_context context;
    /* budget for everything that is evaluated later, when items are taken out */
    uint32_t *steps_left;
};

/* ---- control ---- */

static void is_truth(struct ad_value *ret, enum ad_truth truth)
{
    if (truth == AD_TRUE || truth == AD_FALSE) {
        ad_is_bool(ret, truth == AD_TRUE);
    } else {
        ad_is(ret, truth == AD_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
    }
}

/* Evaluates && or ||.  `decisive` is the truth that decides at once; an error ends the evaluation;
 * undefined is the result unless a later operand decides. */
static void evaluate_logic(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                           struct ad_value *ret)
{
    enum ad_truth decisive = node->kids[1].link == AD_OP_OR ? AD_TRUE : AD_FALSE;
    enum ad_truth so_far = decisive == AD_TRUE ? AD_FALSE : AD_TRUE;
    for (uint32_t i = 0; i < node->count; i++) {
        ad_evaluate(ev, &node->kids[i], scope, ret);
        enum ad_truth truth = ad_truth_of(ret);
        if (truth == AD_ERROR || truth == decisive) {
            is_truth(ret, truth);
            return;
        }
        if (truth == AD_UNDEFINED) {
            so_far = AD_UNDEFINED;
        }
    }
    is_truth(ret, so_far);
}

/* Counts the work of a function or operator on a long text as steps of the evaluation. */
static void charge_text(struct ad_evaluator *ev, const struct ad_value *value, size_t factor)
{
    if (value->type == AD_TYPE_STRING && value->string.length >= AD_TEXT_BYTES_A_STEP) {
        (void)ad_evaluator_spend(ev, value->string.length / AD_TEXT_BYTES_A_STEP *
                                         factor); /* failure shows at the next node */
    }
}

/* Evaluates an operand of a comparison, by a shorter way if it is a plain attribute, as most
 * are. */
static inline void evaluate_operand(struct ad_evaluator *ev, const struct ad_node *node,
                                    uint32_t scope, struct ad_value *ret)
{
    if (node->kind == AD_NODE_REF && ad_evaluate_plain(ev, node, scope, ret)) {
        return;
    }
    ad_evaluate(ev, node, scope, ret);
}

/* Compares two integers directly.  False: other types or another operator. */
static inline bool compare_integers(enum ad_op op, const struct ad_value *a,
                                    const struct ad_value *b, struct ad_value *ret)
{
    if (a->type != AD_TYPE_INT || b->type != AD_TYPE_INT) {
        return false;
    }
    switch (op) {
    case AD_OP_EQ:
        ad_is_bool(ret, a->integer == b->integer);
        return true;
    case AD_OP_LT:
        ad_is_bool(ret, a->integer < b->integer);
        return true;
    case AD_OP_LE:
        ad_is_bool(ret, a->integer <= b->integer);
        return true;
    case AD_OP_GT:
        ad_is_bool(ret, a->integer > b->integer);
        return true;
    case AD_OP_GE:
        ad_is_bool(ret, a->integer >= b->integer);
        return true;
    default:
        return false;
    }
}

static void evaluate_chain(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                           struct ad_value *ret)
{
    if (node->kids[1].link <= AD_OP_AND) {
        evaluate_logic(ev, node, scope, ret);
        return;
    }
    struct ad_value left;
    evaluate_operand(ev, &node->kids[0], scope, &left);
    for (uint32_t i = 1; i < node->count; i++) {
        struct ad_value right;
        enum ad_op op = (enum ad_op)node->kids[i].link;
        evaluate_operand(ev, &node->kids[i], scope, &right);
        if (!compare_integers(op, &left, &right, ret)) {
            charge_text(ev, &right, 1);
            ad_binary(op, &left, &right, ret);
        }
        if (i + 1 < node->count) {
            left = *ret;
        }
    }
}

static void evaluate_conditional(struct ad_evaluator *ev, const struct ad_node *node,
                                 uint32_t scope, struct ad_value *ret)
{
    ad_evaluate(ev, &node->kids[0], scope, ret);
    enum ad_truth truth = ad_truth_of(ret);
    if (truth == AD_TRUE || truth == AD_FALSE) {
        ad_evaluate(ev, &node->kids[truth == AD_TRUE ? 1 : 2], scope, ret);
    } else {
        is_truth(ret, truth);
    }
}

/* Evaluates an element of a list in the scope where it was written, as list[index] does. */
static void ad_item(struct ad_evaluator *ev, const struct ad_value *list, uint32_t index,
                    struct ad_value *ret)
{
    ad_evaluate(ev, &list->list->kids[index], list->scope, ret);
    charge_text(ev, ret, 1);
}

static const struct ad_node *without_parens(const struct ad_node *node)
{
    while (node->kind == AD_NODE_PAREN) {
        node = node->kids;
    }
    return node;
}

void ad_evaluate_from(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                      uint32_t written, struct ad_value *ret)
{
    node = without_parens(node);
    bool keeps_place = node->kind == AD_NODE_LIST || node->kind == AD_NODE_AD;
    ad_evaluate(ev, node, keeps_place ? written : scope, ret);
    charge_text(ev, ret, 1);
}

void ad_item_from(struct ad_evaluator *ev, const struct ad_value *list, uint32_t index,
                  uint32_t scope, struct ad_value *ret)
{
    ad_evaluate_from(ev, &list->list->kids[index], scope, list->scope, ret);
}

/* Converts an index as HTCondor does, which takes the lower 32 bits.  False: out of range. */
static bool is_index(const struct ad_value *list, const struct ad_value *index, uint32_t *ret)
{
    *ret = (uint32_t)(uint64_t)index->integer;
    return *ret < list->list->count && *ret <= INT32_MAX;
}

static void evaluate_subscript(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                               struct ad_value *ret)
{
    struct ad_value base;
    struct ad_value index;
    uint32_t at;
    ad_evaluate(ev, &node->kids[0], scope, &base);
    ad_evaluate(ev, &node->kids[1], scope, &index);
    if (base.type == AD_TYPE_ERROR || index.type == AD_TYPE_ERROR) {
        ad_is(ret, AD_TYPE_ERROR);
    } else if (base.type == AD_TYPE_UNDEFINED || index.type == AD_TYPE_UNDEFINED) {
        ad_is(ret, AD_TYPE_UNDEFINED);
    } else if (base.type == AD_TYPE_LIST && index.type == AD_TYPE_INT &&
               is_index(&base, &index, &at)) {
        ad_item(ev, &base, at, ret);
    } else if (base.type == AD_TYPE_AD && index.type == AD_TYPE_STRING) {
        const char *text = index.string.text;
        size_t length = index.string.length;
        struct ad_spot spot;
        if (base.ad != NULL &&
            ad_find_spot(base.ad, text, length, ad_name_hash(text, length), &spot)) {
            struct ad_found lookup = {spot.expr, spot.body, spot.place, base.scope};
            ad_evaluate_found(ev, &lookup, ret);
        } else {
            ad_is(ret, AD_TYPE_UNDEFINED);
        }
    } else {
        ad_is(ret, AD_TYPE_ERROR);
    }
}

static void evaluate_call(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                          struct ad_value *ret)
{
    const struct ad_func *func = ad_func_at(node->op);
    ad_is(ret, AD_TYPE_ERROR);
    if (func == NULL || node->count < func->least ||
        (func->most != AD_ARGS_ANY && node->count > func->most)) {
        return;
    }
    struct ad_call call = {.args = node->named.kids,
                           .count = node->count,
                           .scope = scope,
                           .variant = func->variant,
                           .text_steps = func->text_steps};
    if (func->call_steps > 0 && !ad_evaluator_spend(ev, func->call_steps)) {
        return; /* error */
    }
    ad_is(ret, AD_TYPE_UNDEFINED);
    func->run(ev, &call, ret);
}

static void evaluate_compound(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                              struct ad_value *ret)
{
    if (++ev->depth > AD_EVAL_DEPTH_MAX) {
        (void)ad_evaluator_fail(ev);
        ad_is(ret, AD_TYPE_ERROR);
        ev->depth--;
        return;
    }
    struct ad_value operand;
    switch ((enum ad_kind)node->kind) {
    case AD_NODE_REF:
        ad_evaluate_reference(ev, node, scope, ret);
        break;
    case AD_NODE_UNARY:
        ad_evaluate(ev, node->kids, scope, &operand);
        ad_unary((enum ad_op)node->op, &operand, ret);
        break;
    case AD_NODE_CHAIN:
        evaluate_chain(ev, node, scope, ret);
        break;
    case AD_NODE_COND:
        evaluate_conditional(ev, node, scope, ret);
        break;
    case AD_NODE_ELSE:
        ad_evaluate(ev, &node->kids[0], scope, ret);
        if (ret->type == AD_TYPE_UNDEFINED) {
            ad_evaluate(ev, &node->kids[1], scope, ret);
        }
        break;
    case AD_NODE_SUBSCRIPT:
        evaluate_subscript(ev, node, scope, ret);
        break;
    case AD_NODE_CALL:
        evaluate_call(ev, node, scope, ret);
        break;
    default:
        ad_is(ret, AD_TYPE_ERROR);
        break;
    }
    ev->depth--;
}

void ad_evaluate(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                 struct ad_value *ret)
{
    node = without_parens(node);
    if (ev->steps_left == 0) {
        ev->failed = true;
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    ev->steps_left--;
    switch ((enum ad_kind)node->kind) {
    case AD_NODE_UNDEFINED:
    case AD_NODE_ERROR:
    case AD_NODE_BOOL:
    case AD_NODE_INT:
    case AD_NODE_REAL:
    case AD_NODE_RELTIME:
    case AD_NODE_STRING:
    case AD_NODE_ABSTIME:
        ad_literal_value(node, ret);
        break;
    case AD_NODE_LIST:
        ret->type = AD_TYPE_LIST;
        ret->list = node;
        ret->scope = scope;
        break;
    case AD_NODE_AD:
        ret->type = AD_TYPE_AD;
        ret->ad = node->nested;
        ret->scope = ad_evaluator_scope(ev, node->nested, scope);
        break;
    case AD_NODE_VALUE:
        *ret = *node->value;
        break;
    default:
        evaluate_compound(ev, node, scope, ret);
        break;
    }
}

/* ---- arguments ---- */

void ad_arg(struct ad_evaluator *ev, const struct ad_call *call, uint32_t index,
            struct ad_value *ret)
{
    CHECK(index < call->count); /* a row of the table that allows fewer than its function takes */
    ad_evaluate(ev, &call->args[index], call->scope, ret);
    charge_text(ev, ret, 1u + call->text_steps);
}

bool ad_arg_string(struct ad_evaluator *ev, const struct ad_call *call, uint32_t index,
                   struct ad_value *text, struct ad_value *ret)
{
    ad_arg(ev, call, index, text);
    if (text->type == AD_TYPE_STRING) {
        return true;
    }
    ad_is(ret, text->type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
    return false;
}

bool ad_args_strict(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *args,
                    struct ad_value *ret)
{
    enum ad_type worst = AD_TYPE_BOOL;
    for (uint32_t i = 0; i < call->count; i++) {
        ad_arg(ev, call, i, &args[i]);
        if (args[i].type == AD_TYPE_ERROR ||
            (args[i].type == AD_TYPE_UNDEFINED && worst != AD_TYPE_ERROR)) {
            worst = args[i].type;
        }
    }
    if (worst != AD_TYPE_BOOL) {
        ad_is(ret, worst);
        return false;
    }
    return true;
}

/* ---- functions for callers ---- */

static void start_evaluation(struct ad_evaluator *ev, const struct ad *my, const struct ad *target,
                             const struct ad_context *context)
{
    ev->context = context;
    ev->arena = NULL;
    ev->active = NULL;
    ev->scopes = ev->inline_scopes;
    ev->scope_count = AD_SCOPE_FIRST_FREE;
    ev->scope_capacity = AD_SCOPES_INLINE;
    ev->steps_given = AD_EVAL_STEPS_MAX;
    if (context != NULL && context->work != NULL && context->work->steps_max != 0 &&
        context->work->steps_max < AD_EVAL_STEPS_MAX) {
        ev->steps_given = context->work->steps_max;
    }
    ev->steps_left = ev->steps_given;
    ev->shared_steps = NULL;
    ev->depth = 0;
    ev->failed = false;
    ev->exprs = (struct vec){0};
    ev->is_plain = !ad_may_have_special(my) && !ad_may_have_special(target);
    struct ad_scope *scopes = ev->inline_scopes;
    scopes[AD_SCOPE_NONE] = (struct ad_scope){0};
    if (target == NULL) {
        scopes[AD_SCOPE_MY] = (struct ad_scope){.ad = my, .root = AD_SCOPE_MY};
        scopes[AD_SCOPE_TARGET] = scopes[AD_SCOPE_MY_SIDE] = scopes[AD_SCOPE_TARGET_SIDE] =
            scopes[AD_SCOPE_MATCH] = scopes[AD_SCOPE_NONE];
        return;
    }
    scopes[AD_SCOPE_MY] = (struct ad_scope){my, AD_SCOPE_MY_SIDE, AD_SCOPE_MATCH, AD_SCOPE_TARGET};
    scopes[AD_SCOPE_TARGET] =
        (struct ad_scope){target, AD_SCOPE_TARGET_SIDE, AD_SCOPE_MATCH, AD_SCOPE_MY};
    scopes[AD_SCOPE_MY_SIDE] = scopes[AD_SCOPE_TARGET_SIDE] =
        (struct ad_scope){.parent = AD_SCOPE_MATCH, .root = AD_SCOPE_MATCH};
    scopes[AD_SCOPE_MATCH] = (struct ad_scope){.root = AD_SCOPE_MATCH};
}

static void destroy_expr(void *expr)
{
    ad_expr_destroy(expr);
}

/* Ends an evaluation and accounts for its steps.  An evaluation that failed has used up all its
 * steps. */
static void drop_evaluation(struct ad_evaluator *ev)
{
    struct ad_work *work = ev->context != NULL ? ev->context->work : NULL;
    if (work != NULL) {
        work->steps += ev->steps_given - ev->steps_left;
        work->over += ev->failed ? 1 : 0;
    }
    if (ev->shared_steps != NULL) {
        *ev->shared_steps = ev->steps_left;
    }
    vec_fini(&ev->exprs, destroy_expr);
    arena_destroy(ev->arena);
    ev->arena = NULL;
}

static struct ad_world *make_world(struct ad_evaluator *ev)
{
    size_t expr_count = ev->exprs.count;
    struct ad_scope *scopes = ad_evaluator_alloc(ev, ev->scope_count * sizeof(*scopes));
    struct ad_expr **exprs = ad_evaluator_alloc(ev, (expr_count + 1) * sizeof(struct ad_expr *));
    struct ad_world *world = ad_evaluator_alloc(ev, sizeof(*world));
    uint32_t *steps_left = ev->shared_steps;
    if (steps_left == NULL) {
        steps_left = ad_evaluator_alloc(ev, sizeof(*steps_left));
    }
    if (scopes == NULL || exprs == NULL || world == NULL || steps_left == NULL) {
        return NULL;
    }
    *steps_left = ev->steps_left;
    memcpy(scopes, ev->scopes, ev->scope_count * sizeof(*scopes));
    for (size_t i = 0; i < expr_count; i++) {
        exprs[i] = ev->exprs.items[i];
    }
    *world = (struct ad_world){.scopes = scopes,
                               .scope_count = ev->scope_count,
                               .exprs = exprs,
                               .expr_count = expr_count,
                               .steps_left = steps_left,
                               .has_context = ev->context != NULL};
    if (ev->context != NULL) {
        world->context = *ev->context;
        world->context.random_state = NULL; /* the caller's may be gone */
        world->context.is_timely = NULL;
        world->context.work = NULL;
    }
    vec_fini(&ev->exprs, NULL); /* now the world's */
    return world;
}

/* Moves the evaluation's memory into the value, or frees it. */
static void finish_evaluation(struct ad_evaluator *ev, struct ad_value *ret)
{
    ret->world = NULL;
    ret->memory = NULL;
    if (ev->failed) {
        ad_is(ret, AD_TYPE_ERROR);
    }
    if (ret->type == AD_TYPE_STRING && ev->exprs.count > 0) {
        struct ad_value borrowed = *ret;
        ad_make_string(ev, borrowed.string.text, borrowed.string.length, ret);
    }
    if (ret->type == AD_TYPE_LIST || ret->type == AD_TYPE_AD) {
        ret->world = make_world(ev);
        if (ret->world == NULL) {
            ad_is(ret, AD_TYPE_ERROR);
        }
    }
    if (ret->type == AD_TYPE_STRING || ret->world != NULL) {
        ret->memory = ev->arena;
        ev->arena = NULL;
    }
    drop_evaluation(ev);
}

void ad_eval(const struct ad_expr *expr, const struct ad *my, const struct ad *target,
             const struct ad_context *context, struct ad_value *ret)
{
    struct ad_evaluator ev;
    start_evaluation(&ev, my, target, context);
    ad_evaluate(&ev, &expr->root, AD_SCOPE_MY, ret);
    finish_evaluation(&ev, ret);
}

void ad_eval_within(const struct ad_expr *expr, const struct ad *my, uint32_t steps,
                    struct ad_value *ret)
{
    struct ad_evaluator ev;
    start_evaluation(&ev, my, NULL, NULL);
    ev.steps_left = steps;
    ad_evaluate(&ev, &expr->root, AD_SCOPE_MY, ret);
    finish_evaluation(&ev, ret);
}

int ad_eval_attr(const struct ad *my, const struct ad *target, const char *name,
                 const struct ad_context *context, struct ad_value *ret)
{
    struct ad_spot spot;
    size_t length = strlen(name);
    if (!ad_find_spot(my, name, length, ad_name_hash(name, length), &spot)) {
        *ret = (struct ad_value){.type = AD_TYPE_UNDEFINED};
        return -ENOENT;
    }
    struct ad_found lookup = {spot.expr, spot.body, spot.place, AD_SCOPE_MY};
    struct ad_evaluator ev;
    start_evaluation(&ev, my, target, context);
    ad_evaluate_found(&ev, &lookup, ret);
    finish_evaluation(&ev, ret);
    return 0;
}

enum ad_truth ad_eval_bool(const struct ad_expr *expr, const struct ad *my, const struct ad *target,
                           const struct ad_context *context)
{
    struct ad_evaluator ev;
    struct ad_value value;
    start_evaluation(&ev, my, target, context);
    ad_evaluate(&ev, &expr->root, AD_SCOPE_MY, &value);
    enum ad_truth truth = ev.failed ? AD_ERROR : ad_truth_of(&value);
    drop_evaluation(&ev);
    return truth;
}

double ad_eval_rank(const struct ad_expr *expr, const struct ad *my, const struct ad *target,
                    const struct ad_context *context)
{
    struct ad_evaluator ev;
    struct ad_value value;
    start_evaluation(&ev, my, target, context);
    ad_evaluate(&ev, &expr->root, AD_SCOPE_MY, &value);
    double rank = !ev.failed && ad_is_number(&value) ? ad_number(&value) : 0.0;
    drop_evaluation(&ev);
    return rank;
}

/* ---- values after their evaluation ---- */

void ad_value_fini(struct ad_value *value)
{
    if (value->memory != NULL) {
        if (value->world != NULL) {
            for (size_t i = 0; i < value->world->expr_count; i++) {
                ad_expr_destroy(value->world->exprs[i]);
            }
        }
        arena_destroy(value->memory);
    }
    *value = (struct ad_value){.type = AD_TYPE_UNDEFINED};
}

static bool resume_evaluation(struct ad_evaluator *ev, const struct ad_world *world)
{
    start_evaluation(ev, NULL, NULL, world->has_context ? &world->context : NULL);
    ev->shared_steps = world->steps_left;
    ev->steps_left = *ev->shared_steps;
    if (world->scope_count > AD_SCOPES_INLINE) {
        struct ad_scope *scopes =
            ad_evaluator_alloc(ev, 2 * (size_t)world->scope_count * sizeof(*scopes));
        if (scopes == NULL) {
            return false;
        }
        ev->scopes = scopes;
        ev->scope_capacity = 2 * world->scope_count;
    }
    memcpy(ev->scopes, world->scopes, world->scope_count * sizeof(*world->scopes));
    ev->scope_count = world->scope_count;
    ev->is_plain = false; /* not known of these */
    return true;
}

size_t ad_value_count(const struct ad_value *list)
{
    return list->type == AD_TYPE_LIST ? list->list->count : 0;
}

void ad_value_item(const struct ad_value *list, size_t index, struct ad_value *item)
{
    *item = (struct ad_value){.type = AD_TYPE_UNDEFINED};
    if (index >= ad_value_count(list) || list->world == NULL) {
        return;
    }
    const struct ad_node *node = &list->list->kids[index];
    if (node->kind <= AD_NODE_RELTIME) {
        ad_literal_value(node, item); /* a long list of these is no work */
        return;
    }
    struct ad_evaluator ev;
    ad_is(item, AD_TYPE_ERROR);
    if (resume_evaluation(&ev, list->world)) {
        ad_item(&ev, list, (uint32_t)index, item);
    }
    finish_evaluation(&ev, item);
}

void ad_value_attr(const struct ad_value *ad, const char *name, struct ad_value *ret)
{
    *ret = (struct ad_value){.type = AD_TYPE_UNDEFINED};
    const struct ad_expr *expr =
        ad->type == AD_TYPE_AD && ad->ad != NULL ? ad_lookup(ad->ad, name) : NULL;
    if (expr == NULL || ad->world == NULL) {
        return;
    }
    struct ad_evaluator ev;
    ad_is(ret, AD_TYPE_ERROR);
    if (resume_evaluation(&ev, ad->world)) {
        struct ad_found lookup = {.expr = expr, .scope = ad->scope};
        ad_evaluate_found(&ev, &lookup, ret);
    }
    finish_evaluation(&ev, ret);
}
