/* rooster/relay.h - lets awake machines send magic packets (Wake-on-LAN) on their own network.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_RELAY_H
#define ROOSTER_RELAY_H

struct relays;
struct rooster;

/* Makes the relays and sets them for rooster->power, which must exist.  relays_destroy() must be
 * called after rooster->power was destroyed. */
struct relays *relays_create(struct rooster *rooster);
void relays_destroy(struct relays *relays);
/* Makes the relays find anew which machines are awake in which network.  To be called when a
 * machine can relay now, cannot any more, or is on another network. */
void relays_look_again(struct relays *relays);

#endif
