/* classad/ad_lister.h - many ads as text, a line for each attribute, in order of the alphabet.
 *
 * What people ask for with -l and -json: ten thousand ads alike, a hundred and seventy lines each,
 * most of which are the same in all.  A lister remembers for each place of a shape (ad_pool.h) the
 * bytes of the value it printed last and its line: the same bytes are the same line.
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

/* wanted: only these attributes (no case; copied); none: all. */
struct ad_lister *ad_lister_create(enum ad_lister_form form, const char *const *wanted,
                                   size_t wanted_count);
void ad_lister_destroy(struct ad_lister *lister); /* NULL is allowed */

/* Appends the lines of an ad, without private attributes; those of ads within values are shown in
 * the long form, and not in JSON. */
void ad_lister_print(struct ad_lister *lister, const struct ad *ad, struct strbuf *out);

#endif
