/* schedd/policy/cron_plan.c - see cron_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/policy/cron_plan.h"

#include <errno.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "classad/ad.h"
#include "classad/ad_time.h"

#define DAY_S       86400
#define DAYS_LOOKED (40 * 366) /* enough for 29 February on a given weekday, across a century */

static const struct {
    const char *name;
    int least, most;
} FIELDS[] = {
    {"CronMinute", 0, 59}, {"CronHour", 0, 23},     {"CronDayOfMonth", 1, 31},
    {"CronMonth", 1, 12},  {"CronDayOfWeek", 0, 7},
};
enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY };

bool cron_plan_matters(const struct ad *job)
{
    for (size_t i = 0; job != NULL && i < ARRAY_COUNT(FIELDS); i++) {
        if (ad_has(job, FIELDS[i].name)) {
            return true;
        }
    }
    return false;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void skip_blanks(const char **at)
{
    *at += strspn(*at, " \t");
}

static bool take_number(const char **at, int *ret)
{
    size_t length = strspn(*at, "0123456789");
    if (length == 0 || length > 4) {
        return false;
    }
    *ret = 0;
    for (size_t i = 0; i < length; i++) {
        *ret = *ret * 10 + ((*at)[i] - '0');
    }
    *at += length;
    skip_blanks(at);
    return true;
}

static bool take_sign(const char **at, char sign)
{
    if (**at != sign) {
        return false;
    }
    (*at)++;
    skip_blanks(at);
    return true;
}

/* Reads an item "*", "5" or "5-10", each optionally with a step such as "/2". */
static bool take_item(const char **at, int least, int most, uint64_t *bits)
{
    int from = least, to = most, step = 1;
    skip_blanks(at);
    if (!take_sign(at, '*')) {
        if (!take_number(at, &from)) {
            return false;
        }
        to = from;
        if (take_sign(at, '-') && !take_number(at, &to)) {
            return false;
        }
    }
    if (take_sign(at, '/') && !take_number(at, &step)) {
        return false;
    }
    if (from < least || to > most || from > to || step < 1) {
        return false;
    }
    for (int value = from; value <= to; value += step) {
        *bits |= (uint64_t)1 << value;
    }
    return true;
}

static bool read_field(const char *text, int least, int most, uint64_t *bits)
{
    const char *at = text;
    *bits = 0;
    do {
        if (!take_item(&at, least, most, bits)) {
            return false;
        }
    } while (take_sign(&at, ','));
    return *at == '\0';
}

/* Returns whether any of the days exists in one of the months. */
static bool has_day(const struct cron_times *times)
{
    static const int LONGEST[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (times->any_day || !times->any_weekday) {
        return true;
    }
    for (int month = 1; month <= 12; month++) {
        for (int day = 1; day <= LONGEST[month - 1]; day++) {
            if ((times->months >> month & 1) != 0 && (times->days >> day & 1) != 0) {
                return true;
            }
        }
    }
    return false;
}

/* Reads one attribute, a number or a string; all values when it is absent. */
static bool take_field(const struct ad *job, size_t field, uint64_t *bits, bool *any)
{
    const char *text = "*";
    int64_t number = 0;
    int least = FIELDS[field].least, most = FIELDS[field].most;
    if (ad_get_int(job, FIELDS[field].name, &number) == 0) {
        *any = false;
        *bits = number >= least && number <= most ? (uint64_t)1 << number : 0;
        return *bits != 0;
    }
    if (ad_has(job, FIELDS[field].name) && ad_get_string(job, FIELDS[field].name, &text) != 0) {
        return false;
    }
    *any = text[strspn(text, " \t")] == '*' && strchr(text, '/') == NULL;
    return read_field(text, least, most, bits);
}

int cron_plan_read(const struct ad *job, struct cron_times *ret, struct err *err)
{
    uint64_t bits[ARRAY_COUNT(FIELDS)] = {0};
    bool any[ARRAY_COUNT(FIELDS)] = {false};
    for (size_t i = 0; i < ARRAY_COUNT(FIELDS); i++) {
        if (!take_field(job, i, &bits[i], &any[i])) {
            return err_set(err, -EINVAL,
                           "%s: expected *, or numbers from %d to %d and ranges such as 1-5, "
                           "separated by commas; each * or range may have a step such as /2",
                           FIELDS[i].name, FIELDS[i].least, FIELDS[i].most);
        }
    }
    if ((bits[WEEKDAY] >> 7 & 1) != 0) {
        bits[WEEKDAY] |= 1; /* Sunday is 0 and 7 */
    }
    const struct cron_times times = {.minutes = bits[MINUTE],
                                     .hours = bits[HOUR],
                                     .days = bits[DAY],
                                     .months = bits[MONTH],
                                     .weekdays = bits[WEEKDAY],
                                     .any_day = any[DAY],
                                     .any_weekday = any[WEEKDAY]};
    if (!has_day(&times)) {
        return err_set(err, -EINVAL, "no month in CronMonth has a day that CronDayOfMonth names");
    }
    *ret = times;
    return 0;
}

/* ---- the next time --------------------------------------------------------------------------- */

static bool is_day(const struct cron_times *times, const struct ad_calendar *day)
{
    bool by_day = (times->days >> day->day & 1) != 0;
    bool by_weekday = (times->weekdays >> day->weekday & 1) != 0;
    if ((times->months >> day->month & 1) == 0) {
        return false;
    }
    if (times->any_day || times->any_weekday) {
        return by_day && by_weekday;
    }
    return by_day || by_weekday;
}

/* Returns the UTC time at which the local clock shows local_s, the earlier one of two; -1:
 * never. */
static int64_t utc_of(int64_t local_s, cron_zone_f zone, void *arg)
{
    int32_t before = zone(arg, local_s - DAY_S), after = zone(arg, local_s + DAY_S);
    int32_t ahead = before > after ? before : after, behind = before > after ? after : before;
    if (zone(arg, local_s - ahead) == ahead) {
        return local_s - ahead;
    }
    return zone(arg, local_s - behind) == behind ? local_s - behind : -1;
}

int64_t cron_plan_next(const struct cron_times *times, int64_t now_s, cron_zone_f zone, void *arg)
{
    int64_t local_s = now_s + zone(arg, now_s);
    int64_t day_s = local_s - ((local_s % DAY_S) + DAY_S) % DAY_S;
    for (int looked = 0; looked < DAYS_LOOKED; looked++, day_s += DAY_S) {
        struct ad_calendar day;
        ad_calendar_of(day_s, &day);
        if (!is_day(times, &day)) {
            continue;
        }
        int64_t best_s = -1; /* where the zone changes, a later hour can come first */
        for (int minute = 0; minute < DAY_S / 60; minute++) {
            if ((times->hours >> (minute / 60) & 1) == 0 ||
                (times->minutes >> (minute % 60) & 1) == 0) {
                continue;
            }
            int64_t at_s = utc_of(day_s + (int64_t)minute * 60, zone, arg);
            if (at_s > now_s && (best_s < 0 || at_s < best_s)) {
                best_s = at_s;
            }
        }
        if (best_s > 0) {
            return best_s;
        }
    }
    return -1;
}
