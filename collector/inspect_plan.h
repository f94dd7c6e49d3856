/* collector/inspect_plan.h - what is wrong with a machine's ad, in words for whoever owns it.
 *
 * One bad ad hurts nobody else; the least that can be done for its owner is to say what is bad.
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef COLLECTOR_INSPECT_PLAN_H
#define COLLECTOR_INSPECT_PLAN_H

#include <stdbool.h>

#define INSPECT_ATTRIBUTES_USUAL 1000 /* an ad with more is told so */
#define INSPECT_TEXT_MAX         400  /* bytes of all words about an ad */

struct ad;
struct ad_context;
struct strbuf;

/* Appends what is wrong, nothing when nothing is: attributes without end; Requirements, Start or
 * Rank that refer to themselves, and what Requirements needs that does; a part of Requirements that
 * is an error whatever the job (an expression that is one, a pattern that no search comes to an end
 * with); no Requirements; Cpus, Memory, Disk that are no numbers or below 0.  Cost: some
 * evaluations, each within its limits. */
void inspect_plan_ad(const struct ad *ad, const struct ad_context *context, struct strbuf *out);

#endif
