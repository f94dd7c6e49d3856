/* startd/sleep/leave.c - leaves offline ads of the machine's slots at the collector.
 *
 * A machine that goes to sleep does so (hibernate.c), and a machine that is shut down, by its user
 * or by an administrator who does not think of the pool: without offline ads it would look free for
 * a while and then be forgotten, and no job would wake it.  It is woken like one that slept by
 * itself.  hibernate_plan_leaves() decides which machines do so.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/sleep/leave.h"

#include <errno.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "offline_ads/offline_ads.h"
#include "startd/advertise.h"
#include "startd/sleep/adapter.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate_look.h"
#include "startd/sleep/hibernate_plan.h"
#include "startd/slot/slot.h"
#include "startd/slot/slots.h"
#include "startd/startd_state.h"
#include "wire/wire.h"

#define ANSWER_MS 15000
/* the collector's OFFLINE_EXPIRE_ADS_AFTER decides */
#define LIFETIME_S INT64_C(2147483647)

static struct ad *make_offline(struct slot *slot, const struct leave_how *how)
{
    const struct offline_ads_how make = {.now_s = loop_wall_s(slot->startd->env.loop),
                                         .lifetime_s = LIFETIME_S,
                                         .reason = how->reason};
    slot_refresh(slot);
    struct ad *ad = offline_ads_make(slot->ad, &make);
    offline_ads_make_whole(ad);
    ad_set_string(ad, "HibernationState", how->level);
    if (how->keep_off) { /* nor is a job to wait for it */
        ad_set_bool(ad, "PowerKeptOff", true);
        ad_set_string(ad, "PowerKeptOffReason", how->reason);
        ad_set_bool(ad, "Unhibernate", false);
        ad_set_bool(ad, "Start", false);
    }
    if (how->is_order) {
        ad_set_string(ad, "PowerState", "GoingDown");
    }
    if (how->reclaim_until_s != 0) {
        ad_set_int(ad, "PowerReclaimUntil", how->reclaim_until_s);
    }
    return ad;
}

int leave_ads(struct startd *startd, const struct leave_how *how, wire_reply_f done)
{
    struct wire *wire = uplink_wire(startd->collector);
    if (wire == NULL) {
        return -ENOTCONN;
    }
    size_t count = startd->machine_slots;
    struct ad **ads = mem_alloc(count * sizeof *ads);
    advertise_gone(startd);
    slots_divide_more_disk(startd); /* what these ads show lasts until the machine is woken */
    for (size_t i = 0; i < count; i++) {
        ads[i] = make_offline(startd->slots[i], how);
    }
    struct ad *args = ad_create();
    ad_set_bool(args, "Full", true);
    ad_set_bool(args, "Durable", true);
    ad_set_int(args, "Epoch", (int64_t)startd->sent.epoch);
    ad_set_int(args, "Sequence", (int64_t)++startd->sent.sequence);
    const struct wire_body body = {.args = args,
                                   .ads = (const struct ad *const *)ads,
                                   .ad_count = count};
    int64_t call = wire_call(wire, VERB_UPDATE, &body, ANSWER_MS, done, startd);
    ad_destroy(args);
    for (size_t i = 0; i < count; i++) {
        ad_destroy(ads[i]);
    }
    mem_free(ads);
    return call < 0 ? (int)call : 0;
}

static void shutdown_answered(void *arg, struct wire_reply *reply)
{
    struct startd *startd = arg;
    if (reply->status == 0) {
        log_info(startd->env.log, "hibernate.offline",
                 "the collector has stored the machine's offline ads",
                 LOG_INT("slots", startd->machine_slots));
    } else {
        log_warn(startd->env.log, "hibernate.not_told", reply->text,
                 LOG_INT("status", reply->status));
    }
    loop_stop(startd->env.loop, 0);
}

/* Returns whether the machine could be woken again; if not, logs why. */
static bool may_leave(struct startd *startd)
{
    const struct config *config = startd->env.config;
    char cannot_wake[ADAPTER_WHY_MAX];
    struct err err;
    const struct hibernate_facts facts = {.method = config_string(config, "POWER_METHOD"),
                                          .needs_wake = hibernate_look_needs_wake(startd),
                                          .can_wake = adapter_can_wake(startd, cannot_wake,
                                                                       sizeof cannot_wake),
                                          .cannot_wake = cannot_wake};
    int rc = hibernate_plan_leaves(&facts, &err);
    rc = rc != 0 ? rc : adapter_arm(startd, facts.needs_wake, &err);
    if (rc != 0) {
        log_info(startd->env.log, "hibernate.not_told", err.text);
    }
    return rc == 0;
}

bool leave_at_shutdown(struct startd *startd)
{
    static const struct leave_how HOW = {.level = "S5", .reason = "the machine was shut down"};
    if (startd->asleep || startd->sent.taken_back || going_down_is_silent(startd) ||
        uplink_wire(startd->collector) == NULL || !may_leave(startd)) {
        return false; /* a machine on its way to sleep has left its ads already */
    }
    startd->sent.taken_back = leave_ads(startd, &HOW, shutdown_answered) == 0;
    return startd->sent.taken_back;
}
