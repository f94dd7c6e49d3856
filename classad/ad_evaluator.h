/* classad/ad_evaluator.h - one evaluation under way; for ad_eval.c, the operators and the
 * functions.
 *
 * Values inside an evaluation borrow: from the expressions, from the ads, or from the evaluator's
 * arena, which is made when the first string or list has to be made.  At the end the arena goes
 * into the value that leaves, or is destroyed.
 *
 * A scope is an ad and where its names are looked up further.  Lists and ads in values carry the
 * number of the scope in which they were written; scopes are only ever added.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_EVALUATOR_H
#define CLASSAD_AD_EVALUATOR_H

#include "base/vec.h"
#include "classad/ad_private.h"

enum ad_scope_number {
    AD_SCOPE_NONE,
    AD_SCOPE_MY,
    AD_SCOPE_TARGET,
    AD_SCOPE_MY_SIDE, /* pseudo-ad above my in a match: names the other side */
    AD_SCOPE_TARGET_SIDE,
    AD_SCOPE_MATCH, /* pseudo-ad above both: LEFT, RIGHT */
    AD_SCOPE_FIRST_FREE,
};

struct ad_scope {
    const struct ad *ad; /* NULL for pseudo-ads, and for a side that was not given */
    uint32_t parent;
    uint32_t root;  /* the topmost */
    uint32_t other; /* where a bare name is looked up that nothing from here upward has; or NONE */
};

#define AD_SCOPES_INLINE 8

/* What counts as one step, about as long as visiting a node. */
#define AD_TEXT_BYTES_A_STEP  64 /* compared, or copied as they are */
#define AD_JOIN_BYTES_A_STEP  16 /* put together piece by piece, or looked at one by one */
#define AD_PRINT_BYTES_A_STEP 3  /* printed from lists and ads */
#define AD_PARSE_STEPS_A_BYTE 2  /* of a text that eval() reads */

struct ad_active { /* an attribute that is being evaluated */
    const struct ad_active *up;
    const struct ad_node *node;
    const struct ad *ad;
};

struct ad_evaluator {
    const struct ad_context *context;
    struct arena *arena; /* NULL until needed */
    const struct ad_active *active;
    struct ad_scope *scopes;
    uint32_t scope_count;
    uint32_t scope_capacity;
    uint32_t steps_given; /* at the beginning */
    uint32_t steps_left;
    /* Of an evaluation of what a value holds: the steps that the evaluation which made that value
     * left, shared by all such evaluations, so that a list of a thousand costly elements costs no
     * more than one of them may.  Else NULL. */
    uint32_t *shared_steps;
    uint32_t depth;
    bool failed;      /* a limit was crossed: the whole result is error */
    bool is_plain;    /* no attribute of the two sides is named like a side */
    struct vec exprs; /* struct ad_expr that values may borrow from: made by functions */
    struct ad_scope inline_scopes[AD_SCOPES_INLINE];
};

void ad_evaluate(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                 struct ad_value *ret);

struct ad_regex;

struct ad_found {
    const struct ad_expr *expr; /* NULL: in the body of an ad (never from ad_find_reference()) */
    const struct ad_body *body;
    uint32_t place;
    uint32_t scope; /* where it was found, and is evaluated */
};

/* The expression of an attribute; undefined when it is being evaluated already. */
void ad_evaluate_found(struct ad_evaluator *ev, const struct ad_found *found, struct ad_value *ret);
void ad_evaluate_reference(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                           struct ad_value *ret);

/* The same for what nearly all references are: x, MY.x, TARGET.x of the two sides, found there.
 * False: it is another one, nothing was done. */
bool ad_evaluate_plain(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                       struct ad_value *ret);

enum ad_found_kind { AD_FOUND_NOTHING, AD_FOUND_EXPR, AD_FOUND_AD, AD_FOUND_TIME };

/* What a name means, looked up from `scope` upward.  AD_FOUND_AD: a word for a side, only
 * ret->scope is set; AD_FOUND_TIME: CurrentTime. */
enum ad_found_kind ad_find_upward(const struct ad_evaluator *ev, uint32_t scope,
                                  const struct ad_name *name, enum ad_special special,
                                  struct ad_found *ret);

/* The attribute that a reference means, without evaluating it; false when it is none.  *at is where
 * the search ended: there HTCondor evaluates what the calling function does next. */
