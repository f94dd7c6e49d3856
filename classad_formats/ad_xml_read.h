/* classad_formats/ad_xml_read.h - XML to ads; what it means is in classad/ad_xml.h.
 *
 * libxml2 reads the bytes as they come, through its SAX interface: only the ad under way is kept.
 * A document that declares entities is refused at the declaration; no external DTD is looked for,
 * nothing is fetched; nesting, names and texts have the library's limits and ours.  In a folder of
 * its own, so that who links classad/ alone needs no libxml2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_FORMATS_AD_XML_READ_H
#define CLASSAD_FORMATS_AD_XML_READ_H

#include <stddef.h>

#include "classad/ad_stream.h"

struct ad_xml_reader;

/* context (for the zone of times that name none) may be NULL and outlives the reader. */
struct ad_xml_reader *ad_xml_reader_create(const struct ad_context *context);
void ad_xml_reader_destroy(struct ad_xml_reader *reader); /* NULL is allowed */

/* Takes what the document has next; length 0: that was all.  0, or -EINVAL or -E2BIG (or, without
 * libxml2 on this machine, -ENOENT) with err and *place (may be NULL) filled: the document cannot
 * be read on.  The ads before that place are still to be had. */
int ad_xml_reader_feed(struct ad_xml_reader *reader, const char *bytes, size_t length,
                       struct ad_place *place, struct err *err);

/* 1 and *ret (ad_destroy): the next ad that is complete.  0: none is.  -EINVAL or -E2BIG: it is
 * refused, err and *place (may be NULL) say why and where, and the next call goes on behind it. */
int ad_xml_reader_next(struct ad_xml_reader *reader, struct ad **ret, struct ad_place *place,
                       struct err *err);

#endif
