/* rooster/ticket.h - somebody must see to a machine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_TICKET_H
#define ROOSTER_TICKET_H

struct node;

void ticket_open(struct node *node); /* somebody must see to it; why is in its fault and reason */

#endif
