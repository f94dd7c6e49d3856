/* shadow/link_accept.h - accepts connections of starters and clients, which the schedd passes on,
 * and checks who may come in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_LINK_ACCEPT_H
#define SHADOW_LINK_ACCEPT_H

struct guest;
struct incoming;
struct shadow;

/* callback for new connections; takes over incoming */
void link_accept(void *shadow, struct incoming *incoming);
/* Closes the connection of this guest; guest is freed. */
void links_end_guest(struct shadow *shadow, const struct guest *guest);
/* To be called when the process ends: closes all connections of starters and clients. */
void links_end(struct shadow *shadow);

#endif
