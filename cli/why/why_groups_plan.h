/* cli/why/why_groups_plan.h - ads that are alike in all that a match with one ad can look at.
 *
 * Whether an ad matches another depends on some of its attributes only: its Requirements, what the
 * other's Requirements names, and all that these name in turn, on either side.  Ads that are equal
 * in those answer every question about the match alike, so that one of each kind is enough: a pool
 * of ten thousand machines has a few dozen.  Attributes that may be changed to try what would
 * happen are among those that are named, for they change the match only if they are.
 *
 * What a text computes at run time (eval("...")) cannot be seen; where such a call is among the
 * expressions, or too many attributes are named, each ad is a kind of its own.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_GROUPS_PLAN_H
#define CLI_WHY_WHY_GROUPS_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct ad;

#define WHY_NAMES_MAX 256 /* attributes that are compared; beyond: each ad for itself */

struct why_groups {
    size_t count;
    size_t *first;    /* by group: the number of its first ad; ascending */
    size_t *group_of; /* by ad */
};

/* Groups others[0..count) by what matters for a match with ad. */
struct why_groups *why_groups_create(const struct ad *ad, const struct ad *const *others,
                                     size_t count);
void why_groups_destroy(struct why_groups *groups); /* NULL is allowed */

#endif
