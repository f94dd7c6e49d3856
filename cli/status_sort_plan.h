/* cli/status_sort_plan.h - the order in which `roost status` shows ads.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_STATUS_SORT_PLAN_H
#define CLI_STATUS_SORT_PLAN_H

#include <stddef.h>

struct ad;
struct ad_context;
struct ad_expr;

/* By machine, slot, name. */
void status_sort_default(const struct ad **ads, size_t count);

/* -sort: by ascending values of the expressions, the first counts most; numbers before strings
 * (without case) before everything else; ads that are equal stay in their order. */
void status_sort_by(const struct ad **ads, size_t count, struct ad_expr *const *keys,
                    size_t key_count, const struct ad_context *context);

#endif
