/* schedd/edit_plan.h - which attributes of a job may be changed once it is in the queue.
 *
 * Pure.  What the schedd keeps itself nobody sets (an attribute has one writer); then HTCondor's
 * lists: immutable ones nobody sets, protected ones only a queue super user.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_EDIT_PLAN_H
#define SCHEDD_EDIT_PLAN_H

#include <stdbool.h>

struct ad;
struct err;

#define EDIT_ATTRIBUTES_MAX 1000

struct edit_rules {
    /* NULL-terminated, NULL for none: IMMUTABLE_JOB_ATTRS, SYSTEM_..., and the protected ones */
    const char *const *immutable[2];
    const char *const *protected[2];
    bool is_super;
};

/* May all of changes be set?  0; -EINVAL (none, too many, not a name) or -EPERM, err naming the
 * attribute and the rule. */
int edit_plan_check(const struct ad *changes, const struct edit_rules *rules, struct err *err);

#endif
