/* classad/ad_print.h - ads to text.
 *
 * Attributes print ordered by length of name, then by name without case (as HTCondor prints them),
 * so that equal ads print alike.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_PRINT_H
#define CLASSAD_AD_PRINT_H

struct ad;
struct strbuf;

/* new syntax, one line, private attributes included */
void ad_print(const struct ad *ad, struct strbuf *out);
/* long form, private attributes included */
void ad_print_long(const struct ad *ad, struct strbuf *out);
/* Long form for people and queries: without private attributes. */
void ad_print_long_public(const struct ad *ad, struct strbuf *out);

#endif
