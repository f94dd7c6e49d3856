/* rooster/ticket.h - tells an administrator that a machine needs attention.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_TICKET_H
#define ROOSTER_TICKET_H

struct node;

/* Runs ROOSTER_TICKET_CMD, once for each trouble; the reason is the node's fault and reason. */
void ticket_open(struct node *node);

#endif
