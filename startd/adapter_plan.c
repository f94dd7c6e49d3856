/* startd/adapter_plan.c - see adapter_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/adapter_plan.h"

#include "base/text.h"
#include "classad/ad.h"

static bool is_wanted(const struct os_adapter *adapter, const char *wanted)
{
    char address[NET_TEXT_MAX];
    return text_glob(wanted, adapter->name, true) ||
           (adapter->address != 0 &&
            text_glob(wanted, net_text_put_ipv4(adapter->address, address), true));
}

/* The higher the better; 0: it is none. */
static int worth(const struct os_adapter *adapter, const char *wanted, uint32_t source)
{
    if (!adapter->has_hardware || (wanted[0] != '\0' && !is_wanted(adapter, wanted))) {
        return 0;
    }
    int points = 1;
    points += adapter->address != 0 ? 1 : 0;
    points += adapter->is_up ? 2 : 0;
    points += adapter->address != 0 && adapter->address == source ? 4 : 0;
    return points;
}

const struct os_adapter *adapter_plan_choose(const struct os_adapter *all, size_t count,
                                             const char *wanted, uint32_t source)
{
    const struct os_adapter *best = NULL;
    int most = 0;
    for (size_t i = 0; i < count; i++) {
        int points = worth(&all[i], wanted, source);
        if (points > most) {
            most = points;
            best = &all[i];
        }
    }
    return best;
}

bool adapter_plan_needs_arming(const struct os_wake_flags *flags, bool has_password)
{
    return has_password || (flags != NULL && flags->magic_supported && !flags->magic_enabled);
}

void adapter_plan_write(const struct os_adapter *adapter, const struct os_wake_flags *flags,
                        int64_t port, struct ad *ad)
{
    char text[NET_TEXT_MAX];
    ad_set_string(ad, "HardwareAddress", net_text_put_mac(adapter->hardware, text));
    if (adapter->address != 0) {
        ad_set_string(ad, "SubnetMask", net_text_put_ipv4(adapter->subnet.mask, text));
        ad_set_string(ad, "Subnet", net_text_put_subnet(&adapter->subnet, text));
    }
    ad_set_int(ad, "WakePort", port);
    if (flags != NULL) {
        ad_set_bool(ad, "IsWakeOnLanSupported", flags->magic_supported);
        ad_set_bool(ad, "IsWakeOnLanEnabled", flags->magic_enabled);
        ad_set_bool(ad, "IsWakeAble", flags->magic_supported && flags->magic_enabled);
        ad_set_string(ad, "WakeOnLanSupportedFlags", flags->supported);
        ad_set_string(ad, "WakeOnLanEnabledFlags", flags->enabled);
    }
}
