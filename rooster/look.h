/* rooster/look.h - from ads to nodes: what is to be looked at, what its ads say, and what follows.
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

/* ---- look_mark.c: what is to be looked at */
void look_soon(struct rooster *rooster); /* at what is marked */
void look_mark(struct node *node);
void look_at(struct node *node); /* soon */
void look_at_all(struct rooster *rooster);

/* ---- node_facts.c: what the ads say */
void look_see(struct node *node); /* what its ads say now; changes no state */
/* To evaluate in ads of machines: counted into rooster->work. */
struct ad_context rooster_context(struct rooster *rooster);
/* Logs whose ad it is, once for each node, if rooster->work.over is not `over` any more. */
void look_tell_costly(struct node *node, const struct ad *ad, const char *what, uint64_t over);

/* ---- look.c */
void look(void *rooster);
/* The same, whether the copy of the ads is complete or not. */
void look_now(struct rooster *rooster);

#endif
