/* classad/ad_attr.c - see ad_attr.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_attr.h"

#include <stddef.h>
#include <string.h>

#include "base/check.h"
#include "base/text.h"

bool ad_attr_is_known(const char *name)
{
    /* beginnings of names that contain a resource's or a slot's name */
    static const char *const MADE[] = {"Request*",  "Require*",   "Total*",       "Detected*",
                                       "Assigned*", "Available*", "MachineAttr*", "Child*",
                                       "Slot?_*",   "Slot??_*",   "*_RAW",        "Concurrency*"};
    for (size_t i = 0; i < ARRAY_COUNT(MADE); i++) {
        if (text_glob(MADE[i], name, true)) {
            return true;
        }
    }
    return ad_attr_is_listed(name);
}

bool ad_attr_is_listed(const char *name)
{
    for (size_t i = 0; ad_attr_names[i] != NULL; i++) {
        if (text_equal_nocase(ad_attr_names[i], name)) {
            return true;
        }
    }
    return false;
}

const char *ad_attr_nearest(const char *name)
{
    size_t length = strlen(name);
    size_t distance = length >= 6 ? 3 : length == 5 ? 2 : 1; /* one more than is allowed */
    const char *best = NULL;
    for (size_t i = 0; ad_attr_names[i] != NULL && distance > 1; i++) {
        size_t edits = text_distance(ad_attr_names[i], name, distance - 1);
        if (edits < distance) {
            distance = edits;
            best = ad_attr_names[i];
        }
    }
    return best;
}
