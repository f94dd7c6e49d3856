/* classad/ad_convert.c - converts values of one type to another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_convert.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_time.h"

void ad_text_of(const struct ad_value *value, struct strbuf *out)
{
    switch (value->type) {
    case AD_TYPE_STRING:
        strbuf_append(out, value->string.text, value->string.length);
        break;
    case AD_TYPE_ABSTIME:
        ad_time_print_absolute(value->time.seconds, value->time.offset_s, out);
        break;
    case AD_TYPE_RELTIME:
        /* whole seconds, as in HTCondor */
        ad_time_print_relative((double)ad_real_to_int(value->real), out);
        break;
    default:
        ad_value_print(value, out);
        break;
    }
}

void ad_charge_print(struct ad_evaluator *ev, const struct ad_value *value, size_t bytes)
{
    if (value->type != AD_TYPE_STRING) {
        (void)ad_evaluator_spend(ev, bytes / AD_PRINT_BYTES_A_STEP); /* error if too much */
    }
}

bool ad_text_to_real(const char *text, double *ret)
{
    char *end;
    double real = strtod(text, &end);
    if (end == text) {
        return false;
    }
    *ret = real;
    return true;
}

int32_t ad_to_int32(const struct ad_value *number)
{
    if (number->type == AD_TYPE_INT) {
        return (int32_t)(uint32_t)(uint64_t)number->integer;
    }
    double real = number->real;
    return real > -2147483649.0 && real < 2147483648.0 ? (int32_t)real : INT32_MIN;
}

bool ad_to_number(const struct ad_value *value, struct ad_value *ret)
{
    switch (value->type) {
    case AD_TYPE_INT:
    case AD_TYPE_REAL:
        *ret = *value;
        return true;
    case AD_TYPE_BOOL:
        ad_is_int(ret, value->boolean);
        return true;
    case AD_TYPE_ABSTIME:
        ad_is_int(ret, value->time.seconds);
        return true;
    case AD_TYPE_RELTIME: /* whole seconds */
        ad_is_real(ret, (double)ad_real_to_int(value->real));
        return true;
    case AD_TYPE_STRING:
        ad_is_real(ret, 0);
        if (ad_text_to_real(value->string.text, &ret->real)) {
            return true;
        }
        ad_is(ret, AD_TYPE_ERROR);
        return false;
    default:
        ad_is(ret, value->type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        return false;
    }
}
