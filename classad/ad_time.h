/* classad/ad_time.h - absolute and relative times as text; the calendar without libc, whose time
 * zone is the process's.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_TIME_H
#define CLASSAD_AD_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct strbuf;

struct ad_calendar {
    int64_t year;
    int month; /* 1 to 12 */
    int day;   /* 1 to 31 */
    int hour;
    int minute;
    int second;
    int weekday; /* 0 is Sunday */
    int yearday; /* 0 is the first of January */
};

/* seconds: since 1970-01-01, of the zone wanted (the caller adds the offset). */
void ad_calendar_of(int64_t seconds, struct ad_calendar *ret);

/* Out of range fields carry over: month 13 is January of the next year. */
int64_t ad_calendar_seconds(const struct ad_calendar *calendar);

/* "2024-03-01T12:30:00+01:00": digits count, what stands between them does not, and all but the
 * year may be left out; *zoned tells whether a zone was given (else *offset_s is 0 and *seconds
 * counts as if UTC). */
bool ad_time_parse_absolute(const char *text, size_t length, int64_t *seconds, int32_t *offset_s,
                            bool *zoned);

/* "[-][days+]hh:mm:ss[.fraction]" or "1d2h3m4s", read from the right; "" is 0. */
bool ad_time_parse_relative(const char *text, size_t length, double *seconds);

void ad_time_print_absolute(int64_t seconds, int32_t offset_s, struct strbuf *out);
void ad_time_print_relative(double seconds, struct strbuf *out);

#endif
