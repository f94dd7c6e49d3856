/* classad/ad_func_number.c - built-in functions that make and change numbers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad_convert.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_func_variants.h"

void ad_func_int(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    ad_arg(ev, call, 0, &value);
    if (ad_to_number(&value, ret) && ret->type == AD_TYPE_REAL) {
        ad_is_int(ret, ad_real_to_int(ret->real));
    }
}

void ad_func_real(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    ad_arg(ev, call, 0, &value);
    if (ad_to_number(&value, ret)) {
        ad_is_real(ret, ad_number(ret));
    }
}

void ad_func_bool(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    ad_arg(ev, call, 0, &value);
    switch (value.type) {
    case AD_TYPE_STRING:
        if (ad_name_compare(value.string.text, "true") == 0 ||
            ad_name_compare(value.string.text, "false") == 0) {
            ad_is_bool(ret, ad_lower(value.string.text[0]) == 't');
        } else {
            ad_is(ret, AD_TYPE_UNDEFINED);
        }
        break;
    case AD_TYPE_RELTIME:
        ad_is_bool(ret, ad_real_to_int(value.real) != 0); /* whole seconds */
        break;
    case AD_TYPE_UNDEFINED:
        ad_is(ret, AD_TYPE_UNDEFINED);
        break;
    default:
        if (ad_is_number(&value)) {
            ad_is_bool(ret, ad_truth_of(&value) == AD_TRUE);
        } else {
            ad_is(ret, AD_TYPE_ERROR);
        }
        break;
    }
}

void ad_func_string(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    ad_arg(ev, call, 0, &value);
    if (value.type == AD_TYPE_STRING || value.type == AD_TYPE_UNDEFINED ||
        value.type == AD_TYPE_ERROR) {
        *ret = value;
        return;
    }
    struct strbuf text;
    strbuf_init(&text, AD_STRING_MAX);
    ad_text_of(&value, &text);
    ad_charge_print(ev, &value, text.length);
    ad_make_text(ev, &text, ret);
}

/* floor, ceiling, round (halves to even); the result is an integer. */
void ad_func_round(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    ad_arg(ev, call, 0, &value);
    if (value.type == AD_TYPE_INT) {
        *ret = value;
        return;
    }
    if (!ad_to_number(&value, ret)) {
        ad_is(ret, AD_TYPE_ERROR); /* of undefined, too */
        return;
    }
    double real = ad_number(ret);
    real = call->variant == AD_ROUND_DOWN ? floor(real)
           : call->variant == AD_ROUND_UP ? ceil(real)
                                          : rint(real);
    ad_is_int(ret, ad_real_to_int(real));
}

void ad_func_pow(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value base;
    struct ad_value exponent;
    ad_arg(ev, call, 0, &base);
    ad_arg(ev, call, 1, &exponent);
    bool integers =
        base.type == AD_TYPE_INT && exponent.type == AD_TYPE_INT && exponent.integer >= 0;
    struct ad_value x;
    struct ad_value y;
    if (!ad_to_number(&base, &x) || !ad_to_number(&exponent, &y)) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    double result = pow(ad_number(&x), ad_number(&y));
    if (integers) {
        ad_is_int(ret, ad_real_to_int(result + 0.5)); /* so that pow(-2, 3) is -7, as in HTCondor */
    } else {
        ad_is_real(ret, result);
    }
}

#define QUANTUM_LEAST 1e-8 /* a smaller real quantum changes nothing */

/* Sets *ret to the least multiple of quantum that is at least value; x and q are their numbers. */
static void put_multiple(const struct ad_value *value, double x, const struct ad_value *quantum,
                         double q, struct ad_value *ret)
{
    if (quantum->type == AD_TYPE_INT ? quantum->integer == 0 : fabs(q) <= QUANTUM_LEAST) {
        *ret = *value;
    } else if (value->type == AD_TYPE_INT && quantum->type == AD_TYPE_INT) {
        struct ad_value sum;
        struct ad_value times;
        ad_is_int(&sum, (int64_t)((uint64_t)value->integer + (uint64_t)quantum->integer - 1));
        ad_binary(AD_OP_DIV, &sum, quantum, &times); /* wraps around without a trap */
        ad_binary(AD_OP_MUL, &times, quantum, ret);
    } else {
        ad_is_real(ret, ceil(x / q) * q);
    }
}

static bool real_of(const struct ad_value *value, double *ret)
{
    struct ad_value number;
    bool good = ad_to_number(value, &number);
    *ret = good ? ad_number(&number) : 0;
    return good;
}

/* quantize(value, quantum), quantize(value, list).  With a list: the first element that is at least
 * value, else a multiple of the last element; an empty list changes nothing. */
void ad_func_quantize(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    struct ad_value quantum;
    double x;
    double q = 0;
    ad_arg(ev, call, 0, &value);
    ad_arg(ev, call, 1, &quantum);
    bool good = real_of(&value, &x);
    if (quantum.type == AD_TYPE_LIST) {
        struct ad_value list = quantum;
        ad_is_real(&quantum, 0);
        for (uint32_t i = 0; good && i < list.list->count; i++) {
            ad_item_from(ev, &list, i, call->scope, &quantum);
            good = real_of(&quantum, &q);
            if (good && q >= x) {
                *ret = quantum;
                return;
            }
        }
    } else {
        good = good && real_of(&quantum, &q);
    }
    if (good) {
        put_multiple(&value, x, &quantum, q, ret);
    } else {
        ad_is(ret, AD_TYPE_ERROR);
    }
}

/* Returns the next number of xorshift64*.  The caller has the state, so that runs can be
 * repeated. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state != 0 ? *state : 0x9e3779b97f4a7c15u;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 0x2545f4914f6cdd1du;
}

void ad_func_random(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value limit;
    ad_is_real(&limit, 1.0);
    if (call->count > 0) {
        ad_arg(ev, call, 0, &limit);
    }
    if (limit.type != AD_TYPE_INT && limit.type != AD_TYPE_REAL) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    if (ev->context == NULL || ev->context->random_state == NULL) {
        ad_is(ret, AD_TYPE_UNDEFINED);
        return;
    }
    if (ev->context->is_timely != NULL) {
        *ev->context->is_timely = true;
    }
    uint64_t bits = next_random(ev->context->random_state);
    if (limit.type == AD_TYPE_REAL && !(limit.real <= 0)) {
        ad_is_real(ret, (double)(bits >> 11) * 0x1p-53 * limit.real);
    } else if (limit.type == AD_TYPE_INT && limit.integer > 0) {
        ad_is_int(ret, (int64_t)(bits % (uint64_t)limit.integer));
    } else {
        ad_is(ret, AD_TYPE_ERROR);
    }
}
