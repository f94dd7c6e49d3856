/* power/wol_packet.h - the magic packet that wakes a sleeping machine's network adapter.
 *
 * Six bytes 0xff, the adapter's hardware address sixteen times, and, where the adapter wants one
 * (SecureOn), a password of 4 or 6 bytes.  Where in a frame it stands does not matter to the
 * adapter; it goes out as a UDP datagram and as a frame of type 0x0842.  AMD's paper "Magic Packet
 * Technology" (20213) describes it.  Pure.
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
#define WOL_PORT         9 /* UDP discard: nobody answers */

struct wol_password {
    uint8_t bytes[WOL_PASSWORD_MAX];
    size_t length; /* 0: none, 4 or 6 */
};

struct wol_packet {
    uint8_t bytes[WOL_PACKET_MAX];
    size_t length;
};

/* "01:23:45:67:89:ab", or of four bytes "1.2.3.4".  -EINVAL; err does not quote the text. */
int wol_password_parse(const char *text, struct wol_password *ret, struct err *err);
/* May an adapter have that address?  Not that of nobody, nor one of a group. */
bool wol_packet_can_wake(const uint8_t mac[NET_MAC_BYTES]);
void wol_packet_make(const uint8_t mac[NET_MAC_BYTES], const struct wol_password *password,
                     struct wol_packet *ret); /* password may be NULL */
/* Is that a magic packet, the whole of it and nothing else?  For who sends another's. */
bool wol_packet_read(const void *data, size_t length, struct wol_packet *ret,
                     uint8_t mac[NET_MAC_BYTES]);

#endif
