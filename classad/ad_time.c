/* classad/ad_time.c - absolute and relative times as text.
 *
 * The calendar is the proleptic Gregorian one, counted in eras of 400 years from the first of
 * March, so that the leap day is the last of a year (Howard Hinnant's "chrono-compatible low-level
 * date algorithms" describes the method).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"

#define DAY_S        86400
#define YEAR_MAX     9999
#define RELATIVE_MAX 9e15 /* seconds: below it a double counts them one by one */

static int64_t days_of(int64_t year, int month, int day)
{
    year -= month <= 2;
    int64_t era = (year >= 0 ? year : year - 399) / 400;
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return era * 146097 + day_of_era - 719468;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

void ad_calendar_of(int64_t seconds, struct ad_calendar *ret)
{
    int64_t days = floor_div(seconds, DAY_S);
    int64_t rest = seconds - days * DAY_S;
    int64_t shifted = days + 719468;
    int64_t era = floor_div(shifted, 146097);
    int64_t day_of_era = shifted - era * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153;
    ret->day = (int)(day_of_year - (153 * month + 2) / 5 + 1);
    ret->month = (int)(month < 10 ? month + 3 : month - 9);
    ret->year = year_of_era + era * 400 + (ret->month <= 2);
    ret->hour = (int)(rest / 3600);
    ret->minute = (int)(rest / 60 % 60);
    ret->second = (int)(rest % 60);
    ret->weekday = (int)(((days + 4) % 7 + 7) % 7);
    ret->yearday = (int)(days - days_of(ret->year, 1, 1));
}

int64_t ad_calendar_seconds(const struct ad_calendar *calendar)
{
    int64_t year = calendar->year + floor_div(calendar->month - 1, 12);
    int month = (int)(calendar->month - 1 - 12 * floor_div(calendar->month - 1, 12)) + 1;
    return (days_of(year, month, 1) + calendar->day - 1) * DAY_S + calendar->hour * 3600 +
           calendar->minute * 60 + calendar->second;
}

/* ---- absolute ---- */

struct scan {
    const char *at;
    const char *end;
};

static bool digit_at(const struct scan *scan)
{
    return scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9';
}

static bool number(struct scan *scan, int digits, int *ret)
{
    int value = 0;
    for (int i = 0; i < digits; i++) {
        if (!digit_at(scan)) {
            return false;
        }
        value = value * 10 + (*scan->at++ - '0');
    }
    *ret = value;
    return true;
}

static bool skip_one_of(struct scan *scan, const char *set)
{
    if (scan->at < scan->end && strchr(set, *scan->at) != NULL && *scan->at != '\0') {
        scan->at++;
        return true;
    }
    return false;
}

static bool zone(struct scan *scan, int32_t *offset_s, bool *zoned)
{
    *offset_s = 0;
    *zoned = true;
    if (skip_one_of(scan, "Zz")) {
        return scan->at == scan->end;
    }
    if (scan->at == scan->end) {
        *zoned = false;
        return true;
    }
    char sign = *scan->at++;
    int hours;
    int minutes = 0;
    if ((sign != '+' && sign != '-') || !number(scan, 2, &hours)) {
        return false;
    }
    (void)skip_one_of(scan, ":");
    if (scan->at < scan->end && !number(scan, 2, &minutes)) {
        return false;
    }
    *offset_s = (hours * 3600 + minutes * 60) * (sign == '-' ? -1 : 1);
    return scan->at == scan->end && hours < 24 && minutes < 60;
}

bool ad_time_parse_absolute(const char *text, size_t length, int64_t *seconds, int32_t *offset_s,
                            bool *zoned)
{
    struct scan scan = {text, text + length};
    while (skip_one_of(&scan, " \t")) {
    }
    while (scan.end > scan.at && (scan.end[-1] == ' ' || scan.end[-1] == '\t')) {
        scan.end--;
    }
    struct ad_calendar calendar = {0};
    int year;
    if (!number(&scan, 4, &year)) {
        return false;
    }
    calendar.year = year;
    (void)skip_one_of(&scan, "-/");
    if (!number(&scan, 2, &calendar.month)) {
        return false;
    }
    (void)skip_one_of(&scan, "-/");
    if (!number(&scan, 2, &calendar.day)) {
        return false;
    }
    if (skip_one_of(&scan, "Tt ") || digit_at(&scan)) {
        if (!number(&scan, 2, &calendar.hour)) {
            return false;
        }
        (void)skip_one_of(&scan, ":");
        if (digit_at(&scan) && !number(&scan, 2, &calendar.minute)) {
            return false;
        }
        (void)skip_one_of(&scan, ":");
        if (digit_at(&scan) && !number(&scan, 2, &calendar.second)) {
            return false;
        }
    }
    int32_t offset;
    if (!zone(&scan, &offset, zoned)) {
        return false;
    }
    int64_t moment = ad_calendar_seconds(&calendar) - offset;
    ad_calendar_of(moment + offset, &calendar);
    if (moment < 0 || calendar.year > YEAR_MAX) {
        return false; /* HTCondor takes nothing before 1970 */
    }
    *seconds = moment;
    *offset_s = offset;
    return true;
}

void ad_time_print_absolute(int64_t seconds, int32_t offset_s, struct strbuf *out)
{
    struct ad_calendar calendar;
    ad_calendar_of(seconds + offset_s, &calendar);
    int32_t offset = offset_s < 0 ? -offset_s : offset_s;
    strbuf_printf(out, "%04lld-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", (long long)calendar.year,
                  calendar.month, calendar.day, calendar.hour, calendar.minute, calendar.second,
                  offset_s > 0 ? '+' : '-', offset / 3600, offset / 60 % 60);
}

/* ---- relative ---- */

/* A number with an optional fraction; *whole tells that there was none. */
static bool fraction(struct scan *scan, double *ret, bool *whole)
{
    double value = 0;
    double place = 1;
    *whole = true;
    if (!digit_at(scan)) {
        return false;
    }
    while (digit_at(scan)) {
        value = value * 10 + (*scan->at++ - '0');
    }
    if (skip_one_of(scan, ".")) {
        *whole = false;
        double part = 0;
        while (digit_at(scan)) {
            part = part * 10 + (*scan->at++ - '0');
            place *= 10;
        }
        value += part / place;
    }
    *ret = value;
    return true;
}

static double unit_s(char c)
{
    switch (c) {
    case 'd':
    case 'D':
        return DAY_S;
    case 'h':
    case 'H':
        return 3600;
    case 'm':
    case 'M':
        return 60;
    case 's':
    case 'S':
        return 1;
    default:
        return 0;
    }
}

static bool with_units(struct scan scan, double *ret)
{
    double total = 0;
    double last = DAY_S * 2.0;
    while (scan.at < scan.end) {
        double value;
        bool whole;
        while (skip_one_of(&scan, " ")) {
        }
        if (!fraction(&scan, &value, &whole) || scan.at == scan.end) {
            return false;
        }
        double unit = unit_s(*scan.at++);
        if (unit == 0 || unit >= last) {
            return false;
        }
        last = unit;
        total += value * unit;
    }
    *ret = total;
    return true;
}

static bool with_colons(struct scan scan, double *ret)
{
    double days = 0;
    double value;
    bool whole;
    if (!fraction(&scan, &value, &whole)) {
        return false;
    }
    if (whole && skip_one_of(&scan, "+")) {
        days = value;
        if (!fraction(&scan, &value, &whole)) {
            return false;
        }
    }
    int fields = 1;
    while (scan.at < scan.end) {
        double next;
        if (!whole || fields == 3 || !skip_one_of(&scan, ":") || !fraction(&scan, &next, &whole)) {
            return false;
        }
        value = value * 60 + next;
        fields++;
    }
    *ret = days * DAY_S + value;
    return true;
}

bool ad_time_parse_relative(const char *text, size_t length, double *seconds)
{
    struct scan scan = {text, text + length};
    while (skip_one_of(&scan, " \t")) {
    }
    while (scan.end > scan.at && (scan.end[-1] == ' ' || scan.end[-1] == '\t')) {
        scan.end--;
    }
    bool negative = scan.at < scan.end && *scan.at == '-';
    (void)skip_one_of(&scan, "+-");
    double value;
    if (scan.at == scan.end || !(with_colons(scan, &value) || with_units(scan, &value))) {
        return false;
    }
    if (value > RELATIVE_MAX) {
        return false;
    }
    *seconds = negative ? -value : value;
    return true;
}

/* C's conversion on x86-64: what does not fit is INT32_MIN. */
static int32_t to_int32(double real)
{
    return real > -2147483649.0 && real < 2147483648.0 ? (int32_t)real : INT32_MIN;
}

void ad_time_print_relative(double seconds, struct strbuf *out)
{
    if (seconds < 0) {
        strbuf_putc(out, '-');
        seconds = -seconds;
    }
    int32_t whole = to_int32(seconds);
    int32_t days = whole / DAY_S;
    int32_t hours = whole % DAY_S / 3600;
    int32_t minutes = whole % 3600 / 60;
    if (days != 0) {
        strbuf_printf(out, "%d+%02d:%02d:", days, hours, minutes);
    } else if (hours != 0) {
        strbuf_printf(out, "%02d:%02d:", hours, minutes);
    } else if (minutes != 0) {
        strbuf_printf(out, "%02d:", minutes);
    }
    double part = seconds - floor(seconds);
    if (isinf(seconds)) {
        strbuf_puts(out, "-nan"); /* whatever sign this machine gives to INF - INF */
    } else if (part == 0) {
        strbuf_printf(out, "%02d", whole % 60);
    } else {
        strbuf_printf(out, "%02g", whole % 60 + part);
    }
}
