/* startd/adapter_plan.h - which network adapter of the machine is the one that could wake it.
 *
 * Pure.  A machine has several: what a person names is taken; else the one by which we reach the
 * pool, for that cable is plugged in and the rooster, or a neighbour, is at its other end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_ADAPTER_PLAN_H
#define STARTD_ADAPTER_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/os_net.h"

struct ad;

/* wanted: a pattern for its name or address ("eth*", "10.77.*"), "" for any; source: our address on
 * the way to the pool, 0 unknown.  NULL: none has an Ethernet address.  The result is in all. */
const struct os_adapter *adapter_plan_choose(const struct os_adapter *all, size_t count,
                                             const char *wanted, uint32_t source);
/* Is there something to be done so that it wakes the machine?  flags NULL: not known. */
bool adapter_plan_needs_arming(const struct os_wake_flags *flags, bool has_password);
/* HardwareAddress, SubnetMask, Subnet, WakePort; flags NULL: it is not known what wakes it, else
 * IsWakeOnLanSupported, IsWakeOnLanEnabled, IsWakeAble, WakeOnLanSupportedFlags,
 * WakeOnLanEnabledFlags. */
void adapter_plan_write(const struct os_adapter *adapter, const struct os_wake_flags *flags,
                        int64_t port, struct ad *ad);

#endif
