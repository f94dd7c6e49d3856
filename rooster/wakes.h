/* rooster/wakes.h - the life of a wake, and what comes after it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_WAKES_H
#define ROOSTER_WAKES_H

#include <stdbool.h>

struct node;

/* What was wrong with a wake: Fault in the ledger. */
#define FAULT_ORDER   "OrderFailed"      /* the method could not give the order */
#define FAULT_SILENT  "DoesNotAnswer"    /* nothing was heard, and nobody can be asked */
#define FAULT_OFF     "StaysOff"         /* its method says that it is still switched off */
#define FAULT_NO_JOIN "NeverJoins"       /* its method says that it is switched on */
#define FAULT_LESS    "LessThanPromised" /* it joined, with less than its offline ads said */
#define FAULT_AGAIN   "AsleepAgain"      /* it joined, and slept at once while jobs waited for it */

void node_wake(struct node *node);     /* writes the ledger, then gives the order */
void node_no_show(void *node);         /* the deadline's: it is over */
void node_give_up(struct node *node);  /* the wake has failed: so it is written down */
void node_is_up(struct node *node);    /* its live ad is there */
void node_went_off(struct node *node); /* it was woken, and its method tells that it is off */
/* Its offline ads are there, and it is down. */
void node_is_asleep(struct node *node, const char *reason);
/* It slept at once after a wake (history.nap_s), and jobs wait for it: again, or still? */
void node_napped(struct node *node);
/* Somebody asks for it by name; a test is a wake like any other, but written down as one. */
void node_order(struct node *node, const char *asked_by, bool test);
void node_pardon(struct node *node); /* somebody asks for it by name: what failed before is over */

#endif
