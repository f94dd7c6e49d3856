/* classad/ad_project.h - some attributes of many ads, in binary form.
 *
 * A query for a table wants a dozen attributes of ads that have hundreds.  Ads alike have them in
 * the same places (ad_pool.h): a projection remembers where, and what it wrote before the values of
 * the ad before, so that an ad costs little more than copying a dozen values.
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

/* Names are copied; one that comes twice counts once.  Not above AD_ATTRS_MAX. */
struct ad_projection *ad_projection_create(const char *const *names, size_t count);
void ad_projection_destroy(struct ad_projection *projection); /* NULL is allowed */

/* Appends, as ad_encode() would an ad that has only these attributes of ad (its own).  Private
 * ones among them are written; those in ads within a value only if with_private.  With
 * literals_only: false, and nothing is appended, when one of them is
 * more than a literal, so that its value may depend on others. */
bool ad_project(struct ad_projection *projection, const struct ad *ad, bool with_private,
                bool literals_only, struct strbuf *out);

#endif
