/* classad/ad_match.c - evaluates the Requirements of two ads against each other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "classad/ad_match.h"

#include "classad/ad_private.h"

bool ad_match_half(const struct ad *my, const struct ad *target, const struct ad_context *context)
{
    const struct ad_expr *requirements = ad_lookup(my, "Requirements");
    return requirements != NULL && ad_eval_bool(requirements, my, target, context) == AD_TRUE;
}

bool ad_match(const struct ad *a, const struct ad *b, const struct ad_context *context)
{
    return ad_match_half(a, b, context) && ad_match_half(b, a, context);
}
