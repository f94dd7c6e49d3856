/* classad/ad_func_date.c - built-ins that take times apart and write them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>
#include <time.h>

#include "base/strbuf.h"
#include "classad/ad_convert.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_func_variants.h"
#include "classad/ad_time.h"

#define FORMATTED_MAX 4096

static int32_t zone_offset(const struct ad_evaluator *ev, int64_t at_s)
{
    if (ev->context == NULL || ev->context->zone_offset_s == NULL) {
        return 0;
    }
    return ev->context->zone_offset_s(ev->context->arg, at_s);
}

static int64_t shifted(int64_t seconds, int32_t offset_s)
{
    return (int64_t)((uint64_t)seconds + (uint64_t)(int64_t)offset_s);
}

/* Moments so far from now that their year would not fit an int are no dates. */
static bool is_date(int64_t seconds)
{
    return seconds > -60000000000000000 && seconds < 60000000000000000;
}

/* getYear and its kin: of an absolute time in the local zone, the small units of a relative one as
 * well. */
void ad_func_get(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    ad_arg(ev, call, 0, &value);
    enum ad_part part = (enum ad_part)call->variant;
    if (value.type == AD_TYPE_ABSTIME && part != AD_PART_DAYS && is_date(value.time.seconds)) {
        struct ad_calendar calendar;
        ad_calendar_of(shifted(value.time.seconds, zone_offset(ev, value.time.seconds)), &calendar);
        int64_t parts[] = {
            [AD_PART_YEAR] = calendar.year,       [AD_PART_MONTH] = calendar.month,
            [AD_PART_DAY] = calendar.day,         [AD_PART_WEEKDAY] = calendar.weekday,
            [AD_PART_YEARDAY] = calendar.yearday, [AD_PART_DAYS] = 0,
            [AD_PART_HOURS] = calendar.hour,      [AD_PART_MINUTES] = calendar.minute,
            [AD_PART_SECONDS] = calendar.second};
        ad_is_int(ret, parts[part]);
    } else if (value.type == AD_TYPE_RELTIME && part >= AD_PART_DAYS) {
        int64_t seconds = ad_real_to_int(value.real);
        int64_t parts[] = {[AD_PART_DAYS] = seconds / 86400,
                           [AD_PART_HOURS] = seconds / 3600 % 24,
                           [AD_PART_MINUTES] = seconds / 60 % 60,
                           [AD_PART_SECONDS] = seconds % 60};
        ad_is_int(ret, parts[part]);
    } else {
        ad_is(ret, AD_TYPE_ERROR);
    }
}

/* ---- splitTime ---- */

static void is_ad(struct ad_evaluator *ev, struct ad *ad, struct ad_value *ret)
{
    struct ad_expr *expr = ad_expr_nested(ad);
    ad_evaluator_keep(ev, expr);
    ad_evaluate(ev, &expr->root, AD_SCOPE_NONE, ret);
}

static void split_moment(struct ad_evaluator *ev, int64_t seconds, int32_t offset_s,
                         struct ad_value *ret)
{
    struct ad_calendar calendar;
    if (!is_date(seconds)) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    ad_calendar_of(shifted(seconds, offset_s), &calendar);
    struct ad *ad = ad_create();
    ad_set_string(ad, "Type", "AbsoluteTime");
    ad_set_int(ad, "Year", calendar.year);
    ad_set_int(ad, "Month", calendar.month);
    ad_set_int(ad, "Day", calendar.day);
    ad_set_int(ad, "Hours", calendar.hour);
    ad_set_int(ad, "Minutes", calendar.minute);
    ad_set_int(ad, "Seconds", calendar.second);
    ad_set_int(ad, "Offset", offset_s);
    is_ad(ev, ad, ret);
}

static void split_span(struct ad_evaluator *ev, double span, struct ad_value *ret)
{
    int64_t seconds = ad_real_to_int(span);
    struct ad *ad = ad_create();
    ad_set_string(ad, "Type", "RelativeTime");
    ad_set_int(ad, "Days", seconds / 86400);
    ad_set_int(ad, "Hours", seconds / 3600 % 24);
    ad_set_int(ad, "Minutes", seconds / 60 % 60);
    ad_set_real(ad, "Seconds", (double)(seconds % 60) + (span - (double)seconds));
    is_ad(ev, ad, ret);
}

