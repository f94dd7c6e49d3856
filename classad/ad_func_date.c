/* classad/ad_func_date.c - built-in functions that split and format times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/strbuf.h"
#include "classad/ad_convert.h"
#include "classad/ad_evaluator.h"
#include "classad/ad_func.h"
#include "classad/ad_func_variants.h"
#include "classad/ad_time.h"

#define FORMATTED_MAX 4096 /* most bytes of a formatted time, with the terminating zero */

static int32_t zone_offset(const struct ad_evaluator *ev, int64_t at_s)
{
    if (ev->context != NULL && ev->context->is_timely != NULL) {
        *ev->context->is_timely = true;
    }
    if (ev->context == NULL || ev->context->zone_offset_s == NULL) {
        return 0;
    }
    return ev->context->zone_offset_s(ev->context->arg, at_s);
}

static int64_t shifted_seconds(int64_t seconds, int32_t offset_s)
{
    return (int64_t)((uint64_t)seconds + (uint64_t)(int64_t)offset_s);
}

/* Returns whether the year of the moment fits into an int; other moments are not dates. */
static bool is_date(int64_t seconds)
{
    return seconds > -60000000000000000 && seconds < 60000000000000000;
}

/* getYear() and similar functions: a field of an absolute time in the local zone; the small units
 * also of a relative time. */
