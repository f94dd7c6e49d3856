/* rooster/look.h - examines machines: which are due, what their ads say, and what follows from
 * that.
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
/* examines the marked machines in the next turn of the loop */
void look_soon(struct rooster *rooster);
void look_mark(struct node *node);         /* marks the machine to be examined */
void look_at(struct node *node);           /* marks the machine and calls look_soon() */
void look_at_all(struct rooster *rooster); /* marks all machines and calls look_soon() */

/* ---- node_facts.c: what the ads of a machine say */
void look_see(struct node *node); /* reads what its ads say now; changes no state */
/* Returns the context for evaluating expressions in ads of machines; the steps are counted in
 * rooster->work. */
struct ad_context rooster_context(struct rooster *rooster);
/* Logs that an expression of `ad` is too costly, once for each node, if rooster->work.over has
 * changed from `over`. */
void look_tell_costly(struct node *node, const struct ad *ad, const char *what, uint64_t over);

/* ---- look.c */
/* examines the marked machines, if the copy of the ads is complete; a timer's callback */
void look(void *rooster);
/* Examines them whether or not the copy is complete. */
void look_now(struct rooster *rooster);

#endif
