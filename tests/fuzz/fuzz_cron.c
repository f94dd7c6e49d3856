/* cron_minute and its kin, in a schedd that serves all users: any five texts are refused with one
 * line, or there is a next time, after now, in bounded time.
 *
 * LINK: schedd
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdint.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "schedd/policy/cron_plan.h"

#define NOW_S 1800000000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Summer and winter. */
static int32_t zone_of(void *arg, int64_t utc_s)
{
    (void)arg;
    return utc_s / (182 * 86400) % 2 == 0 ? 3600 : 7200;
}

/* A line for each of the five. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const NAMES[] = {"CronMinute", "CronHour", "CronDayOfMonth", "CronMonth",
                                        "CronDayOfWeek"};
    struct cron_times times;
    struct err err = {""};
    if (size > 4096) {
        return 0;
    }
    char *text = mem_strndup((const char *)data, size), *at = text;
    struct ad *job = ad_create();
    for (size_t i = 0; i < ARRAY_COUNT(NAMES) && at != NULL; i++) {
        char *end = strchr(at, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        ad_set_string(job, NAMES[i], at);
        at = end != NULL ? end + 1 : NULL;
    }
    int rc = cron_plan_read(job, &times, &err);
    CHECK(rc == 0 || err.text[0] != '\0');
    if (rc == 0) {
        CHECK(times.minutes != 0 && times.hours != 0 && times.months != 0);
        int64_t next_s = cron_plan_next(&times, NOW_S, zone_of, NULL);
        CHECK(next_s == -1 || (next_s > NOW_S && next_s % 60 == 0));
    }
    ad_destroy(job);
    mem_free(text);
    return 0;
}
