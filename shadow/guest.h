/* shadow/guest.h - guests: clients that the schedd lets in with a ticket, to look into a running
 * job or to move spooled files (docs/protocol/access.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_GUEST_H
#define SHADOW_GUEST_H

#include <stdbool.h>

struct guest;
struct shadow;
struct strbuf;
struct vec;
struct wire_request;

/* Makes the empty lists of guests and tickets.  To be called once at the start. */
void guests_begin(struct shadow *shadow);
/* Handles JOB_ADMIT: notes a ticket that the schedd has issued. */
void guests_admit(struct shadow *shadow, struct wire_request *request);
/* Lets in the client that shows this ticket; the ticket cannot be used again.  Returns the guest;
 * NULL: the ticket is
 * unknown or too old, or there are too many guests. */
struct guest *guest_enter(struct shadow *shadow, const char *ticket);
/* Answers a request of a guest if the guest's ticket allows the request; else refuses it. */
void guest_handle(struct guest *guest, struct wire_request *request);
void guest_leave(struct guest *guest); /* frees a guest whose connection closed */
/* Handles the revocation of tokens (comma-separated ids): drops unused tickets that were issued for
 * these tokens, and appends to gone each connected guest of theirs (struct guest), whom the caller
 * must disconnect. */
void guests_revoked(struct shadow *shadow, const char *token_ids, struct vec *gone);
/* Appends to out the comma-separated ids of the tokens of all connected guests and unused
 * tickets. */
void guests_put_tokens(const struct shadow *shadow, struct strbuf *out);
/* Returns whether a guest is connected or an unused ticket exists, so that the shadow must not
 * end. */
bool guests_are_there(struct shadow *shadow);
/* frees guests and tickets; to be called after links_end() */
void guests_end(struct shadow *shadow);

#endif
