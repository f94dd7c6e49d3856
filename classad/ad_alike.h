/* classad/ad_alike.h - parses ads of the long form that are mostly like one before them.
 *
 * Design note: a file of a pool's slots has thousands of ads with the same lines but for a few.  To
 * compare a line with that of an earlier ad costs a hundredth of parsing it.  So the first ad
 * becomes the model; an ad with the same names in the same order is made from the model and the
 * lines that differ, and is in the pool, as if it had been parsed and packed.  An ad that is not
 * like the model is parsed in full and becomes the model.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_ALIKE_H
#define CLASSAD_AD_ALIKE_H

#include <stddef.h>

struct ad;
struct ad_alike;
struct ad_context;
struct ad_pool;
struct err;

struct ad_alike *ad_alike_create(struct ad_pool *pool); /* pool is borrowed */
void ad_alike_destroy(struct ad_alike *alike);          /* NULL is allowed */

/* Does what ad_parse_long_in() does (ad_parse.h), and puts the ad into the pool. */
int ad_alike_parse(struct ad_alike *alike, const char *text, size_t length,
                   const struct ad_context *context, struct ad **ret, size_t *fault,
                   struct err *err);

#endif
