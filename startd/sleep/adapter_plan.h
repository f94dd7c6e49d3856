/* startd/sleep/adapter_plan.h - chooses the network adapter that could wake the machine.
 *
 * Pure.  A machine has several adapters.  The adapter that the configuration names is taken; else
 * the adapter by which this machine reaches the pool, because its cable is plugged in and the
 * rooster, or a neighbour, is at the other end; if that adapter cannot wake the machine (Wi-Fi),
 * another adapter that has an address and can wake it.
 *
 * The adapter with the address may be a bridge, a bond or a VLAN.  The network card below it
 * receives the packet, by the card's own hardware address.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_SLEEP_ADAPTER_PLAN_H
#define STARTD_SLEEP_ADAPTER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os/os_net.h"

struct ad;

#define ADAPTER_LEAVES_MAX 32

/* A network card below an adapter with an address; may be that adapter itself. */
struct adapter_leaf {
    struct os_adapter is;
    /* is_wireless: a Wi-Fi card; has_other_address: its present hardware address is not the one
     * from the factory, but for example the address of a bond. */
    bool is_wireless, has_other_address;
    /* flags_known: `flags`, the card's Wake-on-LAN settings, could be read; needs_root: only root
     * may read them. */
    bool flags_known, needs_root;
    struct os_wake_flags flags;
};

/* Writes pointers into all[0..count) to ret, at most max: the adapters that could be used to wake
 * the machine, best first; returns how many. wanted: a pattern for an adapter's name or address
 * ("eth*", "10.77.*"), "" for any; source: this machine's address on the way to the pool, 0 if
 * unknown.  After the best one, only adapters that are up and have an address are listed.  Returns
 * 0 if no adapter that fits wanted has an Ethernet address. */
size_t adapter_plan_order(const struct os_adapter *all, size_t count, const char *wanted,
                          uint32_t source, const struct os_adapter **ret, size_t max);
/* Returns the most suitable of the network cards below one adapter, the one to which the magic
 * packet is addressed; NULL if count is 0. will_arm: Wake-on-LAN will be switched on before the
 * machine sleeps. */
const struct adapter_leaf *adapter_plan_leaf(const struct adapter_leaf *leaves, size_t count,
                                             bool will_arm);
/* Returns whether a magic packet to this card would wake the sleeping machine. will_arm:
 * Wake-on-LAN will be switched on before it sleeps. */
bool adapter_plan_can_wake(const struct adapter_leaf *leaf, bool will_arm);
/* Writes to ret why a magic packet to this card would not wake the machine ("eth0 has no link"), or
 * "" if it would. leaf NULL: the machine has no adapter. will_arm: Wake-on-LAN will be switched on
 * before the machine sleeps. */
void adapter_plan_why_not(const struct adapter_leaf *leaf, bool will_arm, char *ret, size_t size);
/* Returns whether Wake-on-LAN must be switched on at the card before the machine sleeps: it is
 * supported but off, or a password must be set (has_password). flags: the card's Wake-on-LAN
 * settings; NULL: unknown, which counts as not supported. */
bool adapter_plan_needs_arming(const struct os_wake_flags *flags, bool has_password);
/* Writes to ad HardwareAddress of the card, SubnetMask and Subnet of the adapter above it, and
 * WakePort (port); if the card's flags are known, also IsWakeOnLanSupported, IsWakeOnLanEnabled,
 * IsWakeAble, WakeOnLanSupportedFlags and WakeOnLanEnabledFlags. */
void adapter_plan_write(const struct os_adapter *adapter, const struct adapter_leaf *leaf,
                        int64_t port, struct ad *ad);

#endif
