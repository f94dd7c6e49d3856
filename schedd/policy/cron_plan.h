/* schedd/policy/cron_plan.h - computes when a job with cron_minute, cron_hour, ... is to start
 * next.
 *
 * Pure.  The times are five attributes: CronMinute, CronHour, CronDayOfMonth, CronMonth,
 * CronDayOfWeek.  Each is a list of numbers, ranges "a-b" and "*", each with an optional step "/n";
 * an absent one is "*".  As in cron(8), a job that restricts both the day of the month and the day
 * of the week starts on days of either kind.  Times are local times of the schedd's host.  A time
 * that the clock skips (spring) is left out; of a time that it shows twice (autumn) the first is
 * taken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_POLICY_CRON_PLAN_H
#define SCHEDD_POLICY_CRON_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct err;

/* When a job may start, as its five attributes say.  Each of the five integers is a set of bits:
 * bit n is set when the attribute's list contains the number n. */
struct cron_times {
    uint64_t minutes, hours, days, months, weekdays;
    bool any_day, any_weekday; /* the day of the month, or of the week, is "*": any day */
};

/* Returns by how many seconds local time is ahead of UTC at the moment utc_s (seconds since
 * 1970). */
typedef int32_t (*cron_zone_f)(void *arg, int64_t utc_s);

/* Returns true when the ad (may be NULL) has one of the five attributes for times, such as
 * CronMinute. */
bool cron_plan_matters(const struct ad *job);
/* Reads the times of a job from its attributes CronMinute, CronHour, CronDayOfMonth, CronMonth and
 * CronDayOfWeek.  Returns 0; or -EINVAL with err when an attribute is malformed, or when no month
 * in CronMonth has a day that CronDayOfMonth names. */
int cron_plan_read(const struct ad *job, struct cron_times *ret, struct err *err);
/* Returns the start of the first matching minute after now_s, in UTC; -1 if there is none within
 * the next 40 years.  zone(arg, moment) tells the local time. */
int64_t cron_plan_next(const struct cron_times *times, int64_t now_s, cron_zone_f zone, void *arg);

#endif
