/* rooster/choose.h - chooses which of the wanted machines are woken now.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_CHOOSE_H
#define ROOSTER_CHOOSE_H

#include <stddef.h>

struct node;
struct rooster;
struct wake_candidate;

struct candidates { /* list of the machines that are wanted, waking or in quarantine */
    struct wake_candidate *plan;
    struct node **nodes;
    size_t *chosen;
    size_t count, capacity;
};

/* Updates the machine's entry in the list of candidates, or removes the entry.  To be called when
 * the machine was examined. */
void choose_from(struct node *node);
/* Calls look_mark() for each machine whose quarantine is over, so that the machine is examined. */
void choose_due(struct rooster *rooster);
/* Lets wake_plan.h choose among the candidates and wakes the chosen machines. */
void choose_wakes(struct rooster *rooster);
void choose_fini(struct rooster *rooster);

#endif
