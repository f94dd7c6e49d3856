/* cli/why/why_node_plan.h - explains a machine: who or what switched it, why it is on, what keeps
 * it from sleeping.
 *
 * The sources are the rooster's state and ledger and the machine's own ads.  Each may be missing;
 * nothing is guessed then.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_NODE_PLAN_H
#define CLI_WHY_WHY_NODE_PLAN_H

#include <stddef.h>

struct ad;
struct ad_context;
struct strbuf;

#define WHY_NODE_RECORDS 5 /* most ledger records in the output */
#define WHY_NODE_VETOES  3 /* most slots whose HIBERNATE is in the output */

struct why_node {
    const char *name;
    const struct ad *node;   /* the rooster's ad about this machine; NULL: it has none */
    const char *silence;     /* why the rooster could not be asked; NULL: it answered */
    const struct ad **slots; /* the machine's ads in the collector, without dynamic slots */
    size_t slot_count;
    const struct ad **records; /* ledger records, newest first */
    size_t record_count;
};

/* Prints the explanation of a machine as text for people. */
void why_node_show(const struct why_node *node, const struct ad_context *context,
                   struct strbuf *out);
/* Makes an ad of the explanation, for -l and the like: MyType "Why", Node, the rooster's
 * attributes, and UpBecause, TakenBack, DoesNotSleep where they apply.  Owned by the caller. */
struct ad *why_node_ad(const struct why_node *node, const struct ad_context *context);

#endif
