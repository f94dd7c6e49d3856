/* classad/ad_ops.c - unary and strict binary operators for all types.
 *
 * Strict means that error wins over undefined, and undefined over all other values.  =?= and =!=
 * are not strict: they compare undefined and error like any value.  Booleans count as 0 and 1 in
 * arithmetic and in the order.  Behaviour that tests/conformance/classad shows is kept even where
 * it is strange: a real result of +infinity is error, -infinity is not; % takes only integers;
 * integers wrap around.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_evaluator.h"

#include <math.h>
#include <string.h>

#include "classad/ad_convert.h"

enum ad_truth ad_truth_of(const struct ad_value *value)
{
    switch (value->type) {
    case AD_TYPE_BOOL:
        return value->boolean ? AD_TRUE : AD_FALSE;
    case AD_TYPE_INT:
        return value->integer != 0 ? AD_TRUE : AD_FALSE;
    case AD_TYPE_REAL:
        return value->real != 0.0 ? AD_TRUE : AD_FALSE;
    case AD_TYPE_UNDEFINED:
        return AD_UNDEFINED;
    default:
        return AD_ERROR;
    }
}

/* ---- unary ---- */

static void minus_value(const struct ad_value *a, struct ad_value *ret)
{
    switch (a->type) {
    case AD_TYPE_INT:
        ad_is_int(ret, (int64_t)(0 - (uint64_t)a->integer));
        break;
    case AD_TYPE_REAL:
    case AD_TYPE_RELTIME:
        ret->type = a->type;
        ret->real = -a->real;
        break;
    default:
        ad_is(ret, a->type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        break;
    }
}

void ad_unary(enum ad_op op, const struct ad_value *a, struct ad_value *ret)
{
    enum ad_truth truth;
    switch (op) {
    case AD_OP_MINUS:
        minus_value(a, ret);
        break;
    case AD_OP_PLUS:
        if (a->type == AD_TYPE_INT || a->type == AD_TYPE_REAL || a->type == AD_TYPE_RELTIME ||
            a->type == AD_TYPE_UNDEFINED) {
            *ret = *a;
        } else {
            ad_is(ret, AD_TYPE_ERROR);
        }
        break;
    case AD_OP_NOT:
        truth = ad_truth_of(a);
        if (truth == AD_TRUE || truth == AD_FALSE) {
            ad_is_bool(ret, truth == AD_FALSE);
        } else {
            ad_is(ret, truth == AD_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        }
        break;
    default:
        if (a->type == AD_TYPE_INT) {
            ad_is_int(ret, ~a->integer);
        } else {
            ad_is(ret, a->type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        }
        break;
    }
}

/* ---- comparison ---- */

static bool is_made(const struct ad_value *list)
{
    return list->scope == AD_SCOPE_NONE;
}

static void compare_identity(enum ad_op op, const struct ad_value *a, const struct ad_value *b,
                             struct ad_value *ret)
{
    bool same = false;
    /* HTCondor tells lists that functions made from those that were written: no type in common. */
    bool alike = a->type == b->type && (a->type != AD_TYPE_LIST || is_made(a) == is_made(b));
    if (alike) {
        switch (a->type) {
        case AD_TYPE_UNDEFINED:
        case AD_TYPE_ERROR:
            same = true;
            break;
        case AD_TYPE_BOOL:
            same = a->boolean == b->boolean;
            break;
        case AD_TYPE_INT:
            same = a->integer == b->integer;
            break;
        case AD_TYPE_REAL:
        case AD_TYPE_RELTIME:
            same = a->real == b->real;
            break;
        case AD_TYPE_STRING:
            same = a->string.length == b->string.length &&
                   memcmp(a->string.text, b->string.text, a->string.length) == 0;
            break;
        case AD_TYPE_ABSTIME:
            same = a->time.seconds == b->time.seconds && a->time.offset_s == b->time.offset_s;
            break;
        case AD_TYPE_LIST:
        case AD_TYPE_AD:
            ad_is(ret, AD_TYPE_ERROR);
            return;
        }
    }
    ad_is_bool(ret, same == (op == AD_OP_IS));
}

static void put_order(enum ad_op op, int sign, struct ad_value *ret)
{
    bool result = false;
    switch (op) {
    case AD_OP_EQ:
        result = sign == 0;
        break;
    case AD_OP_NE:
        result = sign != 0;
        break;
    case AD_OP_LT:
        result = sign < 0;
        break;
    case AD_OP_LE:
        result = sign <= 0;
        break;
    case AD_OP_GT:
        result = sign > 0;
        break;
    default:
        result = sign >= 0;
        break;
    }
    ad_is_bool(ret, result);
}

static void order_reals(enum ad_op op, double a, double b, struct ad_value *ret)
{
    if (isnan(a) || isnan(b)) {
        ad_is_bool(ret, op == AD_OP_NE);
        return;
    }
    put_order(op, a < b ? -1 : a > b, ret);
}

/* Compares two texts; for equality, without finding their order. */
static void compare_texts(enum ad_op op, const struct ad_value *a, const struct ad_value *b,
                          struct ad_value *ret)
{
    if (op == AD_OP_EQ || op == AD_OP_NE) {
        bool equal = a->string.length == b->string.length &&
                     ad_name_is(a->string.text, b->string.text, a->string.length);
        ad_is_bool(ret, equal == (op == AD_OP_EQ));
    } else {
        put_order(op, ad_name_compare(a->string.text, b->string.text), ret);
    }
}

static int64_t integer_of(const struct ad_value *value)
{
    return value->type == AD_TYPE_INT ? value->integer : value->boolean;
}

static void compare_values(enum ad_op op, const struct ad_value *a, const struct ad_value *b,
                           struct ad_value *ret)
{
    if (ad_is_number(a) && ad_is_number(b)) {
        if (a->type == AD_TYPE_REAL || b->type == AD_TYPE_REAL) {
            order_reals(op, ad_number(a), ad_number(b), ret);
        } else {
            int64_t x = integer_of(a);
            int64_t y = integer_of(b);
            put_order(op, x < y ? -1 : x > y, ret);
        }
    } else if (a->type != b->type) {
        ad_is(ret, AD_TYPE_ERROR);
    } else if (a->type == AD_TYPE_STRING) {
        compare_texts(op, a, b, ret);
    } else if (a->type == AD_TYPE_ABSTIME) {
        put_order(op, a->time.seconds < b->time.seconds ? -1 : a->time.seconds > b->time.seconds,
                  ret);
    } else if (a->type == AD_TYPE_RELTIME) {
        order_reals(op, a->real, b->real, ret);
    } else {
        ad_is(ret, AD_TYPE_ERROR);
    }
}

/* ---- arithmetic ---- */

static void integer_op(enum ad_op op, int64_t a, int64_t b, struct ad_value *ret)
{
    uint64_t x = (uint64_t)a; /* unsigned arithmetic wraps around */
    uint64_t y = (uint64_t)b;
    if ((op == AD_OP_DIV || op == AD_OP_MOD) && b == 0) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    switch (op) {
    case AD_OP_ADD:
        ad_is_int(ret, (int64_t)(x + y));
        break;
    case AD_OP_SUB:
        ad_is_int(ret, (int64_t)(x - y));
        break;
    case AD_OP_MUL:
        ad_is_int(ret, (int64_t)(x * y));
        break;
    case AD_OP_DIV:
        /* HTCondor's answer to what has none: off by one */
        ad_is_int(ret, b != -1 ? a / b : a == INT64_MIN ? INT64_MAX : -a);
        break;
    default:
        ad_is_int(ret, b == -1 ? 0 : a % b);
        break;
    }
}

static void real_op(enum ad_op op, double a, double b, struct ad_value *ret)
{
    double result = 0;
    switch (op) {
    case AD_OP_ADD:
        result = a + b;
        break;
    case AD_OP_SUB:
        result = a - b;
        break;
    case AD_OP_MUL:
        result = a * b;
        break;
    case AD_OP_DIV:
        result = a / b;
        break;
    default:
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    if (result == HUGE_VAL) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    ad_is_real(ret, result);
}

static void is_reltime(struct ad_value *ret, double seconds)
{
    ret->type = AD_TYPE_RELTIME;
    ret->real = seconds;
}

static void is_abstime(struct ad_value *ret, const struct ad_value *from, double shift, bool back)
{
    struct ad_value span; /* HTCondor adds an int */
    ad_is_real(&span, shift);
    uint64_t shift_s = (uint64_t)(int64_t)ad_to_int32(&span);
    shift_s = back ? 0 - shift_s : shift_s;
    int64_t seconds = (int64_t)((uint64_t)from->time.seconds + shift_s);
    int32_t offset_s = from->time.offset_s;
    ret->type = AD_TYPE_ABSTIME;
    ret->time.seconds = seconds;
    ret->time.offset_s = offset_s;
}

/* a factor of a duration: a number, not a boolean */
static bool is_factor(const struct ad_value *value)
{
    return value->type == AD_TYPE_INT || value->type == AD_TYPE_REAL;
}

static void time_op(enum ad_op op, const struct ad_value *a, const struct ad_value *b,
                    struct ad_value *ret)
{
    bool a_moment = a->type == AD_TYPE_ABSTIME;
    bool b_moment = b->type == AD_TYPE_ABSTIME;
    bool a_span = a->type == AD_TYPE_RELTIME;
    bool b_span = b->type == AD_TYPE_RELTIME;
    if (op == AD_OP_SUB && a_moment && b_moment) {
        is_reltime(ret, (double)(int64_t)((uint64_t)a->time.seconds - (uint64_t)b->time.seconds));
    } else if ((op == AD_OP_ADD || op == AD_OP_SUB) && a_moment && b_span) {
        is_abstime(ret, a, b->real, op == AD_OP_SUB);
    } else if (op == AD_OP_ADD && a_span && b_moment) {
        is_abstime(ret, b, a->real, false);
    } else if ((op == AD_OP_ADD || op == AD_OP_SUB) && a_span && b_span) {
        is_reltime(ret, op == AD_OP_ADD ? a->real + b->real : a->real - b->real);
    } else if ((op == AD_OP_MUL || op == AD_OP_DIV) && a_span && is_factor(b)) {
        is_reltime(ret, op == AD_OP_MUL ? a->real * ad_number(b) : a->real / ad_number(b));
    } else if (op == AD_OP_MUL && b_span && is_factor(a)) {
        is_reltime(ret, ad_number(a) * b->real);
    } else {
        ad_is(ret, AD_TYPE_ERROR);
    }
}

static void arithmetic_op(enum ad_op op, const struct ad_value *a, const struct ad_value *b,
                          struct ad_value *ret)
{
    if (!ad_is_number(a) || !ad_is_number(b)) {
        time_op(op, a, b, ret);
    } else if (a->type == AD_TYPE_REAL || b->type == AD_TYPE_REAL) {
        real_op(op, ad_number(a), ad_number(b), ret);
    } else {
        integer_op(op, integer_of(a), integer_of(b), ret);
    }
}

static void bit_op(enum ad_op op, const struct ad_value *a, const struct ad_value *b,
                   struct ad_value *ret)
{
    if (a->type != AD_TYPE_INT || b->type != AD_TYPE_INT) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    uint64_t x = (uint64_t)a->integer;
    uint64_t y = (uint64_t)b->integer;
    unsigned count = (unsigned)(y & 63); /* as x86-64 shifts */
    bool negative = a->integer < 0;
    switch (op) {
    case AD_OP_BIT_AND:
        x &= y;
        break;
    case AD_OP_BIT_OR:
        x |= y;
        break;
    case AD_OP_BIT_XOR:
        x ^= y;
        break;
    case AD_OP_SHL:
        x <<= count;
        break;
    case AD_OP_USHR: /* of a negative one HTCondor shifts by one and then by the rest */
        x = negative ? x >> 1 >> ((y - 1) & 63) : x >> count;
        break;
    default: /* keeps the sign; a negative one it shifts bit by bit, so that no count wraps */
        x = !negative ? x >> count : b->integer <= 0 ? x : b->integer > 63 ? ~0ull : ~(~x >> count);
        break;
    }
    ad_is_int(ret, (int64_t)x);
}

void ad_binary(enum ad_op op, const struct ad_value *a, const struct ad_value *b,
               struct ad_value *ret)
{
    if (op == AD_OP_IS || op == AD_OP_ISNT) {
        compare_identity(op, a, b, ret);
    } else if (a->type == AD_TYPE_ERROR || b->type == AD_TYPE_ERROR) {
        ad_is(ret, AD_TYPE_ERROR);
    } else if (a->type == AD_TYPE_UNDEFINED || b->type == AD_TYPE_UNDEFINED) {
        ad_is(ret, AD_TYPE_UNDEFINED);
    } else if (op >= AD_OP_EQ && op <= AD_OP_GE) {
        compare_values(op, a, b, ret);
    } else if (op >= AD_OP_ADD && op <= AD_OP_MOD) {
        arithmetic_op(op, a, b, ret);
    } else {
        bit_op(op, a, b, ret);
    }
}
