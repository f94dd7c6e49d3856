/* cli/why/why_node_plan.h - the story of a machine: who or what switched it, why it is up, what
 * keeps it from sleeping.
 *
 * Put together from what the rooster knows (its state, its ledger) and what the machine's own ads
 * say; each part may be missing, and then nothing is guessed.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_WHY_WHY_NODE_PLAN_H
#define CLI_WHY_WHY_NODE_PLAN_H

#include <stddef.h>

struct ad;
struct ad_context;
struct strbuf;

#define WHY_NODE_RECORDS 5 /* of the ledger that are shown */
#define WHY_NODE_VETOES  3 /* slots whose HIBERNATE is shown */

struct why_node {
    const char *name;
    const struct ad *node;   /* the rooster's; NULL: it has none of that name */
    const char *silence;     /* why the rooster could not be asked; NULL: it was */
    const struct ad **slots; /* the machine's ads in the collector, without pieces */
    size_t slot_count;
    const struct ad **records; /* of the ledger, newest first */
    size_t record_count;
};

/* Lines of text. */
void why_node_show(const struct why_node *node, const struct ad_context *context,
                   struct strbuf *out);
/* The same for -l and its like: MyType "Why", Node, the rooster's attributes, UpBecause,
 * TakenBack and DoesNotSleep where they hold.  Owned by the caller. */
struct ad *why_node_ad(const struct why_node *node, const struct ad_context *context);

#endif
