/* classad/ad_evaluator.h - the state of one evaluation; for ad_eval.c, operators and functions.
 *
 * Values inside an evaluation borrow from the expressions, from the ads, or from the evaluator's
 * arena, which is created when the first string or list must be made.  At the end the arena is
 * handed over to the resulting value, or destroyed.
 *
 * A scope is an ad together with the scopes where its names are looked up next.  Lists and ads in
 * values carry the number of the scope in which they were written; scopes are added, never removed.
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
    /* the scope above AD_SCOPE_MY; it has no ad, and the only names in it are MY and TARGET */
    AD_SCOPE_MY_SIDE,
    AD_SCOPE_TARGET_SIDE,
    /* the scope above AD_SCOPE_MY_SIDE and AD_SCOPE_TARGET_SIDE; it has no ad, and the only names
     * in it are LEFT and RIGHT */
    AD_SCOPE_MATCH,
    AD_SCOPE_FIRST_FREE,
};

struct ad_scope {
    const struct ad *ad; /* NULL: a scope without an ad, or a side that was not given */
    uint32_t parent;
    /* the outermost scope around this one; if no scope is above this one: this scope itself */
    uint32_t root;
    /* If this is the scope of one of the two ads of a match: the scope of the other ad.  A name x
     * is looked up there when neither this scope nor a scope above it has x.  Else AD_SCOPE_NONE.
     */
    uint32_t other;
};

#define AD_SCOPES_INLINE 8

/* How many bytes of text cost an evaluation one step.  A step is about the work of visiting one
 * node of an expression. */
#define AD_TEXT_BYTES_A_STEP 64 /* bytes compared, or copied unchanged, in one step */
/* bytes copied in small parts, or examined one by one, in one step */
#define AD_JOIN_BYTES_A_STEP  16
#define AD_PRINT_BYTES_A_STEP 3 /* bytes printed from lists and ads, in one step */
#define AD_PARSE_STEPS_A_BYTE 2 /* steps for each byte of a text that eval() parses */

/* an attribute that is being evaluated now; the list of all of them is searched to detect an
 * attribute that refers back to itself */
struct ad_active {
    const struct ad_active *up;
    const struct ad_node *node;
    const struct ad *ad;
};

struct ad_evaluator {
    const struct ad_context *context;
    struct arena *arena; /* memory for the values' strings and lists; NULL until needed */
    const struct ad_active *active;
    struct ad_scope *scopes;
    uint32_t scope_count;
    uint32_t scope_capacity;
    uint32_t steps_given; /* steps_left when the evaluation began */
    uint32_t steps_left;
    /* Set while an element of a list or ad value is evaluated: the steps that were left when the
     * value was made.  All evaluations of its elements share these steps, so that a list of a
     * thousand costly elements costs no more than one evaluation may.  NULL in other evaluations.
     */
    uint32_t *shared_steps;
    uint32_t depth;
    bool failed; /* a limit was exceeded: the whole result is error */
    /* No attribute of the two ads of the match is called MY, TARGET or by another word of enum
     * ad_special, so these words need no lookup.  False also when this is not known. */
    bool is_plain;
    /* struct ad_expr *: expressions made by functions; kept because values may borrow from them */
    struct vec exprs;
    struct ad_scope inline_scopes[AD_SCOPES_INLINE];
};

void ad_evaluate(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                 struct ad_value *ret);

struct ad_regex;

struct ad_found {
    /* expression of the attribute; NULL: its value is in `body`, at `place` (ad_find_reference()
     * always sets expr) */
    const struct ad_expr *expr;
    const struct ad_body *body;
    uint32_t place;
    uint32_t scope; /* the scope where the attribute was found and is evaluated */
};

/* Evaluates the attribute that *found describes; *ret is undefined when this attribute is already
 * being evaluated. */
void ad_evaluate_found(struct ad_evaluator *ev, const struct ad_found *found, struct ad_value *ret);
void ad_evaluate_reference(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                           struct ad_value *ret);