void ad_func_get(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    ad_arg(ev, call, 0, &value);
    enum ad_part part = (enum ad_part)call->variant;
    if (value.type == AD_TYPE_ABSTIME && part != AD_PART_DAYS && is_date(value.time.seconds)) {
        struct ad_calendar calendar;
        ad_calendar_of(shifted_seconds(value.time.seconds, zone_offset(ev, value.time.seconds)),
                       &calendar);
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
    ad_calendar_of(shifted_seconds(seconds, offset_s), &calendar);
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

/* Splits a duration.  A negative one has its sign only at the largest part that is not zero. */
static void split_span(struct ad_evaluator *ev, double span, struct ad_value *ret)
{
    struct ad_value size;
    ad_is_real(&size, span < 0 ? -span : span);
    int32_t whole = ad_to_int32(&size);
    int32_t days = whole / 86400;
    int32_t hours = whole % 86400 / 3600;
    int32_t minutes = whole % 3600 / 60;
    double seconds = whole % 60 + (size.real - floor(size.real));
    if (span < 0 && days > 0) {
        days = -days;
    } else if (span < 0 && hours > 0) {
        hours = -hours;
    } else if (span < 0 && minutes > 0) {
        minutes = -minutes;
    } else if (span < 0) {
        seconds = -seconds;
    }
    struct ad *ad = ad_create();
    ad_set_string(ad, "Type", "RelativeTime");
    ad_set_int(ad, "Days", days);
    ad_set_int(ad, "Hours", hours);
    ad_set_int(ad, "Minutes", minutes);
    ad_set_real(ad, "Seconds", seconds);
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
    case AD_TYPE_UNDEFINED:
        *ret = value;
        break;
    default:
        ad_is(ret, AD_TYPE_ERROR);
        break;
    }
}

/* ---- formatTime ---- */

/* Returns an attribute of the ad that splitTime() makes, or of an ad around it; `otherwise` when
 * the attribute is absent or not an integer. */
static int32_t date_field(struct ad_evaluator *ev, const struct ad_value *ad, const char *text,
                          int32_t otherwise)
{
    struct ad_value value;
    struct ad_found found = {.scope = ad->scope};
    for (; found.scope != AD_SCOPE_NONE; found.scope = ev->scopes[found.scope].parent) {
        const struct ad *here = ev->scopes[found.scope].ad;
        found.expr = here != NULL ? ad_lookup(here, text) : NULL;
        if (found.expr != NULL) {
            ad_evaluate_found(ev, &found, &value);
            return value.type == AD_TYPE_INT ? ad_to_int32(&value) : otherwise;
        }
    }
    return otherwise;
}

static bool is_leap(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* Counts days as HTCondor does (see "Calendrical Calculations", the Gregorian calendar); quotients
 * are truncated, not floored. */
static int64_t fixed_day(int64_t year, int64_t month, int64_t day)
{
    int64_t before = year - 1;
    int64_t short_month = month <= 2 ? 0 : is_leap(year) ? -1 : -2;
    return 365 * before + before / 4 - before / 100 + before / 400 + (367 * month - 362) / 12 +
           short_month + day;
}

/* Fills tm from the fields of an ad, which may be out of range: the weekday and the day of the year
 * are computed from them, but nothing is carried over. */
static void moment_of_ad(struct ad_evaluator *ev, const struct ad_value *ad, struct tm *tm)
{
    int64_t year = date_field(ev, ad, "Year", 1900);
    int64_t month = date_field(ev, ad, "Month", 1);
    tm->tm_sec = date_field(ev, ad, "Seconds", 0);
    tm->tm_min = date_field(ev, ad, "Minutes", 0);
    tm->tm_hour = date_field(ev, ad, "Hours", 0);
    tm->tm_mday = date_field(ev, ad, "Day", 0);
    tm->tm_mon = (int32_t)(uint32_t)(month - 1);
    tm->tm_year = (int32_t)(uint32_t)(year - 1900);
    int64_t fixed = fixed_day(year, month, tm->tm_mday);
    tm->tm_wday = (int)(fixed % 7);
    tm->tm_yday = (int)(fixed - fixed_day(year, 1, 1));
}

static void moment_of_seconds(int64_t seconds, int32_t offset_s, struct tm *tm)
{
    struct ad_calendar calendar;
    ad_calendar_of(shifted_seconds(seconds, offset_s), &calendar);
    tm->tm_sec = calendar.second;
    tm->tm_min = calendar.minute;
    tm->tm_hour = calendar.hour;
    tm->tm_mday = calendar.day;
    tm->tm_mon = calendar.month - 1;
    tm->tm_year = (int)(calendar.year - 1900);
    tm->tm_wday = calendar.weekday;
    tm->tm_yday = calendar.yearday;
}

/* Returns what %s prints: the seconds since 1970 of these fields in the local zone. */
static int64_t seconds_of(const struct ad_evaluator *ev, const struct tm *tm)
{
    struct ad_calendar calendar = {.year = (int64_t)tm->tm_year + 1900,
                                   .day = tm->tm_mday,
                                   .hour = tm->tm_hour,
                                   .minute = tm->tm_min,
                                   .second = tm->tm_sec};
    int64_t month = (int64_t)tm->tm_mon + 1;
    calendar.year += month / 12;
    calendar.month = (int)(month % 12);
    int64_t local = ad_calendar_seconds(&calendar);
    return local - zone_offset(ev, local - zone_offset(ev, local));
}

/* Formats like strftime(), but handles %s here, because libc's %s uses the process's time zone. */
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

/* formatTime([time[, format]]). time is a number, an absolute time (in its own zone) or the ad that
 * splitTime() makes; format is as for strftime(). */
void ad_func_format_time(struct ad_evaluator *ev, const struct ad_call *call, struct ad_value *ret)
{
    struct ad_value value;
    struct ad_value format;
    const char *zone = ev->context != NULL ? ev->context->zone_name : NULL;
    struct tm tm = {.tm_zone = zone != NULL ? zone : "UTC"};
    bool good = true;
    ad_is_text(&format, "%c", 2);
    if (call->count == 0) {
        if (ev->context == NULL) {
            return; /* undefined: there is no clock */
        }
        ad_is_int(&value, ev->context->now_s);
    } else {
        ad_arg(ev, call, 0, &value);
    }
    if (value.type == AD_TYPE_AD) {
        moment_of_ad(ev, &value, &tm);
    } else if (value.type == AD_TYPE_ABSTIME && is_date(value.time.seconds)) {
        moment_of_seconds(value.time.seconds, value.time.offset_s, &tm);
    } else if (value.type == AD_TYPE_INT || value.type == AD_TYPE_REAL) {
        int64_t seconds = value.type == AD_TYPE_INT ? value.integer : ad_real_to_int(value.real);
        good = is_date(seconds);
        int32_t offset_s = good ? zone_offset(ev, seconds) : 0;
        moment_of_seconds(good ? seconds : 0, offset_s, &tm);
        tm.tm_gmtoff = call->count == 0 ? offset_s : 0; /* %z is else +0000, as in HTCondor */
    } else {
        good = false;
    }
    if (call->count > 1) {
        ad_arg(ev, call, 1, &format);
    }
    if (!good || format.type != AD_TYPE_STRING) {
        ad_is(ret, AD_TYPE_ERROR);
        return;
    }
    struct strbuf text;
    strbuf_init(&text, AD_STRING_MAX);
    put_time(format.string.text, &tm, seconds_of(ev, &tm), &text);
    ad_make_text(ev, &text, ret);
}
