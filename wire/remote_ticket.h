/* wire/remote_ticket.h - what lets a job's file system in at its shadow.
 *
 * It is made of the run's nonce, which starter and shadow have, in a way that does not lead back: a
 * job that came by its ticket could reach its own files, which it can anyway, and not speak as its
 * starter.  So nothing has to be told, and a shadow that was started again knows it, too.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_REMOTE_TICKET_H
#define WIRE_REMOTE_TICKET_H

#define REMOTE_TICKET_SIZE 65

/* The ticket of the run with that nonce. */
void remote_ticket(const char *nonce, char ret[REMOTE_TICKET_SIZE]);

#endif
