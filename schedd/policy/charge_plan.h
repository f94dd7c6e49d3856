/* schedd/policy/charge_plan.h - to whose account a job may go.
 *
 * Pure.  What a job uses is charged to the submitter that its AccountingGroup names, "group.user"
 * or "user"; AcctGroup and AcctGroupUser say the two parts to the policies of machines.  Without a
 * map an owner may name any group and no user but itself.  With a map (ACCOUNTING_MAP) the words
 * that it has for the owner rule:
 *
 *     physics      the group physics, the owner being the user in it
 *     physics.*    that group and all below it, with any user
 *     *            everything
 *
 * The owner's own account, and the group of nice_user with the owner in it, need no word.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_POLICY_CHARGE_PLAN_H
#define SCHEDD_POLICY_CHARGE_PLAN_H

#include <stdbool.h>

struct ad;
struct err;

#define CHARGE_NAME_MAX  400 /* bytes of AccountingGroup */
#define CHARGE_PARTS_MAX 9   /* of it, between dots */

struct charge_rules {
    const char *owner; /* of the job */
    const char *nice;  /* the group of nice_user */
    const char *words; /* of the map, with commas or blanks between; NULL: there is no map */
    /* Is there an account of that name?  "physics.j.doe" of the owner doe is also j.doe's in the
     * group physics: it is refused where j.doe is an account. */
    bool (*is_account)(void *arg, const char *name);
    void *arg;
};

/* May a job with these attributes (an ad, or changes of one) go to that account?  0; -EINVAL (not a
 * literal string, not a name) or -EPERM, err naming the attribute, its value and the rule. */
int charge_plan_check(const struct ad *job, const struct charge_rules *rules, struct err *err);

/* Does the ad have one of the attributes that are judged? */
bool charge_plan_matters(const struct ad *ad);

#endif
