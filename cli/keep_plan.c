/* cli/keep_plan.c - see keep_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/keep_plan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/text.h"
#include "classad/ad.h"

#define DAY_S 86400

/* "7:05", "18:30": seconds since midnight. */
static bool read_clock(const char *text, int64_t *ret)
{
    int64_t parts[2] = {0, 0};
    const char *at = text;
    for (int i = 0; i < 2; i++) {
        size_t digits = strspn(at, "0123456789");
        if (digits < 1 || digits > 2 || (i == 1 && digits != 2)) {
            return false;
        }
        for (; digits > 0; digits--) {
            parts[i] = parts[i] * 10 + (*at++ - '0');
        }
        if (*at != (i == 0 ? ':' : '\0')) {
            return false;
        }
        at += i == 0 ? 1 : 0;
    }
    *ret = parts[0] * 3600 + parts[1] * 60;
    return parts[0] < 24 && parts[1] < 60;
}

static int64_t next(int64_t clock_s, int64_t now_s, const struct ad_context *zone)
{
    int64_t east_s = zone->zone_offset_s != NULL ? zone->zone_offset_s(zone->arg, now_s) : 0;
    int64_t at_s = now_s + east_s;
    at_s = at_s - at_s % DAY_S + clock_s - east_s;
    return at_s > now_s ? at_s : at_s + DAY_S;
}

int keep_plan_until(const char *text, int64_t now_s, const struct ad_context *zone, int64_t *ret,
                    struct err *err)
{
    int64_t number = 0;
    if (text_equal_nocase(text, "now")) {
        *ret = 0;
        return 0;
    }
    if (read_clock(text, &number)) {
        *ret = next(number, now_s, zone);
        return 0;
    }
    if (text_parse_duration_s(text, &number, NULL) == 0 && number > 0) {
        *ret = now_s + number;
        return 0;
    }
    if (text_parse_utc(text, &number, NULL) != 0) {
        return err_set(err, -EINVAL,
                       "'%s' is no time: 2h, 18:30, 2026-11-21T08:00:00Z, or now: no longer", text);
    }
    if (number / 1000 <= now_s) {
        return err_set(err, -EINVAL, "%s is past", text);
    }
    *ret = number / 1000;
    return 0;
}
