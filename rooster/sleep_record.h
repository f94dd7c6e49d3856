/* rooster/sleep_record.h - records the sleep of a machine in the ledger, and keeps its state.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_SLEEP_RECORD_H
#define ROOSTER_SLEEP_RECORD_H

#include <stdbool.h>
#include <stdint.h>

struct ad;
struct node;

/* Outcome of a sleep that jobs, or an order by name, prevented */
#define SLEEP_TAKEN_BACK "TakenBack"

/* Writes the sleep with this outcome and the node's reason.  done is called with the node when it
 * is durable. */
void sleep_record_put(struct node *node, const char *outcome, void (*done)(void *node));
/* Writes the outcome if a sleep is under way, and ends it. */
void sleep_record_end(struct node *node, const char *outcome);
/* Returns how long the order to take it down may take, seconds; 0: no order was given. */
int64_t sleep_record_left_s(const struct node *node);
/* Returns whether the offline ad already says sleep_record_left_s(). */
bool sleep_record_is_in(const struct node *node, const struct ad *ad);
/* Call it when live ads came, whatever was ordered: cancels the order under way, and ends the sleep
 * as failed. */
void sleep_record_over(struct node *node);
/* Call it when the offline ads do not ask to be taken down: ends the sleep as "Asleep". */
void sleep_record_settled(struct node *node);
/* Writes that the machine may go to sleep; done is called with the node when it is durable. */
void sleep_record_granted(struct node *node, const char *level, const char *reason,
                          void (*done)(void *node));
/* Continues a sleep that an earlier rooster began; record: its ad in the ledger. */
void sleep_record_resume(struct node *node, const struct ad *record);

#endif
