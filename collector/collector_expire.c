/* collector/collector_expire.c - removes ads that were not renewed, and makes machines absent.
 *
 * A Machine ad that expires and meets ABSENT_REQUIREMENTS does not vanish.  It becomes absent,
 * which is durable, so that an operator sees which machines are missing.  An absent ad is not an
 * offline one: nobody matches it, nobody wakes the machine.  A new ad of its name ends it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/text.h"
#include "classad/ad.h"
#include "collector/collector_ads.h"
#include "collector/collector_batch.h"
#include "collector/collector_state.h"
#include "collector/collector_verbs.h"
#include "offline_ads/offline_ads.h"
#include "wire/wire.h"

/* Most seconds until an ad is looked at again: such a time can be far away. */
#define LOOK_AGAIN_S 3600
/* Steps of ABSENT_REQUIREMENTS in one ad; many ads may expire at once. */
#define ABSENT_STEPS_MAX 2000

static bool is_to_be_missed(const struct collector *collector, const struct ads_entry *entry)
{
    if (entry->latest_absent || !text_equal_nocase(entry->type, "Machine") ||
        !collector->settings.absent_requirements) {
        return false;
    }
    struct ad_work work = {.steps_max = ABSENT_STEPS_MAX};
    struct ad_context context = collector_context(collector);
    context.work = &work;
    return ad_eval_bool(collector->settings.absent_requirements, entry->latest, NULL, &context) ==
           AD_TRUE;
}

void collector_end_ad(struct collector *collector, struct batch *batch, struct ads_entry *entry)
{
    struct err err = {""};
    if (is_to_be_missed(collector, entry)) {
        struct ad *absent = plan_make_absent(entry->latest, loop_wall_s(collector->env.loop),
                                             collector->settings.absent_expire_s);
        if (batch_set(batch, entry->type, entry->name, absent, NULL, NULL, &err) == 0) {
            collector->counts.gone_absent++;
            log_info(collector->env.log, "ad.absent",
                     "a machine vanished; its last ad is kept as absent",
                     LOG_TEXT("name", entry->name));
            return;
        }
        log_warn(collector->env.log, "ad.not_absent", err.text, LOG_TEXT("name", entry->name));
    }
    batch_remove(batch, entry);
}

/* ---- expiry ---------------------------------------------------------------------------------- */

/* Returns the seconds until the ad expires if it is not renewed; 0: it has expired. */
static uint64_t left_s(const struct collector *collector, const struct ads_entry *entry)
{
    if (!entry->latest || entry->waiting > 0) {
        return 1;
    }
    if (ads_entry_is_durable(entry)) {
        int64_t lifetime_s =
            entry->latest_offline
                ? offline_ads_lifetime_s(entry->latest, collector->settings.offline_expire_s)
                : plan_absent_lifetime_s(entry->latest, collector->settings.absent_expire_s);
        int64_t age_s = loop_since_s(collector->env.loop, entry->heard_ms);
        int64_t left = lifetime_s > age_s ? lifetime_s - age_s : 0;
        return left < LOOK_AGAIN_S ? (uint64_t)left : LOOK_AGAIN_S;
    }
    uint64_t age_ms = loop_now_ms(collector->env.loop) - (uint64_t)entry->heard_ms;
    uint64_t lifetime_ms =
        plan_lifetime_ms(entry->lifetime_s, collector->settings.classad_lifetime_s);
    return age_ms >= lifetime_ms ? 0 : (lifetime_ms - age_ms + 999) / 1000;
}

void collector_expire(struct collector *collector)
{
    struct batch *batch = batch_begin(collector);
    uint64_t now_s = loop_now_ms(collector->env.loop) / 1000;
    struct ads_entry *entry;
    while ((entry = collector_ads_next_due(collector->ads, now_s)) != NULL) {
        if (!plan_expires(entry->type)) {
            continue;
        }
        uint64_t left = left_s(collector, entry);
        collector_ads_look_again(collector->ads, entry, now_s + (left > 0 ? left : 1));
        if (left == 0) {
            log_info(collector->env.log, "ad.expired", "an ad was not renewed in time",
                     LOG_TEXT("type", entry->type), LOG_TEXT("name", entry->name),
                     LOG_BOOL("offline", entry->latest_offline));
            collector->counts.expired++;
            collector_end_ad(collector, batch, entry);
        }
    }
    batch_end(batch, NULL, NULL, NULL);
}
