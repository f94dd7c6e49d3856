/* rooster/relay.h - lets awake machines send magic packets (Wake-on-LAN) on their own network.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_RELAY_H
#define ROOSTER_RELAY_H

struct relays;
struct rooster;

/* Makes the list of the machines that can relay magic packets, and makes rooster->power, which must
 * exist, use it.  relays_destroy() must be called after rooster->power was destroyed. */
struct relays *relays_create(struct rooster *rooster);
void relays_destroy(struct relays *relays);
/* Forgets which awake machines are on which network; this is found out again for the next packet.
 * To be called when a machine can relay now, cannot any more, or is on another network. */
void relays_look_again(struct relays *relays);

#endif
