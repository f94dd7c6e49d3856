/* cli/until_plan.h - a time to come, as a person writes it: a deadline, until when.
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

/* "90m", "2h", "1 day": from now on; "18:30": when it is that time next, "2026-11-20T22:30[:00]":
 * both in the zone of now; "2026-11-21T08:00:00Z"; seconds since 1970.  -EINVAL: none of these, or
 * it is past. */
int until_plan_read(const char *text, const struct ad_context *now, int64_t *ret, struct err *err);

#endif
