/* classad/ad_lister.h - prints many ads as text, one line for each attribute, in alphabetical
 * order.
 *
 * For -l and -json: often ten thousand similar ads of a hundred and seventy lines, most of them
 * equal. A lister remembers, for each attribute place of a shape (a set of attribute names,
 * ad_pool.h), the value bytes it printed last and the line they made; equal bytes reuse that line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_LISTER_H
#define CLASSAD_AD_LISTER_H

#include <stddef.h>

struct ad;
struct ad_lister;
struct strbuf;

enum ad_lister_form {
    AD_LISTER_LONG, /* `Name = expression`, in the syntax of the long form */
    AD_LISTER_JSON  /* an object, each attribute on a line of its own */
};

/* Makes a lister.  wanted: names of the attributes to print (any case; copied); wanted_count 0: all
 * attributes. */
struct ad_lister *ad_lister_create(enum ad_lister_form form, const char *const *wanted,
                                   size_t wanted_count);
void ad_lister_destroy(struct ad_lister *lister); /* NULL is allowed */

/* Appends the lines of one ad, without its private attributes.  Private attributes of ads nested in
 * values are shown in the long form but not in JSON. */
void ad_lister_print(struct ad_lister *lister, const struct ad *ad, struct strbuf *out);

#endif
