/* schedd/policy/cron_plan.h - when a job with cron_minute and its kin is to begin next.
 *
 * Pure.  Five attributes, CronMinute, CronHour, CronDayOfMonth, CronMonth, CronDayOfWeek, each a
 * list of numbers, of ranges "a-b", of "*", each with a step "/n"; one that is absent is "*".  As
 * in cron(8), a job that names days of the month and of the week is for both.  Times are those of
 * the schedd's zone: what the clock never shows there (spring) is left out, and what it shows twice
 * (autumn) is the first of both.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_POLICY_CRON_PLAN_H
#define SCHEDD_POLICY_CRON_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct err;

struct cron_times { /* a bit for each value */
    uint64_t minutes, hours, days, months, weekdays;
    bool any_day, any_weekday;
};

/* Seconds that the zone is ahead of UTC at that time. */
typedef int32_t (*cron_zone_f)(void *arg, int64_t utc_s);

/* Has the job any of the five? */
bool cron_plan_matters(const struct ad *job);
/* -EINVAL: one of them is nothing of the kind, or no such day ever comes; err names it. */
int cron_plan_read(const struct ad *job, struct cron_times *ret, struct err *err);
/* The first such minute that begins after now_s; -1: none within the next 40 years. */
int64_t cron_plan_next(const struct cron_times *times, int64_t now_s, cron_zone_f zone, void *arg);

#endif
