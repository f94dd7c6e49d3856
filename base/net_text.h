/* base/net_text.h - IPv4 addresses, masks, networks and hardware addresses as texts.
 *
 * Strict, as base/text.h: the whole text or nothing, and never a name that somebody would have to
 * look up.  The C library's readers take "1", "010.1" and "1.2.3" for addresses; who has written
 * those into a configuration meant something else.  IPv4 numbers are in the order of the host.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_NET_TEXT_H
#define BASE_NET_TEXT_H

#include <stdint.h>

struct err;

#define NET_TEXT_MAX  32 /* bytes of any text made here */
#define NET_MAC_BYTES 6

struct net_subnet {
    uint32_t address; /* of the network: its host bits are 0 */
    uint32_t mask;    /* ones, then zeros */
};

/* Return 0 or -EINVAL; outputs stay untouched then.  err quotes the text. */
int net_text_ipv4(const char *text, uint32_t *ret, struct err *err); /* "10.0.0.7" */
int net_text_mask(const char *text, uint32_t *ret, struct err *err); /* "255.255.255.0" */
/* "10.0.0.0/24", "10.0.0.7/255.255.255.0": host bits in the address are dropped. */
int net_text_subnet(const char *text, struct net_subnet *ret, struct err *err);
/* "52:54:00:12:34:56", "52-54-...", "5254.0012.3456", "525400123456", in any case. */
int net_text_mac(const char *text, uint8_t ret[NET_MAC_BYTES], struct err *err);

/* As they are read; each returns ret. */
char *net_text_put_ipv4(uint32_t address, char ret[NET_TEXT_MAX]);
char *net_text_put_subnet(const struct net_subnet *subnet, char ret[NET_TEXT_MAX]); /* with /24 */
char *net_text_put_mac(const uint8_t mac[NET_MAC_BYTES], char ret[NET_TEXT_MAX]); /* "52:54:..." */

/* The address that all of the network listen to; of a network of one or two, and of all of IPv4,
 * which have none, 255.255.255.255. */
uint32_t net_subnet_broadcast(const struct net_subnet *subnet);

#endif
