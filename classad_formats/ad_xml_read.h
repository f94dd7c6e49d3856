/* classad_formats/ad_xml_read.h - reads ads from XML; classad/ad_xml.h describes the elements.
 *
 * libxml2 parses the bytes as they arrive, through its SAX interface; only the current ad is kept
 * in memory.  A document that declares entities is refused at the declaration.  No external DTD is
 * loaded and nothing is fetched.  Nesting, names and texts are limited by libxml2 and by
 * ad_limits.h.  The reader has a folder of its own, so that programs which link only classad/ do
 * not need libxml2.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_FORMATS_AD_XML_READ_H
#define CLASSAD_FORMATS_AD_XML_READ_H

#include <stddef.h>

#include "classad/ad_stream.h"

struct ad_xml_reader;

/* Makes a reader for one document.  context: the time zone for times that name none (NULL: UTC);
 * must outlive the reader. */
struct ad_xml_reader *ad_xml_reader_create(const struct ad_context *context);
void ad_xml_reader_destroy(struct ad_xml_reader *reader); /* NULL is allowed */

/* Parses the next bytes of the document; length 0 means the end.  Returns 0; or, with err and
 * *place (may be NULL) filled, -EINVAL (malformed), -E2BIG (a limit) or -ENOENT (this machine has
 * no libxml2): the document cannot be read further.  Ads before that place can still be fetched
 * with ad_xml_reader_next(). */
int ad_xml_reader_feed(struct ad_xml_reader *reader, const char *bytes, size_t length,
                       struct ad_place *place, struct err *err);

/* Returns 1 and sets *ret (release with ad_destroy()): the next complete ad.  0: no complete ad
 * yet. -EINVAL (malformed) or -E2BIG (a limit): the next ad is refused, err and *place (may be
 * NULL) say why and where, and the next call continues after the refused ad. */
int ad_xml_reader_next(struct ad_xml_reader *reader, struct ad **ret, struct ad_place *place,
                       struct err *err);

#endif
