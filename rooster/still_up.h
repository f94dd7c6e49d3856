/* rooster/still_up.h - asks a machine that is wanted, and has just gone to sleep, whether it is
 * still up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_STILL_UP_H
#define ROOSTER_STILL_UP_H

#include <stdbool.h>

struct node;

/* If the machine went to sleep at most a minute ago, asks its startd to stay up instead, and
 * returns true: the machine may still be up, and is examined again after the answer.  Returns false
 * if the machine is down. */
bool still_up_ask(struct node *node);
void still_up_again(void *node); /* asks the startd again; called by a timer of the node */
/* Notes that the machine stays up for the jobs or the person that want this machine: its state
 * becomes WAKE_STAYING, and live ads will come. */
void still_up_stays(struct node *node);
/* Tells the startd that the rooster, which was to power its machine down, leaves it up. */
void still_up_tell(struct node *node);

#endif
