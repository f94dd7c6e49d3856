/* startd/sleep/adapter_plan.h - chooses the network adapter that could wake the machine.
 *
 * Pure.  A machine has several adapters.  The one that the configuration names is taken; else the
 * one by which we reach the pool, because its cable is plugged in and the rooster, or a neighbour,
 * is at the other end; if that one cannot wake the machine (Wi-Fi), another one with an address
 * that can.
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
    bool is_wireless, has_other_address; /* as in struct os_adapter_parts */
    bool flags_known, needs_root; /* `flags` is valid; needs_root: only root could read them */
    struct os_wake_flags flags;
};

/* Writes the adapters that come into question to ret, best first, at most max, and returns how
 * many.  They point into all[0..count). wanted: a pattern for name or address ("eth*", "10.77.*"),
 * "" for any; source: our address on the way to the pool, 0 if unknown.  After the first one only
 * adapters that are up and have an address.  0: no adapter has an Ethernet address. */
size_t adapter_plan_order(const struct os_adapter *all, size_t count, const char *wanted,
                          uint32_t source, const struct os_adapter **ret, size_t max);
/* Returns the card that receives what is sent to the adapter above; NULL: leaves is empty. */
const struct adapter_leaf *adapter_plan_leaf(const struct adapter_leaf *leaves, size_t count,
                                             bool will_arm);
/* Returns whether a magic packet would wake the machine once it sleeps. will_arm: the card is told
 * to do so before. */
bool adapter_plan_can_wake(const struct adapter_leaf *leaf, bool will_arm);
/* Writes why it would not: "eth0 has no link". leaf NULL: the machine has no adapter. */
void adapter_plan_why_not(const struct adapter_leaf *leaf, bool will_arm, char *ret, size_t size);
/* Returns whether the card must be told to wake the machine. flags NULL: unknown. */
bool adapter_plan_needs_arming(const struct os_wake_flags *flags, bool has_password);
/* Writes HardwareAddress of the card, SubnetMask and Subnet of the adapter above it, and WakePort;
 * if the card's flags are known, also IsWakeOnLanSupported, IsWakeOnLanEnabled, IsWakeAble,
 * WakeOnLanSupportedFlags and WakeOnLanEnabledFlags. */
void adapter_plan_write(const struct os_adapter *adapter, const struct adapter_leaf *leaf,
                        int64_t port, struct ad *ad);

#endif
