/* schedd/submission/dollar_plan.h - expands $$(Attr), $$(Attr:default) and $$([expression]) in a
 * job's attributes with the values of the slot that the job got.
 *
 * Pure.  As in HTCondor: $$(Attr) is the slot's attribute, a string without its quotes.  An
 * expression is evaluated in the job, with the slot as TARGET. $$(DOLLARDOLLAR) is "$$".  An
 * undefined value without a default cannot be expanded.
 *
 * A value from the slot must not lead the owner's files to another place.  So in attributes that
 * name files, a value with a slash in it is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_DOLLAR_PLAN_H
#define SCHEDD_SUBMISSION_DOLLAR_PLAN_H

#include <stdbool.h>

struct ad;
struct ad_context;
struct err;

/* Returns true when one of the ad's own attributes (NULL: none) has a $$() to expand. */
bool dollar_plan_matters(const struct ad *ad);

/* Expands the attributes of job and, as far as job does not override them, of parent (the ad that
 * job is chained to; may be NULL).  Sets in ret, which must be empty, MATCH_EXP_<Attr> for each
 * expanded attribute, and MATCH_<name> for each attribute of the slot that was used.  Returns 0, or
 * -EINVAL with err, in HTCondor's words. */
int dollar_plan_expand(const struct ad *job, const struct ad *parent, const struct ad *slot,
                       const struct ad_context *context, struct ad *ret, struct err *err);

/* Replaces attributes in flat by their expansions MATCH_EXP_<Attr> from own (may be NULL). */
void dollar_plan_apply(const struct ad *own, struct ad *flat);
/* Removes earlier expansions (MATCH_...) from own. */
void dollar_plan_forget(struct ad *own);

#endif
