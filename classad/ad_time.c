/* classad/ad_time.c - absolute and relative times as text.
 *
 * The calendar is the proleptic Gregorian one, counted in eras of 400 years that begin on March
 * 1st, so that the leap day is the last day of a year.  Howard Hinnant's "chrono-compatible
 * low-level date algorithms" describes the method.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_time.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"

#define DAY_S 86400

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
    int64_t rest = (seconds % DAY_S + DAY_S) % DAY_S;
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
    return (days_of(year, month, 1) + calendar->day - 1) * DAY_S + (int64_t)calendar->hour * 3600 +
           (int64_t)calendar->minute * 60 + calendar->second;
}

/* ---- absolute ---- */

static int two_digits(const char *text)
{
    return (text[0] - '0') * 10 + (text[1] - '0');
}

/* Reads the zone at the end of a text and shortens *length by it: Z, after which blanks may follow,
 * or +hhmm or +hh:mm at the very end.  False: no zone. */
static bool cut_zone(const char *text, size_t *length, int32_t *offset_s)
{
    size_t end = *length;
    while (end > 0 && text_is_space(text[end - 1])) {
        end--;
    }
    *offset_s = 0;
    if (end > 1 && (text[end - 1] == 'z' || text[end - 1] == 'Z')) {
        *length = end - 1;
        return true;
    }
    size_t size = 5; /* of +hhmm */
    const char *zone = text + *length - size;
    if (*length <= 5 || (*zone != '+' && *zone != '-')) {
        size = 6;
        zone = text + *length - size;
        if (*length <= 6 || (*zone != '+' && *zone != '-') || zone[3] != ':') {
            return false;
        }
    }
    const char *minutes = zone + size - 2;
    if (!text_is_digit(zone[1]) || !text_is_digit(zone[2]) || !text_is_digit(minutes[0]) ||
        !text_is_digit(minutes[1])) {
        return false;
    }
    *offset_s = (two_digits(zone + 1) * 3600 + two_digits(minutes) * 60) * (*zone == '-' ? -1 : 1);
    *length -= size;
    return true;
}

/* Reads the number at the beginning of `width` bytes, which begin with a digit, as atoi() does. */
static int leading_digits(const char *text, size_t width)
{
    int value = 0;
    for (size_t i = 0; i < width && text_is_digit(text[i]); i++) {
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

/* Reads years, months, days, hours, minutes and seconds: four digits, then two each, with any
 * separators. */
bool ad_time_parse_absolute(const char *text, size_t length, int64_t *seconds, int32_t *offset_s,
                            bool *zoned)
{
    static const size_t WIDTH[6] = {4, 2, 2, 2, 2, 2};
    int fields[6] = {0, 1, 0, 0, 0, 0}; /* without a day it is the last one of the month before */
    *zoned = cut_zone(text, &length, offset_s);
    size_t at = 0;
    for (size_t i = 0; i <= 6; i++) {
        while (at < length && !text_is_digit(text[at])) {
            at++;
        }
        if (i == 6) {
            break;
        }
        if (at + WIDTH[i] <= length) {
            fields[i] = leading_digits(text + at, WIDTH[i]);
            at += WIDTH[i];
        } else if (i == 0) {
            return false; /* no year */
        }
    }
    if (at < length) {
        return false; /* more digits */
    }
    const struct ad_calendar calendar = {.year = fields[0],
                                         .month = fields[1],
                                         .day = fields[2],
                                         .hour = fields[3],
                                         .minute = fields[4],
                                         .second = fields[5]};
    int64_t moment = ad_calendar_seconds(&calendar);
    if (moment == -1) {
        return false; /* HTCondor takes the second before 1970 for a failure of the C library */
    }
    *seconds = moment - *offset_s;
    return true;
}

void ad_time_print_absolute(int64_t seconds, int32_t offset_s, struct strbuf *out)
{
    struct ad_calendar calendar;
    ad_calendar_of((int64_t)((uint64_t)seconds + (uint64_t)(int64_t)offset_s), &calendar);
    int32_t offset = offset_s < 0 ? -offset_s : offset_s;
    strbuf_printf(out, "%lld-%02d-%02dT%02d:%02d:%02d%c%02d:%02d", (long long)calendar.year,
                  calendar.month, calendar.day, calendar.hour, calendar.minute, calendar.second,
                  offset_s > 0 ? '+' : '-', offset / 3600, offset / 60 % 60);
}

/* ---- relative ---- */

/* A relative time that is read from its end; the part before `end` has not been read yet. */
struct backward {
    const char *text;
    size_t end;
};

static void skip_back_blanks(struct backward *scan)
{
    while (scan->end > 0 && text_is_space(scan->text[scan->end - 1])) {
        scan->end--;
    }
}

static bool back_over(struct backward *scan, char low, char mark)
{
    char c = scan->end > 0 ? scan->text[scan->end - 1] : '\0';
    bool is_it = c != '\0' && (c == low || c == low - ('a' - 'A') || c == mark);
    scan->end -= is_it;
    return is_it;
}

static void back_over_digits(struct backward *scan)
{
    while (scan->end > 0 && text_is_digit(scan->text[scan->end - 1])) {
        scan->end--;
    }
}

/* Reads the digits before a unit.  Returns 0 when there are none, or when the number does not fit
 * into an int. */
static int32_t back_number(struct backward *scan)
{
    skip_back_blanks(scan);
    size_t end = scan->end;
    back_over_digits(scan);
    int64_t value = 0;
    for (size_t i = scan->end; i < end; i++) {
        value = value * 10 + (scan->text[i] - '0');
        if (value > INT32_MAX) {
            return 0;
        }
    }
    return (int32_t)value;
}

/* Reads seconds with an optional fraction. */
static double back_seconds(struct backward *scan)
{
    char copy[64] = "";
    skip_back_blanks(scan);
    size_t end = scan->end;
    back_over_digits(scan);
    if (scan->end > 0 && scan->text[scan->end - 1] == '.') {
        scan->end--;
        back_over_digits(scan);
    }
    size_t from = scan->end;
    size_t length = end - from < sizeof(copy) - 1 ? end - from : sizeof(copy) - 1;
    memcpy(copy, scan->text + from, length);
    return strtod(copy, NULL);
}

bool ad_time_parse_relative(const char *text, size_t length, double *seconds)
{
    struct backward scan = {text, length};
    double rest = 0;
    uint32_t whole = 0; /* HTCondor counts in ints, which wrap around */
    skip_back_blanks(&scan);
    if (back_over(&scan, 's', '\0') || (scan.end > 0 && text_is_digit(text[scan.end - 1]))) {
        rest = back_seconds(&scan);
    }
    skip_back_blanks(&scan);
    if (back_over(&scan, 'm', ':')) {
        whole += (uint32_t)back_number(&scan) * 60;
    }
    skip_back_blanks(&scan);
    if (back_over(&scan, 'h', ':')) {
        whole += (uint32_t)back_number(&scan) * 3600;
    }
    skip_back_blanks(&scan);
    if (back_over(&scan, 'd', '+')) {
        whole += (uint32_t)back_number(&scan) * DAY_S;
    }
    skip_back_blanks(&scan);
    bool negative = back_over(&scan, '-', '-');
    skip_back_blanks(&scan);
    if (scan.end > 0) {
        return false;
    }
    double value = (double)(int32_t)whole + rest;
    *seconds = negative ? -1 * value : value;
    return true;
}

/* Converts like C on x86-64: a number that does not fit becomes INT32_MIN. */
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
