/* cli/keep_plan.h - parses the time until which a machine is to be kept awake, as a person writes
 * it.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_KEEP_PLAN_H
#define CLI_KEEP_PLAN_H

#include <stdint.h>

struct ad_context;
struct err;

/* Parses any time that until_plan_read() accepts, in the given zone; "now" gives 0 (no longer
 * kept).  -EINVAL: not such a time, or in the past. */
int keep_plan_until(const char *text, int64_t now_s, const struct ad_context *zone, int64_t *ret,
                    struct err *err);

#endif
