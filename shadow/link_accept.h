/* shadow/link_accept.h - connections of starters and clients, passed on by the schedd: who is let
 * in.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_LINK_ACCEPT_H
#define SHADOW_LINK_ACCEPT_H

struct guest;
struct incoming;
struct shadow;

void link_accept(void *shadow, struct incoming *incoming); /* a listener_f */
/* Closes the connection of that client, who leaves with it. */
void links_end_guest(struct shadow *shadow, const struct guest *guest);
void links_end(struct shadow *shadow); /* the process ends */

#endif
