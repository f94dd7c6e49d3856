/* cli/classad/classad_match_plan.h - whether two ads want one another, and what keeps them apart.
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLASSAD_CLASSAD_MATCH_PLAN_H
#define CLI_CLASSAD_CLASSAD_MATCH_PLAN_H

#include <stdbool.h>

struct ad;
struct ad_context;
struct strbuf;

/* Writes, for each side, what its Requirements and its Rank come to against the other; of
 * Requirements that are not true each demand that is not, with the values of the attributes in it.
 * Returns whether both are true. */
bool classad_match_print(const struct ad *a, const struct ad *b, const struct ad_context *context,
                         struct strbuf *out);

#endif
