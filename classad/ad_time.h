/* classad/ad_time.h - absolute and relative times as text, and a calendar.  libc's calendar is not
 * used, because its time zone is that of the whole process.
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
    int weekday; /* 0 to 6; 0 is Sunday */
    int yearday; /* 0 to 365; 0 is January 1 */
};

/* Splits seconds since 1970-01-01 into date and time.  The caller has already added the zone
 * offset. */
void ad_calendar_of(int64_t seconds, struct ad_calendar *ret);

/* The reverse of ad_calendar_of().  Fields out of range carry over: month 13 is January of the next
 * year. */
int64_t ad_calendar_seconds(const struct ad_calendar *calendar);

/* Parses times like "2024-03-01T12:30:00+01:00".  Only the digits count, not the separators; all
 * parts but the year may be missing.  *zoned tells whether text names a zone; if not, *offset_s is
 * 0 and *seconds is computed as if in UTC.  Returns false when text is not a time. */
bool ad_time_parse_absolute(const char *text, size_t length, int64_t *seconds, int32_t *offset_s,
                            bool *zoned);

/* Parses "[-][days+]hh:mm:ss[.fraction]" or "1d2h3m4s"; all parts may be missing, and "" is 0.
 * Returns true and sets *seconds; false when text is not a duration. */
bool ad_time_parse_relative(const char *text, size_t length, double *seconds);

void ad_time_print_absolute(int64_t seconds, int32_t offset_s, struct strbuf *out);
void ad_time_print_relative(double seconds, struct strbuf *out);

#endif
