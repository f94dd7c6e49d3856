/* rooster/still_up.h - is a machine that is wanted down at all?
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_STILL_UP_H
#define ROOSTER_STILL_UP_H

#include <stdbool.h>

struct node;

/* True: it may be up yet, and is asked; it is looked at again when that is known. */
bool still_up_ask(struct node *node);
void still_up_again(void *node); /* the ask_timer's */
/* Its sleep is taken back, for whom waits: its live ads will come. */
void still_up_stays(struct node *node);
void still_up_tell(struct node *node); /* ... by us, who would have taken it down */

#endif
