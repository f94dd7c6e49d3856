/* rooster/sleep_record.h - records the sleep of a machine in the ledger, and ends sleeps.
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

/* Writes the machine's sleep under way to the ledger, with this outcome and node->reason.  done,
 * unless NULL, is called with the node when that is durable. */
void sleep_record_put(struct node *node, const char *outcome, void (*done)(void *node));
/* If a sleep is under way, writes its outcome to the ledger and ends the sleep. */
void sleep_record_end(struct node *node, const char *outcome);
/* Returns how long the order to power the machine down may take in all (not the rest), seconds;
 * 0: no such order is under way. */
int64_t sleep_record_down_max_s(const struct node *node);
/* Returns whether PowerDownSeconds in the offline ad already has the value of
 * sleep_record_down_max_s(). */
bool sleep_record_is_in(const struct node *node, const struct ad *ad);
/* Cancels the order to power the machine down, if it is under way, and ends the sleep as failed. To
 * be called when live ads of the machine came. */
void sleep_record_over(struct node *node);
/* Ends the sleep under way with the outcome "Asleep".  To be called when offline ads are there that
 * do not ask the rooster to power the machine down. */
void sleep_record_settled(struct node *node);
/* Writes to the ledger that the machine may go to sleep; done is called with the node when the
 * record is durable.  level: how deep ("S3", "S5"); reason: why the startd wants the sleep. */
void sleep_record_granted(struct node *node, const char *level, const char *reason,
                          void (*done)(void *node));
/* Continues a sleep that an earlier rooster began.  record: the ledger's ad of this sleep. */
void sleep_record_resume(struct node *node, const struct ad *record);

#endif