/* Does the work of ad_evaluate_reference() fast for the usual cases: x, MY.x and TARGET.x that one
 * of the two sides has.  Returns true; false when node is not one of these cases, with *ret
 * unchanged. */
bool ad_evaluate_plain(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                       struct ad_value *ret);

enum ad_found_kind { AD_FOUND_NOTHING, AD_FOUND_EXPR, AD_FOUND_AD, AD_FOUND_TIME };

/* Looks a name up in `scope`, then in the scopes above it.  special: what ad_name_special() returns
 * for the name.  Returns AD_FOUND_NOTHING: none of these scopes has the name; AD_FOUND_EXPR: an
 * attribute, *ret is set; AD_FOUND_AD: the name is a word for an ad, such as MY, and only
 * ret->scope is set; AD_FOUND_TIME: the name is CurrentTime. */
enum ad_found_kind ad_find_upward(const struct ad_evaluator *ev, uint32_t scope,
                                  const struct ad_name *name, enum ad_special special,
                                  struct ad_found *ret);

/* Finds the attribute that a reference means, without evaluating the attribute, and sets *ret;
 * false when there is none.  *at is set to the scope where the search ended, because HTCondor
 * evaluates the next argument of a function that searches (evalInEachContext() and others) in that
 * scope. */
bool ad_find_reference(struct ad_evaluator *ev, const struct ad_node *reference, uint32_t scope,
                       struct ad_found *ret, uint32_t *at);

/* marks the evaluation as failed because a limit was exceeded; returns false */
bool ad_evaluator_fail(struct ad_evaluator *ev);
/* Allocates memory for results.  Returns NULL when AD_EVAL_BYTES_MAX is exceeded; the evaluation is
 * then marked failed. */
void *ad_evaluator_alloc(struct ad_evaluator *ev, size_t size);
/* Charges steps that ad_evaluate() does not see, such as comparisons and bytes.  Returns true;
 * false when the evaluation has no steps left and is now marked failed. */
bool ad_evaluator_spend(struct ad_evaluator *ev, size_t steps);
/* Compiles a regular expression (options as for ad_regex_create()), or takes it from the cache of
 * the pool of ads (ad_pool.h) that my or target is in, and charges the steps of compiling to the
 * evaluation.  Returns NULL when the pattern is wrong or too long, or when the evaluation has no
 * steps left.  Give the pattern back with ad_evaluator_regex_done(), which puts it into that cache,
 * if any. */
struct ad_regex *ad_evaluator_regex(struct ad_evaluator *ev, const char *pattern, size_t length,
                                    const char *options);
void ad_evaluator_regex_done(struct ad_evaluator *ev, struct ad_regex *regex);
/* Takes ownership of expr and keeps it as long as the value lives that the evaluation returns. */
void ad_evaluator_keep(struct ad_evaluator *ev, struct ad_expr *expr);
uint32_t ad_evaluator_scope(struct ad_evaluator *ev, const struct ad *ad, uint32_t parent);

/* Evaluates element `index` of list for a built-in function that is called in `scope`: names in the
 * element are looked up in `scope`.  But names in an element that is itself a list or an ad are
 * looked up in the scope in which the element was written. */
void ad_item_from(struct ad_evaluator *ev, const struct ad_value *list, uint32_t index,
                  uint32_t scope, struct ad_value *ret);
/* Evaluates an expression for a built-in function that is called in `scope`: names in the
 * expression are looked up in `scope`.  But names in an expression that is a list or an ad are
 * looked up in `written`, the scope in which the expression was written. */
void ad_evaluate_from(struct ad_evaluator *ev, const struct ad_node *node, uint32_t scope,
                      uint32_t written, struct ad_value *ret);

/* ---- results ---- */

