/* classad/ad_xml.h - ads to XML, in HTCondor's elements: <classads>, <c> an ad, <a n="..."> an
 * attribute, <i> <r> <s> <b v="t"/> <un/> <er/> <at> <rt> <l> its value, <e> an expression. Reading
 * it wants a library and is in classad_formats/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_XML_H
#define CLASSAD_AD_XML_H

#include <stdbool.h>

struct ad;
struct ad_expr;
struct strbuf;

extern const char ad_xml_header[]; /* what comes before the first ad of a file */
extern const char ad_xml_footer[]; /* and behind the last */

/* The line of one attribute, for those who choose which and in what order; without private
 * attributes of ads in it. */
void ad_print_xml_attribute(const char *name, const struct ad_expr *expr, struct strbuf *out);

/* One <c> element as HTCondor's tools print it, an attribute on each line.  Strings keep the
 * escapes of new syntax.  0, or -E2BIG when out failed. */
int ad_print_xml(const struct ad *ad, bool with_private, struct strbuf *out);

#endif
