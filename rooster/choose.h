/* rooster/choose.h - from nodes to wakes: who of those that are wanted is woken now.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_CHOOSE_H
#define ROOSTER_CHOOSE_H

#include <stddef.h>

struct node;
struct rooster;
struct wake_candidate;

struct candidates { /* who is wanted, or waking, or left alone; choose.c */
    struct wake_candidate *plan;
    struct node **nodes;
    size_t *chosen;
    size_t count, capacity;
};

void choose_from(struct node *node);      /* it was looked at: perhaps it is a candidate */
void choose_due(struct rooster *rooster); /* marks those whose quarantine is over */
void choose_wakes(struct rooster *rooster);
void choose_fini(struct rooster *rooster);

#endif
