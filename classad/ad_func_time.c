/* classad/ad_func_time.c - built-in functions on times.  The current time and the time zone come
 * from the context.
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
#include "classad/ad_time.h"

static void note_timely(const struct ad_evaluator *ev)
{
    if (ev->context != NULL && ev->context->is_timely != NULL) {
        *ev->context->is_timely = true;
    }
}

static int32_t zone_offset(const struct ad_evaluator *ev, int64_t at_s)
{
    note_timely(ev);
    if (ev->context == NULL || ev->context->zone_offset_s == NULL) {
        return 0;
    }
    return ev->context->zone_offset_s(ev->context->arg, at_s);
}

static void is_abstime(struct ad_value *ret, int64_t seconds, int32_t offset_s)
{
    ret->type = AD_TYPE_ABSTIME;
    ret->time.seconds = seconds;
    ret->time.offset_s = offset_s;
}

static void is_reltime(struct ad_value *ret, double seconds)
{
    ret->type = AD_TYPE_RELTIME;
    ret->real = seconds;
}

/* time, currentTime, dayTime, timeZoneOffset */
void ad_func_time(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    if (ev->context == NULL) {
        ad_is(ret, AD_TYPE_UNDEFINED);
        return;
    }
    int64_t now = ev->context->now_s;
    int32_t offset = zone_offset(ev, now);
    int64_t local = now + offset;
    switch ((enum ad_time_kind)call->variant) {
    case AD_TIME_NOW:
        ad_is_int(ret, now);
        break;
    case AD_TIME_CURRENT:
        is_abstime(ret, now, offset);
        break;
    case AD_TIME_DAY:
        is_reltime(ret, (double)(((local % 86400) + 86400) % 86400));
        break;
    case AD_TIME_ZONE:
        is_reltime(ret, offset);
        break;
    }
}

/* Reads the zone in the second argument of absTime(); false when it is not a zone. */
static bool zone_arg(struct ad_evaluator *ev, const struct ad_call *call, int32_t *offset_s)
{
    struct ad_value value;
    ad_arg(ev, call, 1, &value);
    if (value.type == AD_TYPE_RELTIME) {
        ad_is_int(&value, ad_real_to_int(value.real));
    }
    if (value.type != AD_TYPE_INT && value.type != AD_TYPE_REAL) {
        return false;
    }
    *offset_s = ad_to_int32(&value);
    return true;
}

/* absTime(), absTime(moment[, zone]).  Without a zone, the local one is used. */
void ad_func_abstime(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    int32_t offset_s = 0;
    int64_t seconds;
    if (call->count == 0) {
        if (ev->context != NULL) {
            is_abstime(ret, ev->context->now_s, zone_offset(ev, ev->context->now_s));
        }
        return;
    }
    ad_arg(ev, call, 0, &value);
    if (call->count > 1 && !zone_arg(ev, call, &offset_s)) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    switch (value.type) {
    case AD_TYPE_INT:
    case AD_TYPE_REAL:
        seconds = value.type == AD_TYPE_INT ? value.integer : ad_real_to_int(value.real);
        break;
    case AD_TYPE_RELTIME:
        seconds = ad_real_to_int(value.real);
        break;
    case AD_TYPE_ABSTIME:
    case AD_TYPE_STRING: /* HTCondor gives the text back as it is */
    case AD_TYPE_UNDEFINED:
        *ret = value;
        return;
    default:
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    if (call->count == 1) {
        offset_s = zone_offset(ev, seconds);
    }
    if (value.type == AD_TYPE_INT && offset_s == -1) {
        ad_is(ret, AD_TYPE_ERROR); /* so HTCondor marks a zone that it could not find */
    } else {
        is_abstime(ret, seconds, offset_s);
    }
}

void ad_func_reltime(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    ad_arg(ev, call, 0, &value);
    switch (value.type) {
    case AD_TYPE_INT:
        is_reltime(ret, (double)value.integer);
        break;
    case AD_TYPE_REAL:
        is_reltime(ret, value.real);
        break;
    case AD_TYPE_ABSTIME:
        is_reltime(ret, (double)value.time.seconds);
        break;
    case AD_TYPE_STRING: /* only the literal form reads a text */
        is_reltime(ret, 0);
        break;
    case AD_TYPE_RELTIME:
    case AD_TYPE_UNDEFINED:
        *ret = value;
        break;
    default:
        ad_is(ret, AD_TYPE_ERROR);
        break;
    }
}

/* interval(seconds): "days+hh:mm:ss", without leading parts that are zero. */
void ad_func_interval(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    struct ad_value number;
    ad_arg(ev, call, 0, &value);
    if (!ad_to_number(&value, &number)) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    if (number.type == AD_TYPE_REAL) {
        ad_is_int(&number, ad_real_to_int(number.real));
    }
    int64_t seconds = ad_to_int32(&number);
    struct strbuf text;
    strbuf_init(&text, AD_STRING_MAX);
    if (seconds < 0) {
        strbuf_putc(&text, '-');
        seconds = -seconds;
    }
    long long days = (long long)(seconds / 86400);
    int hours = (int)(seconds / 3600 % 24);
    int minutes = (int)(seconds / 60 % 60);
    int rest = (int)(seconds % 60);
    if (days > 0) {
        strbuf_printf(&text, "%lld+%02d:%02d:%02d", days, hours, minutes, rest);
    } else if (hours > 0) {
        strbuf_printf(&text, "%d:%02d:%02d", hours, minutes, rest);
    } else if (minutes > 0) {
        strbuf_printf(&text, "%d:%02d", minutes, rest);
    } else {
        strbuf_printf(&text, "%d", rest);
    }
    ad_make_text(ev, &text, ret);
}