void ad_func_split_time(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    ad_arg(ev, call, 0, &value);
    switch (value.type) {
    case AD_TYPE_INT:
    case AD_TYPE_REAL: {
        int64_t seconds = value.type == AD_TYPE_INT ? value.integer : ad_real_to_int(value.real);
        split_moment(ev, seconds, is_date(seconds) ? zone_offset(ev, seconds) : 0, ret);
        break;
    }
    case AD_TYPE_ABSTIME:
        split_moment(ev, value.time.seconds, value.time.offset_s, ret);
        break;
    case AD_TYPE_RELTIME:
        split_span(ev, value.real, ret);
        break;
    case AD_TYPE_AD: /* taken apart already */
    case AD_TYPE_UNDEFINED:
        *ret = value;
        break;
    default:
        ad_is(ret, AD_TYPE_ERROR);
        break;
    }
}

/* ---- formatTime ---- */

static int field(const struct ad *ad, const char *name, int64_t otherwise)
{
    int64_t value = ad_int_or(ad, name, otherwise);
    return value > -1000000 && value < 1000000 ? (int)value : 0;
}

/* From the ad that splitTime() makes; what is missing is 0. */
static void moment_of_ad(const struct ad *ad, struct tm *tm)
{
    *tm = (struct tm){0};
    if (ad == NULL) {
        return;
    }
    tm->tm_sec = field(ad, "Seconds", 0);
    tm->tm_min = field(ad, "Minutes", 0);
    tm->tm_hour = field(ad, "Hours", 0);
    tm->tm_mday = field(ad, "Day", 0);
    tm->tm_mon = field(ad, "Month", 1) - 1;
    tm->tm_year = field(ad, "Year", 1900) - 1900;
    if (ad_has(ad, "Day")) {
        struct ad_calendar calendar = {.year = tm->tm_year + 1900,
                                       .month = tm->tm_mon + 1,
                                       .day = tm->tm_mday};
        ad_calendar_of(ad_calendar_seconds(&calendar), &calendar);
        tm->tm_wday = calendar.weekday;
        tm->tm_yday = calendar.yearday;
    }
}

static void moment_of_seconds(int64_t seconds, int32_t offset_s, struct tm *tm)
{
    struct ad_calendar calendar;
    ad_calendar_of(shifted(seconds, offset_s), &calendar);
    *tm = (struct tm){.tm_sec = calendar.second,
                      .tm_min = calendar.minute,
                      .tm_hour = calendar.hour,
                      .tm_mday = calendar.day,
                      .tm_mon = calendar.month - 1,
                      .tm_year = (int)(calendar.year - 1900),
                      .tm_wday = calendar.weekday,
                      .tm_yday = calendar.yearday,
                      .tm_gmtoff = offset_s,
                      .tm_zone = offset_s == 0 ? "UTC" : ""};
}

/* strftime with %s (seconds since 1970) done here: libc's own asks the process's time zone. */
static void put_time(const char *format, const struct tm *tm, int64_t seconds, struct strbuf *out)
{
    struct strbuf safe;
    char text[FORMATTED_MAX];
    strbuf_init(&safe, FORMATTED_MAX);
    for (; *format != '\0'; format++) {
        if (format[0] == '%' && format[1] == 's') {
            strbuf_printf(&safe, "%lld", (long long)seconds);
            format++;
        } else if (format[0] == '%' && format[1] != '\0') {
            strbuf_append(&safe, format++, 2);
        } else {
            strbuf_putc(&safe, *format);
        }
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Wformat-nonliteral" /* the format is the user's; strftime reads no arguments by it */
    size_t length = safe.failed ? 0 : strftime(text, sizeof(text), strbuf_text(&safe), tm);
#pragma GCC diagnostic pop
    strbuf_append(out, text, length);
    strbuf_fini(&safe);
}

/* formatTime(time[, format]): of a number, an absolute time or the ad that splitTime() makes;
 * format as strftime has it. */
void ad_func_format_time(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    struct ad_value format;
    ad_is_text(&format, "%c", 2);
    ad_arg(ev, call, 0, &value);
    if (call->count > 1) {
        ad_arg(ev, call, 1, &format);
    }
    struct tm tm;
    int64_t seconds = 0;
    bool good = format.type == AD_TYPE_STRING;
    if (value.type == AD_TYPE_AD) {
        moment_of_ad(value.ad, &tm);
    } else {
        if (value.type == AD_TYPE_ABSTIME) {
            seconds = value.time.seconds;
        } else if (value.type == AD_TYPE_INT || value.type == AD_TYPE_REAL) {
            seconds = value.type == AD_TYPE_INT ? value.integer : ad_real_to_int(value.real);
        } else {
            good = false;
        }
        good = good && is_date(seconds);
        moment_of_seconds(good ? seconds : 0, good ? zone_offset(ev, seconds) : 0, &tm);
    }
    if (!good) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    struct strbuf text;
    strbuf_init(&text, AD_STRING_MAX);
    put_time(format.string.text, &tm, seconds, &text);
    ad_make_text(ev, &text, ret);
}
