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

/* Sorts ads by machine, slot and name. */
void status_sort_default(const struct ad **ads, size_t count);

/* Finds the order of status_sort_default() for ads that arrive one after the other and are not
 * kept. */
struct status_order;
struct status_order *status_order_create(void);
void status_order_destroy(struct status_order *order); /* NULL is allowed */
void status_order_add(struct status_order *order, const struct ad *ad);
/* The indices of the ads (0 for the first one added) in sorted order; NULL when they were added in
 * sorted order. The order owns the list.  Add no more ads after this call. */
const uint32_t *status_order_list(struct status_order *order);

/* Sorts for -sort: by ascending values of the expressions, the first being most significant;
 * numbers before strings (ignoring case) before all other values.  The sort is stable. */
void status_sort_by(const struct ad **ads, size_t count, struct ad_expr *const *keys,
                    size_t key_count, const struct ad_context *context);

#endif
