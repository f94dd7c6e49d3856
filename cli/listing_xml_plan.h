/* cli/listing_xml_plan.h - ads as XML, as HTCondor's tools write it.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_LISTING_XML_PLAN_H
#define CLI_LISTING_XML_PLAN_H

struct ad_expr;
struct strbuf;

void listing_xml_begin(struct strbuf *out);
/* One line of an ad: a literal in the element of its type, else the text of the expression. */
void listing_xml_attribute(const char *name, const struct ad_expr *expr, struct strbuf *out);
void listing_xml_end(struct strbuf *out);

#endif
