/* classad/ad_stringlist.h - walking a list that is kept in one string; for the functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_STRINGLIST_H
#define CLASSAD_AD_STRINGLIST_H

#include <stdbool.h>
#include <stddef.h>

struct ad_value;

/* *at = 0 first; item borrows from list and is NOT zero-terminated; false at the end.  set: the
 * separating bytes. */
bool ad_stringlist_next(const struct ad_value *list, const struct ad_value *set, size_t *at,
                        struct ad_value *item);

#endif
