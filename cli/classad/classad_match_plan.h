/* cli/classad/classad_match_plan.h - shows whether two ads match, and if not, why.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_CLASSAD_CLASSAD_MATCH_PLAN_H
#define CLI_CLASSAD_CLASSAD_MATCH_PLAN_H

#include <stdbool.h>

struct ad;
struct ad_context;
struct strbuf;

/* Prints the values of the Requirements and the Rank of each side against the other.  Where
 * Requirements is not true, also prints each clause that is not true with the values of its
 * attributes.  Returns whether both Requirements are true. */
bool classad_match_print(const struct ad *a, const struct ad *b, const struct ad_context *context,
                         struct strbuf *out);

#endif
