/* base/os/os_net.h - the network adapters of this machine: facts, Wake-on-LAN settings, and
 * broadcasts.
 *
 * For Wake-on-LAN, whose packets go where no connection can go: to machines that are off.  No call
 * here waits, looks up names or receives.  IPv4 only: a sleeping machine has no address, and IPv6
 * has no broadcast; Ethernet frames need neither.
 *
 * Rights: none for facts and datagrams, CAP_NET_RAW for frames, CAP_NET_ADMIN for Wake-on-LAN
 * settings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_OS_OS_NET_H
#define BASE_OS_OS_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/net_text.h"

struct err;
struct os;

/* most bytes of an adapter's name, with the terminating zero */
#define OS_ADAPTER_NAME_MAX 16
#define OS_ADAPTERS_MAX     256 /* most entries of os_adapters(); further ones are left out */

/* An adapter with one of its IPv4 addresses.  An adapter without an address has one entry. */
struct os_adapter {
    char name[OS_ADAPTER_NAME_MAX];
    uint32_t index;
    bool is_up; /* true: the adapter is switched on, and its link (cable, radio) works */
    bool is_loopback;
    bool can_broadcast;
    bool has_hardware; /* true: the adapter has an Ethernet address, `hardware` */
    uint8_t hardware[NET_MAC_BYTES];
    uint32_t address; /* IPv4, host byte order; 0: none */
    struct net_subnet subnet;
};

/* Lists the adapters in the kernel's order; ret has room for OS_ADAPTERS_MAX entries, *count is
 * how many were written.  Returns 0 or -errno. */
int os_adapters(struct os *os, struct os_adapter *ret, size_t *count, struct err *err);
/* most entries of `below` in struct os_adapter_parts; further lower adapters are left out */
#define OS_ADAPTER_BELOW_MAX 16
/* On what an adapter stands: a bridge, a bond or a VLAN stands on lower adapters, and only the
 * lowest are network cards. */
struct os_adapter_parts {
    char below[OS_ADAPTER_BELOW_MAX][OS_ADAPTER_NAME_MAX];
    size_t below_count; /* entries of `below`; 0: the adapter stands on no other */
    bool is_wireless;
    /* true: the hardware address is not the factory's, e.g. the adapter has that of its bond */
    bool has_other_address;
};
/* Finds out on what the adapter `name` stands. root: a directory put before /sys ("" on a real
 * machine).  For an unknown adapter all of *ret is empty. */
void os_adapter_parts(struct os *os, const char *root, const char *name,
                      struct os_adapter_parts *ret);
/* Returns this machine's own IPv4 address on the route to the address `to`; 0: no route.  Sends
 * nothing. */
uint32_t os_route_source(struct os *os, uint32_t to);

/* ---- what an adapter wakes its machine for --------------------------------------------------- */

/* The events for which an adapter can wake its machine (supported), and those for which it is set
 * to do so (enabled).  A letter stands for each event, as in ethtool and in HTCondor's ads. */
struct os_wake_flags {
    /* for magic packets; magic_enabled is true also if only packets with a password wake */
    bool magic_supported, magic_enabled;
    char supported[16], enabled[16]; /* letters such as "pumbgs"; "d": nothing */
};
/* Reads what the adapter can wake its machine for.  Returns 0; -EPERM: only root may ask;
 * -ENOTSUP: this adapter cannot wake a machine. */
int os_wake_flags(struct os *os, const char *adapter, struct os_wake_flags *ret, struct err *err);
/* Makes the adapter wake the machine for magic packets, in addition to what it does now; with a
 * password (NULL: none) only for packets that contain the password.  Returns 0; -EIO: the
 * adapter did not accept the setting; -EPERM: not root; -ENOTSUP: the adapter cannot do that. */
int os_wake_on_magic(struct os *os, const char *adapter, const uint8_t password[NET_MAC_BYTES],
                     struct err *err);

/* ---- sending ----------------------------------------------------------------------------------
 */

/* The sockets for os_cast_datagram() and os_cast_frame(); each is opened when first needed. */
struct os_caster;

struct os_caster *os_caster_create(struct os *os);
void os_caster_destroy(struct os_caster *caster); /* NULL is allowed */
/* Sends a UDP datagram; `to` may be a broadcast address. by: the adapter to send from, whose
 * address becomes the sender; NULL: the kernel's routes decide.  Returns 0 or -errno; -EAGAIN,
 * -ENOBUFS: the queue is full, try again soon. */
int os_cast_datagram(struct os_caster *caster, const struct os_adapter *by, uint32_t to,
                     uint16_t port, const void *data, size_t length);
/* Sends an Ethernet frame to everybody on the adapter's network, with the adapter's address as
 * the sender.  Returns 0 or -errno; -EAGAIN, -ENOBUFS: the queue is full, try again soon;
 * -EPERM: no CAP_NET_RAW. */
int os_cast_frame(struct os_caster *caster, const struct os_adapter *by, uint16_t type,
                  const void *data, size_t length);

#endif
