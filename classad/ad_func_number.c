/* classad/ad_func_number.c - built-ins that make and change numbers.
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
    bool span = value.type == AD_TYPE_RELTIME;
    if (ad_to_number(&value, ret)) {
        ad_is_real(ret, span ? trunc(ret->real)
                             : ad_number(ret)); /* a duration loses its fraction, as in HTCondor */
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
        ad_is_bool(ret, value.real != 0);
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
    ad_make_text(ev, &text, ret);
}

/* floor, ceiling, round (to even): integers. */
void ad_func_round(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    ad_arg(ev, call, 0, &value);
    if (!ad_to_number(&value, ret) || ret->type == AD_TYPE_INT) {
        if (ret->type == AD_TYPE_UNDEFINED) {
            ad_is(ret, AD_TYPE_UNDEFINED);
        }
        return;
    }
    double real = ret->real;
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
        ad_is_int(ret, ad_real_to_int(result));
    } else {
        ad_is_real(ret, result);
    }
}

/* The least multiple of quantum that is not below value. */
static void multiple(const struct ad_value *value, const struct ad_value *quantum,
                     struct ad_value *ret)
{
    struct ad_value x;
    struct ad_value q;
    if (!ad_to_number(value, &x) || !ad_to_number(quantum, &q)) {
        ad_is(ret, AD_TYPE_ERROR);
    } else if (ad_number(&q) == 0.0) {
        *ret = *value;
    } else if (value->type == AD_TYPE_INT && quantum->type == AD_TYPE_INT) {
        struct ad_value sum;
        ad_is_int(&sum, (int64_t)((uint64_t)x.integer + (uint64_t)q.integer - 1));
        ad_binary(AD_OP_DIV, &sum, &q, ret); /* wraps around without a trap */
        struct ad_value times = *ret;
        ad_binary(AD_OP_MUL, &times, &q, ret);
    } else {
        ad_is_real(ret, ceil(ad_number(&x) / ad_number(&q)) * ad_number(&q));
    }
}

void ad_func_quantize(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    struct ad_value quantum;
    ad_arg(ev, call, 0, &value);
    ad_arg(ev, call, 1, &quantum);
    if (quantum.type != AD_TYPE_LIST) {
        multiple(&value, &quantum, ret);
        return;
    }
    struct ad_value number;
    struct ad_value step = value; /* of an empty list: the value itself */
    if (!ad_to_number(&value, &number)) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    for (uint32_t i = 0; i < quantum.list->count; i++) {
        struct ad_value size;
        ad_item(ev, &quantum, i, &step);
        if (!ad_to_number(&step, &size)) {
            ad_is(ret, AD_TYPE_ERROR);
            return;
        }
        if (ad_number(&size) >= ad_number(&number)) {
            *ret = step;
            return;
        }
    }
    multiple(&value, &step, ret);
}

/* xorshift64*: the state is the caller's, so that runs repeat. */
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
    if (limit.type == AD_TYPE_REAL) {
        ad_is_real(ret, (double)(bits >> 11) * 0x1p-53 * limit.real);
    } else if (limit.integer <= 0) {
        ad_is(ret, AD_TYPE_ERROR);
    } else {
        ad_is_int(ret, (int64_t)(bits % (uint64_t)limit.integer));
    }
}
