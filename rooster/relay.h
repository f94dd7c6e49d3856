/* rooster/relay.h - neighbours send magic packets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ROOSTER_RELAY_H
#define ROOSTER_RELAY_H

struct relays;
struct rooster;

struct relays *relays_create(struct rooster *rooster); /* after its power, destroyed after it */
void relays_destroy(struct relays *relays);
void relays_look_again(struct relays *relays); /* the nodes have changed */

#endif
