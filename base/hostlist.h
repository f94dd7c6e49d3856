/* base/hostlist.h - many hosts as one word, there and back: "lab[01-16,20]".
 *
 * Whoever runs a lab says and reads its machines by ranges, not one by one.  The form is the one
 * that clusters have settled on: names separated by commas or blanks, in each any number of
 * brackets with numbers and ranges; a range is padded to the length of its first number, so that
 * [08-11] is 08 09 10 11, and [8-11] is 8 9 10 11.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_HOSTLIST_H
#define BASE_HOSTLIST_H

#include <stddef.h>

struct err;
struct strbuf;
struct vec;

#define HOSTLIST_NAME_MAX  255 /* bytes of one name */
#define HOSTLIST_COUNT_MAX ((size_t)100000)

/* Appends the names (mem_ blocks) in their order; a name that is there already, case ignored, is
 * not added again.  -EINVAL: what is wrong with which word; -E2BIG: more than
 * HOSTLIST_COUNT_MAX names, or so many that are said more than once.  names is as before then. */
int hostlist_expand(const char *text, struct vec *names, struct err *err);

/* Appends the shortest text that expands to the same names, but for their order: sorted, numbers by
 * their value, and folded at the last number before the first dot ("wn[1-3].example.org").  A name
 * that could not be read back is written as it is.  O(count log count). */
void hostlist_fold(const char *const *names, size_t count, struct strbuf *out);

#endif
