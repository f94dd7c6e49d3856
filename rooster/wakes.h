/* rooster/wakes.h - the course of a wake: the order, its outcome, and what happens after the
 * outcome.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_WAKES_H
#define ROOSTER_WAKES_H

#include <stdbool.h>

struct node;

/* These are the values of Fault in the ledger: what went wrong with a wake. */
#define FAULT_ORDER   "OrderFailed"   /* the method could not give the order */
#define FAULT_SILENT  "DoesNotAnswer" /* the machine did not come; its methods cannot tell why */
#define FAULT_OFF     "StaysOff"      /* the machine did not come; its method reports it off */
#define FAULT_NO_JOIN "NeverJoins"    /* the machine did not come; its method reports it on */
/* The machine joined with fewer cores or less memory than its offline ads said. */
#define FAULT_LESS "LessThanPromised"
/* The machine joined, and slept at once although jobs waited for it. */
#define FAULT_AGAIN "AsleepAgain"

void node_wake(struct node *node); /* begins a wake: writes the ledger, then gives the order */
/* Callback of node->deadline.  A machine that is being woken: ends the attempt as failed; one in
 * state WAKE_STAYING: changes its state to WAKE_OFF; one that goes down: has it examined again
 * (look_at()). */
void node_no_show(void *node);
void node_give_up(struct node *node); /* ends the wake as failed, and writes that to the ledger */
/* Ends the wake under way, if any, as successful; the machine's state becomes WAKE_UP.  To be
 * called when a live ad of the machine is there. */
void node_is_up(struct node *node);
/* To be called when the machine is being woken and its method reports that it is off.  Asks the
 * method again, and ends the attempt as failed if the machine is still off. */
void node_went_off(struct node *node);
/* To be called when the machine's offline ads are there and the machine is down: its state becomes
 * WAKE_OFF. */
void node_is_asleep(struct node *node, const char *reason);
/* To be called when jobs wait for a machine that slept again at once after a wake
 * (node->history.nap_s).  Counts such events, and after several in a row puts the machine into
 * quarantine. */
void node_napped(struct node *node);
/* Orders the wake of a machine.  asked_by: who demands the wake, a text for ads and logs; test:
 * the wake is recorded as a self-test. */
void node_order(struct node *node, const char *asked_by, bool test);
/* Ends the machine's quarantine and forgets earlier failures, because of an order by name. */
void node_pardon(struct node *node);

#endif
