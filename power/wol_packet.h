/* power/wol_packet.h - the magic packet that wakes a sleeping machine's network adapter
 * (Wake-on-LAN).
 *
 * The packet is six bytes 0xff, the adapter's hardware address sixteen times, and, if the adapter
 * demands it (SecureOn), a password of 4 or 6 bytes.  The adapter finds the packet anywhere in a
 * frame.  Roost sends it as a UDP datagram and as a frame of type 0x0842.  Source: AMD, "Magic
 * Packet Technology" (20213).
 * Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef POWER_WOL_PACKET_H
#define POWER_WOL_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/net_text.h"

struct err;

#define WOL_PASSWORD_MAX 6
#define WOL_PACKET_MAX   (6 + 16 * NET_MAC_BYTES + WOL_PASSWORD_MAX)
#define WOL_FRAME_TYPE   0x0842
#define WOL_PORT         9 /* UDP port "discard": hosts ignore datagrams to it */

struct wol_password {
    uint8_t bytes[WOL_PASSWORD_MAX];
    size_t length; /* number of bytes, 4 or 6; 0: no password */
};

struct wol_packet {
    uint8_t bytes[WOL_PACKET_MAX];
    size_t length;
};

/* Parses a password of six bytes, "01:23:45:67:89:ab", or of four, "1.2.3.4".  Returns 0; -EINVAL:
 * text is something else, and err does not quote it. */
int wol_password_parse(const char *text, struct wol_password *ret, struct err *err);
/* Returns whether an adapter can have this hardware address: it is not zero and not a group
 * address. */
bool wol_packet_can_wake(const uint8_t mac[NET_MAC_BYTES]);
/* Makes the magic packet for the adapter with this hardware address.  password NULL: none. */
void wol_packet_make(const uint8_t mac[NET_MAC_BYTES], const struct wol_password *password,
                     struct wol_packet *ret);
/* Returns whether data is exactly one magic packet and nothing else; if so, fills *ret and mac, the
 * hardware address in it.  For a relay, which sends packets for other machines. */
bool wol_packet_read(const void *data, size_t length, struct wol_packet *ret,
                     uint8_t mac[NET_MAC_BYTES]);

#endif
