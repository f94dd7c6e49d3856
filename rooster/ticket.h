/* rooster/ticket.h - tells an administrator that a machine needs attention.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_TICKET_H
#define ROOSTER_TICKET_H

struct node;

/* Runs ROOSTER_TICKET_CMD with an ad on standard input that describes the machine and what went
 * wrong.  To be called once when the machine is put into quarantine, sleeps again at once too often
 * although jobs wait, or joins with less than its offline ads said. */
void ticket_open(struct node *node);
/* The same for a machine that does not respond (Fault NotResponding). */
void ticket_open_silent(struct node *node);

#endif
