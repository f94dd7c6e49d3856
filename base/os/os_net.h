/* base/os/os_net.h - the network adapters of this machine: facts, waking by them, and what is sent
 * to everybody on their networks.
 *
 * For Wake-on-LAN, whose packets go where no connection can: to machines that are off.  Nothing
 * here waits, looks up names or receives.  IPv4 only: a sleeping machine has no address, and IPv6
 * has no broadcast; frames need neither.
 *
 * Rights: facts and datagrams need none, frames CAP_NET_RAW, what an adapter wakes for
 * CAP_NET_ADMIN.
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

#define OS_ADAPTER_NAME_MAX 16
#define OS_ADAPTERS_MAX     256 /* entries; what a machine has more is left out */

/* An adapter under one of its IPv4 addresses; one without address is there once. */
struct os_adapter {
    char name[OS_ADAPTER_NAME_MAX];
    uint32_t index;
    bool is_up; /* and its cable, or whatever it has, carries */
    bool is_loopback;
    bool can_broadcast;
    bool has_hardware; /* an Ethernet address, that is */
    uint8_t hardware[NET_MAC_BYTES];
    uint32_t address; /* 0: none */
    struct net_subnet subnet;
};

/* ret: room for OS_ADAPTERS_MAX.  In the order of the kernel. */
int os_adapters(struct os *os, struct os_adapter *ret, size_t *count, struct err *err);
/* What an adapter is made of.  A bridge, a bond or a VLAN is no card: those stand below it. */
#define OS_ADAPTER_BELOW_MAX 16 /* what it stands on more is left out */
struct os_adapter_parts {
    char below[OS_ADAPTER_BELOW_MAX][OS_ADAPTER_NAME_MAX];
    size_t below_count; /* 0: it stands on none */
    bool is_wireless;
    bool has_other_address; /* than it came from its factory with: its bond's, say */
};
/* root is put before /sys.  Of an adapter that is not there: nothing. */
void os_adapter_parts(struct os *os, const char *root, const char *name,
                      struct os_adapter_parts *ret);
/* Our own address on the way to that one; 0: there is no way.  Nothing is sent. */
uint32_t os_route_source(struct os *os, uint32_t to);

/* ---- what an adapter wakes its machine for --------------------------------------------------- */

struct os_wake_flags {                   /* in ethtool's letters, as HTCondor's ads list them */
    bool magic_supported, magic_enabled; /* enabled: perhaps only with a password */
    char supported[16], enabled[16];     /* "pumbgs"; "d": nothing */
};
/* -EPERM: only root may ask; -ENOTSUP: it is no adapter that could. */
int os_wake_flags(struct os *os, const char *adapter, struct os_wake_flags *ret, struct err *err);
/* Adds magic packets to what wakes it; with a password (NULL: none) only those that hold it.  What
 * the adapter then says is looked at: -EIO when it does not say so.  -EPERM, -ENOTSUP. */
int os_wake_on_magic(struct os *os, const char *adapter, const uint8_t password[NET_MAC_BYTES],
                     struct err *err);

/* ---- sending ----------------------------------------------------------------------------------
 */

struct os_caster; /* the sockets, each opened when it is first needed */

struct os_caster *os_caster_create(struct os *os);
void os_caster_destroy(struct os_caster *caster); /* NULL is allowed */
/* A UDP datagram that may go to a broadcast address: by that adapter with its address as the
 * sender's; NULL: as routed.  0, or -errno; -EAGAIN, -ENOBUFS: the way is full, try again soon. */
int os_cast_datagram(struct os_caster *caster, const struct os_adapter *by, uint32_t to,
                     uint16_t port, const void *data, size_t length);
/* An Ethernet frame to everybody, with the adapter's own address as the sender's.  0, or -errno as
 * above; -EPERM: no CAP_NET_RAW. */
int os_cast_frame(struct os_caster *caster, const struct os_adapter *by, uint16_t type,
                  const void *data, size_t length);

#endif
