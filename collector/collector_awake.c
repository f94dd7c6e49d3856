/* collector/collector_awake.c - copies of the live ads of machines, in the store.
 *
 * Live ads are in memory only: after a restart of the collector the startds send them again.  A
 * machine that went off meanwhile cannot, and nothing would be known of it: no job would wake it.
 * After a power cut of a whole site these are all its machines.  So the store has a copy of one
 * live ad of each configured slot, made once while the machine is awake; with the offline ad of the
 * slot it takes turns.  After a restart, the copies of machines that have not come back are live
 * ads that are marked as not responding (collector_silence.c), and the rooster asks their power
 * methods.
 *
 * A copy is not renewed: the rooster needs to know that there is such a machine, and the negotiator
 * how large its slots are.  The next live ad has everything new.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_awake.h"

#include "base/loop.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "collector/collector_ads.h"
#include "collector/collector_offline.h"
#include "collector/collector_state.h"
#include "offline_ads/offline_ads.h"

/* Longer than 10,000 machines take to come back after a restart of the collector. */
#define GRACE_MS 30000

void collector_awake_loaded(void *arg, const char *name, struct ad *ad)
{
    struct collector *collector = arg;
    if (!collector->awake.ads) {
        collector->awake.ads = strmap_create(STRMAP_CASE_IGNORED);
        collector->awake.due_ms = loop_now_ms(collector->env.loop) + GRACE_MS;
    }
    ad_destroy(strmap_set(collector->awake.ads, name, ad));
}

void collector_awake_drop(struct collector *collector)
{
    if (collector->awake.ads) {
        strmap_destroy(collector->awake.ads, ad_destroy_item);
        collector->awake.ads = NULL;
    }
}

bool collector_awake_has(const struct collector *collector, const struct ads_entry *entry)
{
    return entry->is_machine &&
           (entry->kept_s != 0 ||
            (collector->awake.ads && strmap_get(collector->awake.ads, entry->name)));
}

bool collector_awake_lacks(const struct collector *collector, const struct ads_entry *entry,
                           const struct ad *ad)
{
    return entry->is_machine && !collector_awake_has(collector, entry) && ad_has(ad, "BootId") &&
           ad_has(ad, "Machine") && !ad_bool_or(ad, "DynamicSlot", false) &&
           !ad_bool_or(ad, "Offline", false) && !ad_bool_or(ad, "Absent", false) &&
           !offline_ads_is_silent(ad);
}

bool collector_awake_keep(struct collector *collector, struct store_txn *txn,
                          struct ads_entry *entry, const struct ad *ad)
{
    if (!collector_awake_lacks(collector, entry, ad) ||
        collector_awake_put(txn, entry->name, ad, NULL) != 0) {
        return false; /* an ad that is too large is not worth a word */
    }
    entry->kept_s = loop_wall_s(collector->env.loop);
    return true;
}

void collector_awake_forget(struct collector *collector, struct store_txn *txn,
                            struct ads_entry *entry)
{
    collector_awake_delete(txn, entry->name);
    entry->kept_s = 0;
    if (collector->awake.ads) {
        ad_destroy(strmap_remove(collector->awake.ads, entry->name));
    }
}
