/* schedd/policy/charge_plan.h - decides to whose account a job may be charged.
 *
 * Pure.  What a job uses is charged to the submitter that its AccountingGroup names, "group.user"
 * or "user".  AcctGroup and AcctGroupUser give the two parts to the policies of machines.  Without
 * a map, an owner may name any group, but no user except itself.  With a map (ACCOUNTING_MAP) the
 * words that the map has for the owner decide:
 *
 *     physics      the group physics, with the owner as the user in it
 *     physics.*    the group physics and all groups below it, with any user
 *     *            everything
 *
 * No word is needed for the owner's own account, and for the group of nice_user with the owner in
 * it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_POLICY_CHARGE_PLAN_H
#define SCHEDD_POLICY_CHARGE_PLAN_H

#include <stdbool.h>

struct ad;
struct err;

/* most bytes of AccountingGroup, without the terminating zero */
#define CHARGE_NAME_MAX  400
#define CHARGE_PARTS_MAX 9 /* most parts of AccountingGroup, separated by dots */

struct charge_rules {
    const char *owner; /* name of the job's owner */
    const char *nice;  /* accounting group of jobs with nice_user */
    /* what ACCOUNTING_MAP allows the owner: names of groups and patterns such as "physics.*",
     * separated by commas or blanks; NULL: no ACCOUNTING_MAP is configured */
    const char *words;
    /* Callback: returns whether the host has a Unix account of this name.  "physics.j.doe" of the
     * owner doe could also mean the user j.doe in the group physics; so it is refused when there is
     * a Unix account j.doe. */
    bool (*is_account)(void *arg, const char *name);
    void *arg;
};

/* Checks whether a job with these attributes (its ad, or changes to it) may be charged as they say.
 * Returns 0; -EINVAL (not a string literal, not a valid name) or -EPERM, with err naming the
 * attribute, its value and the rule. */
int charge_plan_check(const struct ad *job, const struct charge_rules *rules, struct err *err);

/* Returns true when the ad has an attribute that charge_plan_check() examines. */
bool charge_plan_matters(const struct ad *ad);

#endif
