/* collector/collector_expire.c - ads that go: INVALIDATE, those that nobody renewed, absent ones.
 *
 * A Machine ad whose time is over and that meets ABSENT_REQUIREMENTS does not vanish: it becomes
 * absent, which is durable, so that an operator finds out which machines are missed.  An absent ad
 * is not an offline one: nobody matches it, nobody wakes it.  A new ad of its name ends it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

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

/* Offline and absent ads are looked at that often: their time is counted on the wall clock. */
#define LOOK_AGAIN_S 60

static bool is_to_be_missed(const struct collector *collector, const struct ads_entry *entry)
{
    if (entry->latest_absent || !text_equal_nocase(entry->type, "Machine") ||
        !collector->absent_requirements) {
        return false;
    }
    const struct ad_context context = {.now_s = loop_wall_s(collector->env.loop)};
    return ad_eval_bool(collector->absent_requirements, entry->latest, NULL, &context) == AD_TRUE;
}

/* Removes the ad, or keeps it as absent. */
static void end_ad(struct collector *collector, struct batch *batch, struct ads_entry *entry)
{
    struct err err = {""};
    if (is_to_be_missed(collector, entry)) {
        struct ad *absent = plan_make_absent(entry->latest, loop_wall_s(collector->env.loop),
                                             collector->absent_expire_s);
        if (batch_set(batch, entry->type, entry->name, absent, NULL, &err) == 0) {
            collector->counts.gone_absent++;
            log_info(collector->env.log, "ad.absent", "a machine is absent",
                     LOG_TEXT("name", entry->name));
            return;
        }
        log_warn(collector->env.log, "ad.not_absent", err.text, LOG_TEXT("name", entry->name));
    }
    batch_remove(batch, entry);
}

/* ---- INVALIDATE ------------------------------------------------------------------------------ */

struct invalidation {
    struct collector *collector;
    const struct wire_request *request;
    struct batch *batch;
    struct plan_stamp stamp;
    bool offline, absent;       /* meant are ads of this kind only */
    struct ad_expr *constraint; /* NULL: none */
};

/* May the sender take this ad away, is it not newer than the message, and of the kind that is
 * meant? A startd that stops does not take back what stands for its sleeping machine. */
static bool is_meant(const struct invalidation *invalidation, const struct ads_entry *entry)
{
    return entry && entry->latest && !plan_is_old(&entry->stamp, &invalidation->stamp) &&
           wire_peer_may_advertise(wire_request_peer(invalidation->request), entry->name) &&
           entry->latest_offline == invalidation->offline &&
           entry->latest_absent == invalidation->absent;
}

static bool invalidate_one(const struct invalidation *invalidation, struct ads_entry *entry)
{
    if (!is_meant(invalidation, entry)) {
        return false;
    }
    if (invalidation->collector->expire_invalidated && !entry->latest_offline) {
        end_ad(invalidation->collector, invalidation->batch, entry);
    } else {
        batch_remove(invalidation->batch, entry);
    }
    return true;
}

static int64_t invalidate_names(const struct invalidation *invalidation, const char *type)
{
    struct ad_value names;
    (void)ad_eval_attr(wire_request_args(invalidation->request), NULL, "Names", NULL,
                       &names); /* absent: none */
    int64_t count = 0;
    size_t name_count = ad_value_count(&names);
    for (size_t i = 0; i < name_count; i++) {
        struct ad_value name;
        ad_value_item(&names, i, &name);
        if (name.type == AD_TYPE_STRING) {
            count += invalidate_one(invalidation, collector_ads_find(invalidation->collector->ads,
                                                                     type, name.string.text));
        }
        ad_value_fini(&name);
    }
    ad_value_fini(&names);
    return count;
}

/* The constraint is judged in what the pool may know of the ad. */
static int64_t invalidate_all(const struct invalidation *invalidation, const char *type)
{
    struct collector *collector = invalidation->collector;
    const struct ad_context context = {.now_s = loop_wall_s(collector->env.loop)};
    int64_t count = 0;
    struct ads_cursor cursor;
    ads_cursor_init(&cursor, collector->ads, type);
    struct ads_entry *entry;
    while ((entry = ads_cursor_next(&cursor)) != NULL) {
        const struct ad *bare = is_meant(invalidation, entry) ? collector_ads_bare(entry) : NULL;
        if (bare && ad_eval_bool(invalidation->constraint, bare, NULL, &context) == AD_TRUE) {
            count += invalidate_one(invalidation, entry);
        }
    }
    ads_cursor_fini(&cursor);
    return count;
}

void collector_invalidate(struct session *session, struct wire_request *request)
{
    struct collector *collector = session->collector;
    const struct ad *args = wire_request_args(request);
    const char *type = ad_string_or(args, "Type", "");
    const char *text = ad_string_or(args, "Constraint", "");
    struct plan_sender sender = collector_sender(wire_request_peer(request));
    struct invalidation invalidation = {.collector = collector,
                                        .request = request,
                                        .stamp = collector_stamp(session, args),
                                        .offline = ad_bool_or(args, "Offline", false),
                                        .absent = ad_bool_or(args, "Absent", false)};
    struct err err = {""};
    if (!plan_may_advertise(&sender, type)) {
        wire_reply_error(request, -EACCES, "you may not have ads of type '%s'", type);
        return;
    }
    if (*text && ad_expr_parse(text, strlen(text), AD_OLD, &invalidation.constraint, &err) != 0) {
        wire_reply_error(request, -EINVAL, "Constraint: %s", err.text);
        return;
    }
    session->last = invalidation.stamp;
    invalidation.batch = batch_begin(collector);
    int64_t count = invalidate_names(&invalidation, type);
    if (invalidation.constraint) {
        count += invalidate_all(&invalidation, type);
    }
    ad_expr_destroy(invalidation.constraint);
    batch_end(invalidation.batch, collector_answer_ok, collector_answer_drop,
              collector_answer_create(request, count));
}

/* ---- expiry ---------------------------------------------------------------------------------- */

/* Seconds until the ad's time is over if nothing comes; 0: it is over. */
static uint64_t left_s(const struct collector *collector, const struct ads_entry *entry)
{
    if (!entry->latest || entry->waiting > 0) {
        return 1;
    }
    if (ads_entry_is_durable(entry)) {
        int64_t left = (entry->latest_offline
                            ? offline_ads_expires_s(entry->latest, collector->offline_expire_s)
                            : plan_absent_expires_s(entry->latest, collector->absent_expire_s)) -
                       loop_wall_s(collector->env.loop);
        /* That clock may be set. */
        return left <= 0 ? 0 : left < LOOK_AGAIN_S ? (uint64_t)left : LOOK_AGAIN_S;
    }
    uint64_t age_ms = loop_now_ms(collector->env.loop) - entry->heard_ms;
    uint64_t lifetime_ms = plan_lifetime_ms(entry->lifetime_s, collector->classad_lifetime_s);
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
            end_ad(collector, batch, entry);
        }
    }
    batch_end(batch, NULL, NULL, NULL);
}
