/* pilot/ticket.h - exchanges the ticket that a glidein was started with for a token of its own.
 *
 * A ticket travels through the site: others may see it on its way, and later.  So it is good for
 * one exchange.  The glidein makes its own key, and the factory signs a token for it
 * (docs/protocol/wire.md, section 4.15).  The new token replaces the ticket in TOKEN_FILE before
 * the startd is started.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef PILOT_TICKET_H
#define PILOT_TICKET_H

#include <stdbool.h>

struct daemon;

/* Returns whether this text of a token is a ticket. */
bool ticket_is(const char *token);

/* A process that does the exchange.  It waits for collector and factory until the ticket ends.
 * Exit status 0: TOKEN_FILE has the new token; 1: it was refused, or the ticket has ended. */
extern const struct daemon ticket_daemon;

#endif
