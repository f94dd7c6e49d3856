/* startd/sleep/adapter_plan.h - which network adapter of the machine is the one that could wake it.
 *
 * Pure.  A machine has several: what a person names is taken; else the one by which we reach the
 * pool, for that cable is plugged in and the rooster, or a neighbour, is at its other end; if that
 * one cannot wake it (a radio), another one with an address that can.
 *
 * The one with the address may be a bridge, a bond or a VLAN: what hears the packet is the card
 * below, under the address that the card has.
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

/* A card below an adapter with an address, perhaps the same. */
struct adapter_leaf {
    struct os_adapter is;
    bool is_wireless, has_other_address; /* of os_adapter_parts */
    bool flags_known, needs_root;        /* who is not root does not know them */
    struct os_wake_flags flags;
};

/* Those that could be it, best first: at most max in ret, which are in all.  wanted: a pattern for
 * name or address ("eth*", "10.77.*"), "" for any; source: our address on the way to the pool, 0
 * unknown.  After the first only those that are up and have an address.  0: none has an Ethernet
 * address. */
size_t adapter_plan_order(const struct os_adapter *all, size_t count, const char *wanted,
                          uint32_t source, const struct os_adapter **ret, size_t max);
/* The card that hears what is sent to the adapter above; NULL: there are none. */
const struct adapter_leaf *adapter_plan_leaf(const struct adapter_leaf *leaves, size_t count,
                                             bool will_arm);
/* Would a magic packet wake the machine once it sleeps?  will_arm: the card is told to before. */
bool adapter_plan_can_wake(const struct adapter_leaf *leaf, bool will_arm);
/* Why not: "eth0 has no link"; leaf NULL: the machine has no adapter. */
void adapter_plan_why_not(const struct adapter_leaf *leaf, bool will_arm, char *ret, size_t size);
/* Is there something to be done so that it wakes the machine?  flags NULL: not known. */
bool adapter_plan_needs_arming(const struct os_wake_flags *flags, bool has_password);
/* HardwareAddress of the card, SubnetMask and Subnet of the adapter above it, WakePort; if it is
 * known what wakes it, IsWakeOnLanSupported, IsWakeOnLanEnabled, IsWakeAble,
 * WakeOnLanSupportedFlags, WakeOnLanEnabledFlags. */
void adapter_plan_write(const struct os_adapter *adapter, const struct adapter_leaf *leaf,
                        int64_t port, struct ad *ad);

#endif
