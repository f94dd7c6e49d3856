/* classad/ad_func_name.c - the names of the built-in functions (ad_func_table.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stddef.h>

#include "base/check.h"
#include "base/text.h"
#include "classad/ad_func.h"
#include "classad/ad_func_table.h"
#include "classad/ad_private.h"

#define NAME(name, ...) name,

static const char *const NAMES[] = {AD_FUNCTIONS(NAME)};

_Static_assert(ARRAY_COUNT(NAMES) < AD_CALL_UNKNOWN, "the index of a function must fit in a byte");

uint8_t ad_func_index(const char *name, size_t length)
{
    size_t low = 0;
    size_t high = ARRAY_COUNT(NAMES);
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *known = NAMES[middle];
        size_t i = 0;
        while (i < length && known[i] != '\0' && ad_lower(name[i]) == known[i]) {
            i++;
        }
        if (i == length && known[i] == '\0') {
            return (uint8_t)middle;
        }
        if (i == length ||
            (known[i] != '\0' && (unsigned char)ad_lower(name[i]) < (unsigned char)known[i])) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return AD_CALL_UNKNOWN;
}

const char *ad_func_nearest(const char *name)
{
    size_t distance = 3; /* one more than is allowed */
    const char *best = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(NAMES) && distance > 1; i++) {
        size_t edits = text_distance(NAMES[i], name, distance - 1);
        if (edits < distance) {
            distance = edits;
            best = NAMES[i];
        }
    }
    return best;
}
