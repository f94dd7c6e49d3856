/* rooster/wakes.h - the course of a wake, from the order to its outcome and what happens after
 * that.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_WAKES_H
#define ROOSTER_WAKES_H

#include <stdbool.h>

struct node;

/* Values of Fault in the ledger: what went wrong with a wake. */
#define FAULT_ORDER   "OrderFailed"   /* the method could not give the order */
#define FAULT_SILENT  "DoesNotAnswer" /* the machine did not come, and no method can tell why */
#define FAULT_OFF     "StaysOff"      /* its method reports that it is still switched off */
#define FAULT_NO_JOIN "NeverJoins"    /* its method reports that it is switched on */
/* The machine joined with fewer cores or less memory than its offline ads said. */
#define FAULT_LESS "LessThanPromised"
/* The machine joined, and slept at once although jobs waited for it. */
#define FAULT_AGAIN "AsleepAgain"

void node_wake(struct node *node); /* begins a wake: writes the ledger, then gives the order */
void node_no_show(void *node);     /* callback of the deadline: the machine did not come in time */
void node_give_up(struct node *node); /* ends the wake as failed, and writes that to the ledger */
void node_is_up(struct node *node);   /* call it when its live ad is there */
/* Call it when its method reports that the machine, which is being woken, is off. */
void node_went_off(struct node *node);
/* Call it when its offline ads are there and it is down. */
void node_is_asleep(struct node *node, const char *reason);
/* Call it when jobs wait for a machine that slept at once after a wake (history.nap_s): counts it,
 * and may put the machine into quarantine. */
void node_napped(struct node *node);
/* Somebody orders the wake by name.  test: a self-test, which is recorded as one. */
void node_order(struct node *node, const char *asked_by, bool test);
/* An order by name ends its quarantine and forgets earlier failures. */
void node_pardon(struct node *node);

#endif
