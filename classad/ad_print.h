/* classad/ad_print.h - ads to text.
 *
 * Attributes print in order of the length of their name, then by name without case (as in
 * HTCondor), so equal ads print the same text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_PRINT_H
#define CLASSAD_AD_PRINT_H

struct ad;
struct strbuf;

/* Appends the ad in new syntax, on one line, with private attributes. */
void ad_print(const struct ad *ad, struct strbuf *out);
/* Appends the ad in long form, with private attributes. */
void ad_print_long(const struct ad *ad, struct strbuf *out);
/* Appends the ad in long form without private attributes, for people and queries. */
void ad_print_long_public(const struct ad *ad, struct strbuf *out);

#endif
