/* rooster/still_up.h - asks a machine that is wanted, and has just gone to sleep, whether it is
 * still up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_STILL_UP_H
#define ROOSTER_STILL_UP_H

#include <stdbool.h>

struct node;

/* To be called when the machine has just gone to sleep, and when it is up again. */
void still_up_slept(struct node *node);
void still_up_woke(struct node *node);
/* If the machine went to sleep a short time ago (WAKE_DOWN_MAX_MS), asks its startd to stay up
 * instead, then its power method whether it is off, and returns true: the machine may still be up,
 * and is examined again after the answer.  Returns false if the machine can be woken. */
bool still_up_ask(struct node *node);
/* Asks again, or gives the order again; called by a timer of the node. */
void still_up_again(void *node);
/* To be called when the power method reports that the machine is off. */
void still_up_went_off(struct node *node);
/* Returns why a machine that is wanted is not woken yet; NULL: it need not wait for that. */
const char *still_up_held(const struct node *node);
/* To be called for a machine that is being woken.  If the order may have come too early and may be
 * repeated, sets the timer for the next order. */
void still_up_repeat(struct node *node);
/* Notes that the machine stays up for the jobs or the person that want this machine: its state
 * becomes WAKE_STAYING, and live ads will come. */
void still_up_stays(struct node *node);
/* Tells the startd that the rooster, which was to power its machine down, leaves it up. */
void still_up_tell(struct node *node);

#endif
