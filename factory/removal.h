/* factory/removal.h - which glideins a site is to remove, and how many at a time.
 *
 * At most a part of a site's glideins is removed at a time, so that no mistake, such as a lost
 * journal, empties the site at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_REMOVAL_H
#define FACTORY_REMOVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct glidein;
struct site;
struct vec;

/* Marks for removal what the site has not started, a part of it at a time, when no jobs wait for
 * it. */
void removal_shrink(struct site *site);
/* Marks for removal what has been started and does not join: it is of no use, and says that the
 * site is not, either. */
void removal_give_up_late(struct site *site);
/* What an order to shrink brings about. */
struct removal_order {
    size_t chosen;  /* glideins that are removed */
    size_t now;     /* of them: at once */
    int64_t rest_s; /* in so many seconds all of them are asked to end */
    size_t claimed; /* glideins that have jobs */
};
/* Marks up to `count` glideins for removal, as shrink_plan.h says. */
void removal_order(struct site *site, size_t count, bool force, struct removal_order *ret);
/* Appends the names, borrowed from the glideins, that the site is to be asked to remove now. */
void removal_take(struct site *site, struct vec *ret);
/* Returns when something changes for a glidein only because time goes by, in monotonic ms;
 * UINT64_MAX: never. */
uint64_t removal_due_ms(const struct glidein *glidein);

#endif