bool ad_find_reference(struct ad_evaluator *ev, const struct ad_node *reference, uint32_t scope,
                       struct ad_found *ret, uint32_t *at);

bool ad_evaluator_fail(struct ad_evaluator *ev); /* a limit is crossed; returns false */
/* Memory for results; NULL when the limit is crossed, which has marked the evaluation as failed. */
void *ad_evaluator_alloc(struct ad_evaluator *ev, size_t size);
/* Costs that ad_evaluate() does not see: comparisons, bytes, and the like. */
bool ad_evaluator_spend(struct ad_evaluator *ev, size_t steps);
/* A compiled pattern, whose making is charged; kept in the pool of my or of target for the next
 * evaluation if one of them is in a pool.  Options and NULL as ad_regex_create(); ends with
 * ad_evaluator_regex_done(). */
struct ad_regex *ad_evaluator_regex(struct ad_evaluator *ev, const char *pattern, size_t length,
                                    const char *options);
void ad_evaluator_regex_done(struct ad_evaluator *ev, struct ad_regex *regex);
/* expr is taken and lives as long as the result. */
void ad_evaluator_keep(struct ad_evaluator *ev, struct ad_expr *expr);
uint32_t ad_evaluator_scope(struct ad_evaluator *ev, const struct ad *ad, uint32_t parent);

/* Evaluates an element as functions do: its names are looked up from `scope`, where the function is
 * called; a list or an ad keeps the place where it was written. */
void ad_item_from(struct ad_evaluator *ev, const struct ad_value *list, uint32_t index,
                  uint32_t scope, struct ad_value *ret);
/* The same for any expression, which was written at `written`. */
void ad_evaluate_from(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                      uint32_t written, struct ad_value *ret);

/* ---- results ---- */

static inline void ad_is(struct ad_value *ret, enum ad_type type)
{
    ret->type = type; /* undefined or error */
}

static inline void ad_is_bool(struct ad_value *ret, bool boolean)
{
    ret->type = AD_TYPE_BOOL;
    ret->boolean = boolean;
}

static inline void ad_is_int(struct ad_value *ret, int64_t integer)
{
    ret->type = AD_TYPE_INT;
    ret->integer = integer;
}

static inline void ad_is_real(struct ad_value *ret, double real)
{
    ret->type = AD_TYPE_REAL;
    ret->real = real;
}

static inline void ad_is_text(struct ad_value *ret, const char *text, size_t length) /* borrowed */
{
    ret->type = AD_TYPE_STRING;
    ret->string.text = text;
    ret->string.length = length;
}

void ad_make_string(struct ad_evaluator *ev, const char *text, size_t length,
                    struct ad_value *ret); /* copied */
void ad_make_text(struct ad_evaluator *ev, struct strbuf *buf,
                  struct ad_value *ret); /* copied; buf is finished; failed: error */

/* A list of count elements to be filled with ad_list_put(); its items are values. */
struct ad_node *ad_make_list(struct ad_evaluator *ev, uint32_t count, struct ad_value *ret);
void ad_list_put(struct ad_evaluator *ev, struct ad_node *items, uint32_t index,
                 const struct ad_value *value);

/* ---- values ---- */

struct ad_call;
void ad_arg(struct ad_evaluator *ev, const struct ad_call *call, uint32_t index,
            struct ad_value *ret);

/* Argument `index` as text.  False: *ret has been set, to undefined or error. */
bool ad_arg_string(struct ad_evaluator *ev, const struct ad_call *call, uint32_t index,
                   struct ad_value *text, struct ad_value *ret);

static inline bool ad_is_number(const struct ad_value *value) /* with booleans */
{
    return value->type == AD_TYPE_INT || value->type == AD_TYPE_REAL || value->type == AD_TYPE_BOOL;
}

static inline double ad_number(const struct ad_value *value) /* of such a value */
{
    return value->type == AD_TYPE_REAL  ? value->real
           : value->type == AD_TYPE_INT ? (double)value->integer
                                        : (double)value->boolean;
}

/* x86-64's conversion: what does not fit is INT64_MIN. */
int64_t ad_real_to_int(double real);

enum ad_truth ad_truth_of(const struct ad_value *value);

/* Unary and strict binary operators (all but && || and conditionals). */
void ad_unary(enum ad_op op, const struct ad_value *a, struct ad_value *ret);
void ad_binary(enum ad_op op, const struct ad_value *a, const struct ad_value *b,
               struct ad_value *ret);

#endif
