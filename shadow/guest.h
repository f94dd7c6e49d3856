/* shadow/guest.h - clients whom the schedd lets in with a ticket: docs/protocol/access.md.
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

void guests_begin(struct shadow *shadow);
void guests_admit(struct shadow *shadow, struct wire_request *request); /* JOB_ADMIT */
/* Uses the ticket up; NULL: it is none, or too old. */
struct guest *guest_enter(struct shadow *shadow, const char *ticket);
void guest_handle(struct guest *guest, struct wire_request *request);
void guest_leave(struct guest *guest); /* its connection is over */
/* Of these tokens ("id,id"): tickets are none any more, and who came with one (struct guest) is
 * appended to gone, for the caller to send away. */
void guests_revoked(struct shadow *shadow, const char *token_ids, struct vec *gone);
/* Appends the tokens of all that are there, or have a ticket. */
void guests_put_tokens(const struct shadow *shadow, struct strbuf *out);
/* Somebody is there who moves files, or may come any moment. */
bool guests_are_there(struct shadow *shadow);
void guests_end(struct shadow *shadow); /* the process ends; their connections are closed */

#endif
