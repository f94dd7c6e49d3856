/* schedd/submission/dollar_plan.h - $$(Attr), $$(Attr:default) and $$([expression]) in a job's
 * attributes: what they are on the slot that the job got.
 *
 * Pure.  As in HTCondor: $$(Attr) is the slot's attribute, a text without its quotes; the
 * expression is evaluated in the job with the slot as TARGET; $$(DOLLARDOLLAR) is "$$".  What is
 * undefined and has no default cannot be expanded.
 *
 * A value of the slot's must not lead a file of the owner's elsewhere: in attributes that name
 * files one with a slash in it is refused.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_DOLLAR_PLAN_H
#define SCHEDD_SUBMISSION_DOLLAR_PLAN_H

#include <stdbool.h>

struct ad;
struct ad_context;
struct err;

/* Has one of the ad's own attributes something to expand? */
bool dollar_plan_matters(const struct ad *ad);

/* Sets in ret, which is empty, MATCH_EXP_<Attr> for each attribute of the job (chained parents
 * included through parent, which may be NULL) that has something to expand, and MATCH_<name> for
 * each attribute of the slot that was looked up.  -EINVAL with err: HTCondor's sentence. */
int dollar_plan_expand(const struct ad *job, const struct ad *parent, const struct ad *slot,
                       const struct ad_context *context, struct ad *ret, struct err *err);

/* Puts what was expanded, in own, in the place of what it was expanded from, in flat. */
void dollar_plan_apply(const struct ad *own, struct ad *flat);
/* Takes what was expanded before out of own. */
void dollar_plan_forget(struct ad *own);

#endif
