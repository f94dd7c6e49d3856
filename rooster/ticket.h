/* rooster/ticket.h - tells an administrator that a machine needs attention.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_TICKET_H
#define ROOSTER_TICKET_H

struct node;

/* Runs ROOSTER_TICKET_CMD with a description of the machine and its trouble on standard input.  To
 * be called once for each trouble. */
void ticket_open(struct node *node);

#endif