/* Sets *ret to undefined or to error; type is AD_TYPE_UNDEFINED or AD_TYPE_ERROR. */
static inline void ad_is(struct ad_value *ret, enum ad_type type)
{
    ret->type = type;
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

/* Sets *ret to a string value that borrows text. */
static inline void ad_is_text(struct ad_value *ret, const char *text, size_t length)
{
    ret->type = AD_TYPE_STRING;
    ret->string.text = text;
    ret->string.length = length;
}

/* Converts a literal node into the value that evaluation yields.  A literal relTime("...") yields
 * its seconds as a real number, as in HTCondor.  The default case is for the literals undefined and
 * error. */
static inline void ad_literal_value(const struct ad_node *literal, struct ad_value *ret)
{
    switch ((enum ad_kind)literal->kind) {
    case AD_NODE_BOOL:
        ad_is_bool(ret, literal->boolean);
        break;
    case AD_NODE_INT:
        ad_is_int(ret, literal->integer);
        break;
    case AD_NODE_REAL:
    case AD_NODE_RELTIME:
        ad_is_real(ret, literal->real);
        break;
    case AD_NODE_STRING:
        ad_is_text(ret, literal->text, literal->count);
        break;
    case AD_NODE_ABSTIME:
        ret->type = AD_TYPE_ABSTIME;
        ret->time.seconds = literal->integer;
        ret->time.offset_s = (int32_t)literal->count;
        break;
    default:
        ret->type = (enum ad_type)literal->kind;
        break;
    }
}

/* Sets *ret to a string value with a copy of text. */
void ad_make_string(struct ad_evaluator *ev, const char *text, size_t length, struct ad_value *ret);
/* Sets *ret to a string value with a copy of the text in buf, and releases buf (strbuf_fini()); if
 * buf has failed, *ret is error. */
void ad_make_text(struct ad_evaluator *ev, struct strbuf *buf, struct ad_value *ret);

/* Sets *ret to a list of count elements.  Returns the array of elements, which the caller fills
 * with ad_list_put(); or NULL with *ret error when a limit is exceeded. */
struct ad_node *ad_make_list(struct ad_evaluator *ev, uint32_t count, struct ad_value *ret);
void ad_list_put(struct ad_evaluator *ev, struct ad_node *items, uint32_t index,
                 const struct ad_value *value);

/* ---- values ---- */

struct ad_call;
void ad_arg(struct ad_evaluator *ev, const struct ad_call *call, uint32_t index,
            struct ad_value *ret);

/* Evaluates argument `index`, which must be a string, and sets *text to its value.  Returns true;
 * or, when the argument is not a string, false with *ret undefined or error. */
bool ad_arg_string(struct ad_evaluator *ev, const struct ad_call *call, uint32_t index,
                   struct ad_value *text, struct ad_value *ret);

/* Evaluates all arguments of call into args[].  Returns false when an argument is error (*ret is
 * then error), or else when an argument is undefined (*ret is then undefined). */
bool ad_args_strict(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *args,
                    struct ad_value *ret);

/* Returns whether value is an integer, a real or a boolean. */
static inline bool ad_is_number(const struct ad_value *value)
{
    return value->type == AD_TYPE_INT || value->type == AD_TYPE_REAL || value->type == AD_TYPE_BOOL;
}

/* Returns the number as a double; ad_is_number(value) must be true. */
static inline double ad_number(const struct ad_value *value)
{
    return value->type == AD_TYPE_REAL  ? value->real
           : value->type == AD_TYPE_INT ? (double)value->integer
                                        : (double)value->boolean;
}

/* Converts real to an integer as x86-64 does: drops the fraction; INT64_MIN when it does not fit.
 */
static inline int64_t ad_real_to_int(double real)
{
    if (!(real >= -9223372036854775808.0 && real < 9223372036854775808.0)) {
        return INT64_MIN;
    }
    return (int64_t)real;
}

enum ad_truth ad_truth_of(const struct ad_value *value);

/* Sets *ret to the result of a unary operator applied to a. */
void ad_unary(enum ad_op op, const struct ad_value *a, struct ad_value *ret);
/* Sets *ret to the result of a binary operator applied to a and b; op is any but && and ||, which
 * may need only one side. */
void ad_binary(enum ad_op op, const struct ad_value *a, const struct ad_value *b,
               struct ad_value *ret);

#endif
