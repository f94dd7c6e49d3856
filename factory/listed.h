/* factory/listed.h - what a site's own list of its glideins means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef FACTORY_LISTED_H
#define FACTORY_LISTED_H

#include <stdbool.h>

struct site;
struct site_answer;
struct site_compared;
struct vec;

#define LISTED_NAMES_MAX 100 /* names of one verdict that a comparison tells */

/* Takes the answer to a look. */
void listed_take(struct site *site, const struct site_answer *answer);
/* Compares what site, journal, pool and jobs have.  names, unless NULL: a vector for each verdict
 * (compare_plan.h), to which names are added, owned by the caller.  O(machines of the pool). */
void listed_compare(const struct site *site, struct site_compared *ret, struct vec *names);
/* Returns whether the name is of a glidein of this factory at this site, and not at a site whose
 * name only begins with this one's. */
bool listed_is_ours(const struct site *site, const char *name);

#endif
