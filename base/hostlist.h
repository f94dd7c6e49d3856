/* base/hostlist.h - a list of hosts as one short text, in both directions: "lab[01-16,20]".
 *
 * Operators name machines by ranges, not one by one.  The form is the usual one of clusters: names
 * separated by commas or blanks; each name may contain any number of brackets with numbers and
 * ranges.  The numbers of a range are padded to the length of its first number: [08-11] is 08 09 10
 * 11, [8-11] is 8 9 10 11.  A word "@rack1" stands for all machines of a group.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_HOSTLIST_H
#define BASE_HOSTLIST_H

#include <stddef.h>

struct err;
struct strbuf;
struct vec;

#define HOSTLIST_NAME_MAX  255 /* most bytes of a host name, without the terminating zero */
#define HOSTLIST_COUNT_MAX ((size_t)100000) /* most names in one list */

struct hostlist_groups {
    /* Sets *ret to the machines of the group, a text for hostlist_expand() that stays good while
     * the names are expanded.  Returns 0, or -errno with err: no such group. */
    int (*machines_of)(void *arg, const char *name, const char **ret, struct err *err);
    void *arg;
};

/* Appends the names in the text, in their order; the caller frees each with mem_free().  A name
 * that the vector contains already, ignoring case, is not added again.  groups: where the groups
 * are found; NULL: a word that begins with '@' is malformed.  Returns 0; -EINVAL: a word is
 * malformed, err names it; what machines_of() returned; -E2BIG: more than HOSTLIST_COUNT_MAX names,
 * counting repeated ones.  On failure `names` is unchanged. */
int hostlist_expand(const char *text, const struct hostlist_groups *groups, struct vec *names,
                    struct err *err);

/* Appends a short text that hostlist_expand() turns into the same names, except for their order:
 * names are sorted, numbers by value, and ranges are made of the last number before the first dot
 * ("wn[1-3].example.org").  A name that hostlist_expand() would not read back is written unchanged.
 * O(count log count). */
void hostlist_fold(const char *const *names, size_t count, struct strbuf *out);

#endif
