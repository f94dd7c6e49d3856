/* classad/ad_match.h - do two ads want one another?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLASSAD_AD_MATCH_H
#define CLASSAD_AD_MATCH_H

#include <stdbool.h>

struct ad;
struct ad_context;

/* Requirements of both, each with the other as its target, are true (numbers: not zero).  Absent
 * Requirements do not match. */
bool ad_match(const struct ad *a, const struct ad *b, const struct ad_context *context);

/* Only my's Requirements. */
bool ad_match_half(const struct ad *my, const struct ad *target, const struct ad_context *context);

#endif
