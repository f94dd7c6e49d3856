/* base/net_text.h - reads and writes IPv4 addresses, masks, networks and hardware addresses as
 * text.
 *
 * Strict, like base/text.h: the whole text must be valid, and host names are not accepted.  The C
 * library's readers take "1", "010.1" and "1.2.3" for addresses; somebody who writes those into a
 * configuration means something else.  IPv4 addresses are numbers in host byte order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_NET_TEXT_H
#define BASE_NET_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct err;

/* enough bytes for any result of net_text_put_...(), with the terminating zero */
#define NET_TEXT_MAX  32
#define NET_MAC_BYTES 6

struct net_subnet {
    uint32_t address; /* address of the network, whose host bits are 0 */
    uint32_t mask;    /* ones for the network's bits, then zeros */
};

/* Reads "10.0.0.7".  net_text_ipv4(), net_text_mask(), net_text_subnet() and net_text_mac() return
 * 0; or -EINVAL, with ret untouched and the text quoted in err. */
int net_text_ipv4(const char *text, uint32_t *ret, struct err *err);
int net_text_mask(const char *text, uint32_t *ret, struct err *err); /* reads "255.255.255.0" */
/* Reads "10.0.0.0/24" or "10.0.0.7/255.255.255.0"; host bits of the address are cleared. */
int net_text_subnet(const char *text, struct net_subnet *ret, struct err *err);
/* Reads "52:54:00:12:34:56", "52-54-...", "5254.0012.3456" or "525400123456", in any case. */
int net_text_mac(const char *text, uint8_t ret[NET_MAC_BYTES], struct err *err);

/* Reads "HOST", "HOST:PORT", "[IPV6]" or "[IPV6]:PORT"; the host is not examined.  *host_length:
 * how many bytes at the beginning are the host, with its brackets; *port stays as it was if the
 * text has none.  Returns 0; or -EINVAL, with the text quoted in err. */
int net_text_address(const char *text, size_t *host_length, int64_t *port, struct err *err);

/* Writes "10.0.0.7".  The functions net_text_put_...() return ret, and write texts that
 * net_text_ipv4(), net_text_subnet() and net_text_mac() accept. */
char *net_text_put_ipv4(uint32_t address, char ret[NET_TEXT_MAX]);
char *net_text_put_subnet(const struct net_subnet *subnet, char ret[NET_TEXT_MAX]); /* with /24 */
char *net_text_put_mac(const uint8_t mac[NET_MAC_BYTES], char ret[NET_TEXT_MAX]); /* "52:54:..." */

/* Returns the network's broadcast address; 255.255.255.255 for networks that have none: those of
 * one or two addresses, and the whole of IPv4. */
uint32_t net_subnet_broadcast(const struct net_subnet *subnet);

#define NET_FINGERPRINT_SIZE 65 /* the hex digits of a SHA-256, and the terminating zero */
/* Converts the SHA-256 fingerprint of a certificate, as people write it ("AB:CD:..."), to 64 lower
 * case hex digits.  Returns 0; or -EINVAL: another character, or another number of digits. */
int net_text_fingerprint(const char *text, char ret[NET_FINGERPRINT_SIZE], struct err *err);

#endif
