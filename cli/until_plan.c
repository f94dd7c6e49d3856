/* cli/until_plan.c - see until_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/until_plan.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad_eval.h"

#define DAY_S       86400
#define EPOCH_LEAST INT64_C(1000000000)   /* smaller numbers are long ago, and refused */
#define LATEST_S    INT64_C(253402300799) /* the end of the year 9999 */

static int64_t offset_s(const struct ad_context *now)
{
    return now->zone_offset_s != NULL ? now->zone_offset_s(now->arg, now->now_s) : 0;
}

/* Parses a time of day such as "7:05" or "18:30" into seconds since midnight. */
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

static int64_t next_time_at(int64_t clock_s, const struct ad_context *now)
{
    int64_t local_s = now->now_s + offset_s(now);
    int64_t at_s = local_s - local_s % DAY_S + clock_s;
    return (at_s > local_s ? at_s : at_s + DAY_S) - offset_s(now);
}

/* Parses a local date and time; a blank in place of the T is accepted, and so are missing
 * seconds. */
static bool read_local(const char *text, const struct ad_context *now, int64_t *ret)
{
    struct strbuf whole;
    int64_t at_ms;
    size_t length = strlen(text);
    if ((length != 16 && length != 19) || (text[10] != 'T' && text[10] != ' ')) {
        return false;
    }
    strbuf_init(&whole, 0);
    strbuf_printf(&whole, "%.10sT%s%sZ", text, text + 11, length == 16 ? ":00" : "");
    int rc = text_parse_utc(strbuf_text(&whole), &at_ms, NULL);
    strbuf_fini(&whole);
    if (rc == 0) {
        *ret = at_ms / 1000 - offset_s(now);
    }
    return rc == 0;
}

int until_plan_read(const char *text, const struct ad_context *now, int64_t *ret, struct err *err)
{
    int64_t at_s, ms, span_s;
    bool is_number = text_parse_int64(text, &at_s, NULL) == 0;
    if (is_number && at_s >= EPOCH_LEAST) {
        ;
    } else if (!is_number && text_parse_duration_s(text, &span_s, NULL) == 0) {
        at_s = span_s < LATEST_S ? now->now_s + span_s : LATEST_S;
    } else if (read_clock(text, &span_s)) {
        at_s = next_time_at(span_s, now);
    } else if (text_parse_utc(text, &ms, NULL) == 0) {
        at_s = ms / 1000;
    } else if (!read_local(text, now, &at_s)) {
        return err_set(
            err, -EINVAL,
            "'%.60s' is not a time such as 2h, 18:30, 2026-11-21T08:00, 2026-11-21T08:00:00Z",
            text);
    }
    if (at_s <= now->now_s || at_s > LATEST_S) {
        return err_set(err, -EINVAL, "'%.60s' is in the past, or too far in the future", text);
    }
    *ret = at_s;
    return 0;
}
