/* classad/ad_stringlist.h - walks a list that is stored in one string; for the built-in functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_STRINGLIST_H
#define CLASSAD_AD_STRINGLIST_H

#include <stdbool.h>
#include <stddef.h>

struct ad_value;

/* Sets *item to the next element, without white space around it; empty elements are skipped.  The
 * caller sets *at to 0 first.  Returns false at the end.  item borrows from list and is NOT
 * zero-terminated.  set holds the separator bytes. */
bool ad_stringlist_next(const struct ad_value *list, const struct ad_value *set, size_t *at,
                        struct ad_value *item);

#endif
