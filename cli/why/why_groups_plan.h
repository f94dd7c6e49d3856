/* cli/why/why_groups_plan.h - groups ads that are equal in all attributes that a match with one ad
 * can look at.
 *
 * Whether two ads match depends only on some of their attributes: both Requirements, the
 * attributes that a Requirements names, and the attributes that the expressions of these name in
 * turn.  Ads that are equal in these attributes give the same answers, so it is enough to judge
 * one ad of each group: a pool of ten thousand machines has a few dozen groups.  Attributes that a
 * user may change to get a match are among the named ones, because other attributes cannot change
 * the match.
 *
 * The names in a text that is evaluated at run time (eval("...")) cannot be seen.  When an
 * expression contains such a call, or names too many attributes, each ad is a group of its own.
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_GROUPS_PLAN_H
#define CLI_WHY_WHY_GROUPS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ad;

/* At most so many attribute names are compared; beyond this, each ad is a group of its own. */
#define WHY_NAMES_MAX 256

struct why_groups {
    size_t count;
    size_t *first;    /* for each group: index of its first ad; ascending */
    size_t *group_of; /* for each ad: the number of its group */
};

/* Groups others[0..count) by what can matter for a match with ad. */
struct why_groups *why_groups_create(const struct ad *ad, const struct ad *const *others,
                                     size_t count);
void why_groups_destroy(struct why_groups *groups); /* NULL is allowed */

#endif
