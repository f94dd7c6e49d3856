/* rooster/sleep_record.h - a sleep that is under way, as it is written down.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_SLEEP_RECORD_H
#define ROOSTER_SLEEP_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct node;

#define SLEEP_TAKEN_BACK "TakenBack" /* Outcome of a sleep: jobs came, or an order by name */

/* With the reason of its state; done is called with the node when that is durable. */
void sleep_record_put(struct node *node, const char *outcome, void (*done)(void *node));
void sleep_record_end(struct node *node, const char *outcome); /* how it ended, if it was begun */
/* How long the order may take; 0: there is none. */
int64_t sleep_record_left_s(const struct node *node);
bool sleep_record_is_in(const struct node *node,
                        const struct ad *ad); /* does its offline ad say so? */
/* Its live ads are there, whatever was ordered: an order under way is taken back. */
void sleep_record_over(struct node *node);
/* Its offline ads do not ask for it, or no more. */
void sleep_record_settled(struct node *node);
/* It may go to sleep: that is written down, then done is called with the node. */
void sleep_record_granted(struct node *node, const char *level, const char *reason,
                          void (*done)(void *node));
/* One that a rooster before us has begun. */
void sleep_record_resume(struct node *node, const struct ad *record);

#endif
