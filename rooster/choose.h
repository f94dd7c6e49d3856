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

/* List of the machines that are waking, are in quarantine, or may be woken: for jobs, by an order
 * that names the machine, or for the reserve. */
struct candidates {
    struct wake_candidate *plan;
    struct node **nodes;
    size_t *chosen;
    size_t count, capacity;
};

/* Updates the machine's entry in the list of candidates; makes the entry if the machine now belongs
 * in the list, and removes it if not.  To be called when the machine was examined. */
void choose_from(struct node *node);
/* Calls look_mark() for each machine whose quarantine is over, so that the machine is examined. */
void choose_due(struct rooster *rooster);
/* Lets wake_plan.h choose among the candidates and wakes the chosen machines. */
void choose_wakes(struct rooster *rooster);
void choose_fini(struct rooster *rooster);

#endif
