/* cli/status/status_sort_plan.h - the order in which `roost status` shows ads.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_STATUS_STATUS_SORT_PLAN_H
#define CLI_STATUS_STATUS_SORT_PLAN_H

#include <stddef.h>
#include <stdint.h>

struct ad;
struct ad_context;
struct ad_expr;

/* By machine, slot, name. */
void status_sort_default(const struct ad **ads, size_t count);

/* The same of ads that come one after the other and are not kept. */
struct status_order;
struct status_order *status_order_create(void);
void status_order_destroy(struct status_order *order); /* NULL is allowed */
void status_order_add(struct status_order *order, const struct ad *ad);
/* The numbers of the ads, counted from 0 as they were added, in their order; NULL: they came in it.
 * The list is the order's; no more is added. */
const uint32_t *status_order_list(struct status_order *order);

/* -sort: by ascending values of the expressions, the first counts most; numbers before strings
 * (without case) before everything else; ads that are equal stay in their order. */
void status_sort_by(const struct ad **ads, size_t count, struct ad_expr *const *keys,
                    size_t key_count, const struct ad_context *context);

#endif
