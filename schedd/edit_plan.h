/* schedd/edit_plan.h - which attributes of a job may be changed once it is in the queue.
 *
 * Pure.  Nobody may change attributes that the schedd itself maintains, because an attribute has
 * one writer.  Then HTCondor's lists apply: nobody may change an immutable attribute, and only a
 * queue super user may change a protected one.
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
    /* lists of names, each NULL-terminated, or NULL.  immutable: IMMUTABLE_JOB_ATTRS and
     * SYSTEM_IMMUTABLE_JOB_ATTRS; protected: PROTECTED_JOB_ATTRS and SYSTEM_PROTECTED_JOB_ATTRS */
    const char *const *immutable[2];
    const char *const *protected[2];
    bool is_super; /* the caller is a queue super user */
};

/* Checks that the caller may set all attributes of changes.  Returns 0; or, with err, -EINVAL
 * (changes is empty, has more than EDIT_ATTRIBUTES_MAX attributes, or one with an invalid name) or
 * -EPERM (the caller may not change the attribute that err names). */
int edit_plan_check(const struct ad *changes, const struct edit_rules *rules, struct err *err);

#endif
