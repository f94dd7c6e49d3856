/* classad/ad_project.h - copies some attributes of many ads, in binary form.
 *
 * A query for a table wants a dozen attributes of ads that have hundreds.  Similar ads have these
 * attributes in the same places (ad_pool.h).  A projection remembers the places, and the header
 * bytes that it wrote for the previous ad, so an ad costs little more than copying a dozen values.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_PROJECT_H
#define CLASSAD_AD_PROJECT_H

#include <stdbool.h>
#include <stddef.h>

struct ad;
struct ad_projection;
struct strbuf;

/* Makes a projection to the attributes names[0..count).  names are copied; a repeated name counts
 * once.  count is at most AD_ATTRS_MAX. */
struct ad_projection *ad_projection_create(const char *const *names, size_t count);
void ad_projection_destroy(struct ad_projection *projection); /* NULL is allowed */

/* Appends the binary form, as ad_encode() writes it, of an ad that has only the wanted attributes
 * among ad's own.  Private attributes are written if they are wanted; private attributes of ads
 * within a value are written only if with_private.  Returns true.  With literals_only, returns
 * false and appends nothing when a wanted attribute is not a literal, because its value may depend
 * on other attributes. */
bool ad_project(struct ad_projection *projection, const struct ad *ad, bool with_private,
                bool literals_only, struct strbuf *out);

#endif
