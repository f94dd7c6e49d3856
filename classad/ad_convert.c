/* classad/ad_convert.c - values of one type as another.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_convert.h"

#include <errno.h>
#include <math.h>
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
        ad_time_print_relative(trunc(value->real), out); /* whole seconds, as in HTCondor */
        break;
    default:
        ad_value_print(value, out);
        break;
    }
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool ad_text_to_number(const char *text, size_t length, struct ad_value *ret)
{
    (void)length; /* the text is zero-terminated: what follows is for strtod */
    char *end;
    while (is_blank(*text)) {
        text++;
    }
    double real = strtod(text, &end);
    if (end == text) {
        return false;
    }
    const char *rest = end;
    while (is_blank(*rest)) {
        rest++;
    }
    if (*rest != '\0') {
        return false;
    }
    size_t digits = strspn(text + (*text == '-' || *text == '+'), "0123456789");
    if (text + (*text == '-' || *text == '+') + digits == end) {
        errno = 0;
        long long integer = strtoll(text, NULL, 10);
        if (errno == 0) {
            ad_is_int(ret, integer);
            return true;
        }
    }
    ad_is_real(ret, real);
    return true;
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
    case AD_TYPE_RELTIME:
        ad_is_real(ret, value->real);
        return true;
    case AD_TYPE_STRING:
        if (ad_text_to_number(value->string.text, value->string.length, ret)) {
            return true;
        }
        ad_is(ret, AD_TYPE_ERROR);
        return false;
    default:
        ad_is(ret, value->type == AD_TYPE_UNDEFINED ? AD_TYPE_UNDEFINED : AD_TYPE_ERROR);
        return false;
    }
}
