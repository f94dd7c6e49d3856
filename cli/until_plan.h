/* cli/until_plan.h - parses a time in the future as a person writes it, such as a deadline.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_UNTIL_PLAN_H
#define CLI_UNTIL_PLAN_H

#include <stdint.h>

struct ad_context;
struct err;

/* Parses "90m", "2h", "1 day" (from now); "18:30" (the next time it is that o'clock) and
 * "2026-11-20T22:30[:00]", both in the zone of now; "2026-11-21T08:00:00Z"; or seconds since 1970.
 * *ret is in seconds since 1970.  -EINVAL: none of these, or in the past. */
int until_plan_read(const char *text, const struct ad_context *now, int64_t *ret, struct err *err);

#endif
