/* cli/keep_plan.h - until when a machine is to be kept up, as a person writes it.
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

/* What until_plan_read() understands, in that zone; "now": 0, not any longer.  -EINVAL: none of
 * these, or it is past. */
int keep_plan_until(const char *text, int64_t now_s, const struct ad_context *zone, int64_t *ret,
                    struct err *err);

#endif
