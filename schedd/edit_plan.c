/* schedd/edit_plan.c - see edit_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/edit_plan.h"

#include <errno.h>
#include <stddef.h>

#include "base/check.h"
#include "base/err.h"
#include "classad/ad.h"
#include "schedd/submission/submit_plan.h"

static bool is_in(const char *const *list, const char *name)
{
    for (size_t i = 0; list != NULL && list[i] != NULL; i++) {
        if (ad_name_compare(list[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_in_lists(const char *const *const lists[2], const char *name)
{
    return is_in(lists[0], name) || is_in(lists[1], name);
}

int edit_plan_check(const struct ad *changes, const struct edit_rules *rules, struct err *err)
{
    size_t at = 0;
    const char *name = NULL;
    if (ad_count(changes) == 0 || ad_count(changes) > EDIT_ATTRIBUTES_MAX) {
        return err_set(err, -EINVAL, "between 1 and %d attributes can be changed at once",
                       EDIT_ATTRIBUTES_MAX);
    }
    while (ad_next(changes, &at, &name, NULL)) {
        if (!ad_name_is_valid(name)) {
            return err_set(err, -EINVAL, "'%.100s' is not a valid attribute name", name);
        }
        if (submit_plan_is_ours(name) || ad_attr_is_private(name)) {
            return err_set(err, -EPERM, "%s is maintained by the schedd and cannot be changed",
                           name);
        }
        if (is_in_lists(rules->immutable, name)) {
            return err_set(err, -EPERM, "%s is immutable (IMMUTABLE_JOB_ATTRS)", name);
        }
        if (!rules->is_super && is_in_lists(rules->protected, name)) {
            return err_set(
                err, -EPERM,
                "%s is protected (PROTECTED_JOB_ATTRS); only a queue super user may change it",
                name);
        }
    }
    return 0;
}
