/* rooster/look.h - examines machines: marks those that must be examined, reads what their ads say,
 * changes their states accordingly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_LOOK_H
#define ROOSTER_LOOK_H

#include <stdint.h>

#include "classad/ad_eval.h"

struct ad;
struct node;
struct rooster;

/* ---- look_mark.c: which machines are to be examined */
/* Has the marked machines examined, by look(), in the next pass of the event loop. */
void look_soon(struct rooster *rooster);
void look_mark(struct node *node);         /* marks the machine to be examined */
void look_at(struct node *node);           /* marks the machine and calls look_soon() */
void look_at_all(struct rooster *rooster); /* marks all machines and calls look_soon() */

/* ---- node_facts.c: what the ads of a machine say */
/* Reads the machine's ads into its struct node; does not change the machine's state. */
void look_see(struct node *node);
/* Returns the context for evaluating expressions in ads of machines; the steps are counted in
 * rooster->work. */
struct ad_context rooster_context(struct rooster *rooster);
/* To be called after the expression `what` of `ad` was evaluated.  over: the value that
 * rooster->work.over, the number of evaluations that exceeded their limit, had before.  If the
 * number has grown, logs, once for each node, that the expression is too costly. */
void look_tell_costly(struct node *node, const struct ad *ad, const char *what, uint64_t over);

/* ---- look.c */
/* Examines the marked machines if the rooster's watch has received all ads of the collector's
 * snapshot; else does nothing.  Called by a timer. */
void look(void *rooster);
/* Examines the marked machines, even if the rooster's watch has not received all ads of the
 * collector's snapshot yet. */
void look_now(struct rooster *rooster);

#endif
