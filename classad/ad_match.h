/* classad/ad_match.h - whether two ads match: the Requirements of each accept the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_MATCH_H
#define CLASSAD_AD_MATCH_H

#include <stdbool.h>

struct ad;
struct ad_context;

/* True when the Requirements of both ads, each evaluated with the other ad as target, are true or a
 * number that is not zero.  An ad without Requirements does not match. */
bool ad_match(const struct ad *a, const struct ad *b, const struct ad_context *context);

/* Checks only my's Requirements, with target as the other ad. */
bool ad_match_half(const struct ad *my, const struct ad *target, const struct ad_context *context);

#endif
