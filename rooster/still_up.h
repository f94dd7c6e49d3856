/* rooster/still_up.h - asks a machine that is wanted, and has just gone to sleep, whether it is
 * still up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_STILL_UP_H
#define ROOSTER_STILL_UP_H

#include <stdbool.h>

struct node;

/* Asks the startd to take the sleep back, if the offline ads are young.  Returns true when the
 * machine may still be up: the answer is awaited, and the node is examined again after it. */
bool still_up_ask(struct node *node);
void still_up_again(void *node); /* callback of the timer: asks again */
/* The sleep is taken back, for those who wait: live ads will come. */
void still_up_stays(struct node *node);
/* Tells the startd that we take the sleep back, which we would have carried out ourselves. */
void still_up_tell(struct node *node);

#endif
