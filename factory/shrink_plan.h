/* factory/shrink_plan.h - which glideins of a site go when an administrator orders it to shrink.
 *
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_SHRINK_PLAN_H
#define FACTORY_SHRINK_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "factory/glidein_state.h"

#define SHRINK_SHARE 4 /* at most a fourth of a site's glideins is removed at a time */

struct shrink_item {
    enum glidein_state state;
    bool is_claimed;
    bool is_going; /* its removal is ordered already */
};

/* Chooses up to `count` of n glideins, the oldest first in items: those that the site has not
 * started, the newest first; then those that have not joined the pool; then those without a job;
 * with force those with a job, too.  Writes their indexes to ret, which has room for n.  Returns
 * how many. */
size_t shrink_plan_choose(const struct shrink_item *items, size_t n, size_t count, bool force,
                          size_t *ret);
/* Returns how many of these glideins may be removed at a time. */
size_t shrink_plan_share(size_t total);
/* Returns in how many times so many of `total` are removed. */
size_t shrink_plan_times(size_t total, size_t removals);

#endif
