/* wire/remote_ticket.h - the ticket with which a job's remote file system connects to its shadow.
 *
 * The ticket is a one-way digest of the run's nonce, which both starter and shadow know.  A job
 * that got hold of its ticket could reach only its own files, which it can reach anyway; it could
 * not pose as its starter.  The ticket need not be sent, and a shadow that was restarted can
 * compute it again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef WIRE_REMOTE_TICKET_H
#define WIRE_REMOTE_TICKET_H

#define REMOTE_TICKET_SIZE 65 /* bytes, with the terminating zero */

/* Computes the ticket of the run that has this nonce. */
void remote_ticket(const char *nonce, char ret[REMOTE_TICKET_SIZE]);

#endif
