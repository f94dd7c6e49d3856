/* collector/collector_quota.c - see collector_quota.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "collector/collector_quota.h"

#include <errno.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "collector/collector_ads.h"
#include "collector/collector_state.h"

struct ads_account *collector_account(struct collector *collector, const char *identity)
{
    struct ads_account *account = strmap_get(collector->accounts, identity);
    if (!account) {
        account = mem_zalloc(sizeof(*account));
        (void)strmap_set(collector->accounts, identity, account);
    }
    return account;
}

bool collector_may_say(const struct collector *collector, struct ads_said *said)
{
    uint64_t now_ms = loop_now_ms(collector->env.loop);
    said->count++;
    said->unsaid++;
    if (said->count > SAY_AT_ONCE && now_ms - said->at_ms < SAY_PAUSE_MS) {
        return false;
    }
    said->at_ms = now_ms;
    return true;
}

/* Returns the number of the sender's attributes, without those that the collector set. */
static size_t attributes_of(const struct ad *ad)
{
    return ad_count(ad) - (ad_has(ad, "LastHeardFrom") ? 1 : 0);
}

int collector_quota_admit(struct collector *collector, const char *identity,
                          const struct ads_account *account, const struct ads_entry *entry,
                          const char *name, const struct ad *ad, size_t bytes,
                          struct quota_pending *pending, struct err *err)
{
    if (bytes > collector->settings.ad_bytes_max) {
        return err_set(err, -E2BIG, "the ad '%s' has more than %zu KiB", name,
                       collector->settings.ad_bytes_max >> 10);
    }
    if (ad_count(ad) > collector->settings.ad_attributes_max &&
        attributes_of(ad) > collector->settings.ad_attributes_max) {
        return err_set(err, -E2BIG, "the ad '%s' has %zu attributes, more than %zu", name,
                       attributes_of(ad), collector->settings.ad_attributes_max);
    }
    bool is_own = entry && entry->account == account;
    size_t more_ads = is_own ? 0 : 1;
    long long more_bytes = (long long)bytes - (is_own ? (long long)entry->charged_bytes : 0);
    size_t ads = account->ads + pending->ads;
    long long all_bytes = (long long)account->bytes + pending->bytes;
    if (more_ads > 0 && ads >= collector->settings.identity_ads_max) {
        collector->counts.over_quota++;
        return err_set(
            err, -EDQUOT,
            "%s has %zu ads and may have %zu (COLLECTOR_MAX_ADS_PER_IDENTITY); no room for '%s'",
            identity, ads, collector->settings.identity_ads_max, name);
    }
    if (more_bytes > 0 &&
        all_bytes + more_bytes > (long long)collector->settings.identity_bytes_max) {
        collector->counts.over_quota++;
        return err_set(err, -EDQUOT,
                       "%s has ads of %lld bytes and may have %zu "
                       "(COLLECTOR_MAX_BYTES_PER_IDENTITY); no room for '%s' (%zu bytes)",
                       identity, all_bytes, collector->settings.identity_bytes_max, name, bytes);
    }
    pending->ads += more_ads;
    pending->bytes += more_bytes;
    return 0;
}
