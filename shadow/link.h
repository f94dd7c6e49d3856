/* shadow/link.h - connections of starters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_LINK_H
#define SHADOW_LINK_H

#include <stdbool.h>

struct guest;
struct incoming;
struct link;
struct shadow;
struct wire;

void link_accept(void *shadow, struct incoming *incoming); /* a listener_f */
void link_close(struct link *link);
/* Closes the connection of that client, who leaves with it. */
void links_end_guest(struct shadow *shadow, const struct guest *guest);
struct wire *link_wire(const struct link *link);
void link_stays(struct link *link, bool stays);
/* Its run is over: closed, unless its starter stays for the next one. */
void link_let_go(struct link *link);

#endif
