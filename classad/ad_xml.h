/* classad/ad_xml.h - ads to XML with HTCondor's elements: <classads>; <c> an ad; <a n="..."> an
 * attribute; <i> <r> <s> <b v="t"/> <un/> <er/> <at> <rt> <l> its value; <e> an expression.
 * Reading XML needs a library and is in classad_formats/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_XML_H
#define CLASSAD_AD_XML_H

#include <stdbool.h>

struct ad;
struct ad_expr;
struct strbuf;

extern const char ad_xml_header[]; /* the text before the first ad of a file */
extern const char ad_xml_footer[]; /* the text after the last ad of a file */

/* Appends the line of one attribute, for callers that choose the attributes and their order.
 * Private attributes of ads within the value are left out. */
void ad_print_xml_attribute(const char *name, const struct ad_expr *expr, struct strbuf *out);

/* Appends one <c> element as HTCondor's tools print it, each attribute on its own line; private
 * attributes only if with_private.  Strings keep the escapes of new syntax.  Returns 0, or -E2BIG
 * when out failed. */
int ad_print_xml(const struct ad *ad, bool with_private, struct strbuf *out);

#endif
