/* startd/sleep/adapter_plan.c - see adapter_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/sleep/adapter_plan.h"

#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"

static bool is_wanted(const struct os_adapter *adapter, const char *wanted)
{
    char address[NET_TEXT_MAX];
    return text_glob(wanted, adapter->name, true) ||
           (adapter->address != 0 &&
            text_glob(wanted, net_text_put_ipv4(adapter->address, address), true));
}

#define WORTH_MAX 8

/* Returns how suitable an adapter is; 0: not at all. */
static int worth_of(const struct os_adapter *adapter, const char *wanted, uint32_t source)
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

size_t adapter_plan_order(const struct os_adapter *all, size_t count, const char *wanted,
                          uint32_t source, const struct os_adapter **ret, size_t max)
{
    size_t found = 0;
    for (int points = WORTH_MAX; points > 0; points--) {
        for (size_t i = 0; i < count && found < max; i++) {
            if (worth_of(&all[i], wanted, source) == points &&
                (found == 0 || (all[i].is_up && all[i].address != 0))) {
                ret[found++] = &all[i];
            }
        }
    }
    return found;
}

bool adapter_plan_can_wake(const struct adapter_leaf *leaf, bool will_arm)
{
    return leaf != NULL && leaf->is.is_up && leaf->flags_known &&
           (leaf->flags.magic_enabled || (will_arm && leaf->flags.magic_supported));
}

/* Returns how suitable a card is.  In a bond all cards have one address while the bond exists; the
 * card whose own address that is keeps it afterwards. */
static int leaf_worth(const struct adapter_leaf *leaf, bool will_arm)
{
    return (adapter_plan_can_wake(leaf, will_arm) ? 16 : 0) + (leaf->is.is_up ? 8 : 0) +
           (leaf->flags_known && leaf->flags.magic_supported ? 4 : 0) +
           (leaf->is_wireless ? 0 : 2) + (leaf->has_other_address ? 0 : 1);
}

const struct adapter_leaf *adapter_plan_leaf(const struct adapter_leaf *leaves, size_t count,
                                             bool will_arm)
{
    const struct adapter_leaf *best = NULL;
    int most = -1;
    for (size_t i = 0; i < count; i++) {
        int points = leaf_worth(&leaves[i], will_arm);
        if (points > most) {
            most = points;
            best = &leaves[i];
        }
    }
    return best;
}

void adapter_plan_why_not(const struct adapter_leaf *leaf, bool will_arm, char *ret, size_t size)
{
    struct strbuf text;
    strbuf_init(&text, 0);
    if (leaf == NULL) {
        strbuf_puts(&text, "the machine has no network adapter");
    } else if (leaf->is_wireless) {
        strbuf_printf(&text, "%s is wireless", leaf->is.name);
    } else if (!leaf->flags_known) {
        strbuf_printf(&text,
                      leaf->needs_root ? "only root may read the Wake-on-LAN settings of %s"
                                       : "%s does not support Wake-on-LAN",
                      leaf->is.name);
    } else if (!leaf->flags.magic_supported) {
        strbuf_printf(&text, "%s cannot be woken by magic packets", leaf->is.name);
    } else if (!leaf->is.is_up) {
        strbuf_printf(&text, "%s has no link", leaf->is.name);
    } else if (!will_arm && !leaf->flags.magic_enabled) {
        strbuf_printf(&text, "Wake-on-LAN is off for %s (ENABLE_WAKE_ON_LAN = true switches it on)",
                      leaf->is.name);
    }
    size_t length = text.length < size - 1 ? text.length : size - 1;
    memcpy(ret, strbuf_text(&text), length);
    ret[length] = '\0';
    strbuf_fini(&text);
}

bool adapter_plan_needs_arming(const struct os_wake_flags *flags, bool has_password)
{
    return has_password || (flags != NULL && flags->magic_supported && !flags->magic_enabled);
}

void adapter_plan_write(const struct os_adapter *adapter, const struct adapter_leaf *leaf,
                        int64_t port, struct ad *ad)
{
    char text[NET_TEXT_MAX];
    const struct os_wake_flags *flags = &leaf->flags;
    ad_set_string(ad, "HardwareAddress", net_text_put_mac(leaf->is.hardware, text));
    if (adapter->address != 0) {
        ad_set_string(ad, "SubnetMask", net_text_put_ipv4(adapter->subnet.mask, text));
        ad_set_string(ad, "Subnet", net_text_put_subnet(&adapter->subnet, text));
    }
    ad_set_int(ad, "WakePort", port);
    if (leaf->flags_known) {
        ad_set_bool(ad, "IsWakeOnLanSupported", flags->magic_supported);
        ad_set_bool(ad, "IsWakeOnLanEnabled", flags->magic_enabled);
        ad_set_bool(ad, "IsWakeAble", flags->magic_supported && flags->magic_enabled);
        ad_set_string(ad, "WakeOnLanSupportedFlags", flags->supported);
        ad_set_string(ad, "WakeOnLanEnabledFlags", flags->enabled);
    }
}
