/* rooster/relay.h - lets awake machines send magic packets (Wake-on-LAN) on their own network.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_RELAY_H
#define ROOSTER_RELAY_H

struct relays;
struct rooster;

/* Call it after rooster->power was made; call relays_destroy() after that was destroyed. */
struct relays *relays_create(struct rooster *rooster);
void relays_destroy(struct relays *relays);
void relays_look_again(struct relays *relays); /* call it when nodes changed */

#endif
