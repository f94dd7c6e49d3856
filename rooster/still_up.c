/* rooster/still_up.c - a machine is wanted soon after its offline ads came: it may not be down yet.
 *
 * Before such a machine is woken, its startd is asked (POWER_RECLAIM).  If it can still stay up, it
 * takes its sleep back, and nothing was switched.  If it cannot, it is asked again until it is
 * gone: a magic packet that comes too early would be lost, and the machine would sleep until the
 * deadline of that wake.  A machine without an uplink, or one that does not answer, is down.
 *
 * A machine that the rooster takes down itself (sleeps.c) is not asked but told, because the
 * rooster knows whether it can still stay up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/still_up.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "base/loop.h"
#include "classad/ad.h"
#include "offline_ads/offline_ads.h"
#include "offline_ads/offline_holds.h"
#include "rooster/clock.h"
#include "rooster/ledger.h"
#include "rooster/look.h"
#include "rooster/nodes.h"
#include "rooster/rooster.h"
#include "rooster/seen.h"
#include "rooster/sleep_record.h"
#include "wire/wire.h"

#define YOUNG_S  60 /* offline ads; older ones are of a machine that is down */
#define ASK_MS   5000
#define AGAIN_MS 1000

/* Writes who waits for the machine. */
static void still_up_why(const struct node *node, char ret[ROOSTER_TEXT_MAX])
{
    int64_t jobs = node->jobs.waiting;
    char who[200] = "";
    for (size_t i = 0; i < node->ads.count && who[0] == '\0'; i++) {
        const struct ad *ad = ((const struct seen *)node->ads.items[i])->ad;
        struct offline_holds *holds = offline_ads_is(ad) ? offline_holds_read(ad) : NULL;
        if (offline_holds_entries(holds) > 0) {
            const struct offline_hold *hold = offline_holds_at(holds, 0);
            (void)snprintf(who, sizeof who, " (autocluster %lld of %.100s%s)",
                           (long long)hold->auto_cluster, hold->schedd,
                           hold->count < jobs ? " and others" : "");
        }
        offline_holds_destroy(holds);
    }
    if (node->asked.by_name) {
        (void)snprintf(ret, ROOSTER_TEXT_MAX, "switched on by %.200s", node->asked.by);
    } else if (!node->jobs.demand_it && node->guard.reserve.reserving) {
        (void)snprintf(ret, ROOSTER_TEXT_MAX, GUARD_RESERVE_WHY);
    } else {
        (void)snprintf(ret, ROOSTER_TEXT_MAX, "%lld %s for the machine%s", (long long)jobs,
                       jobs == 1 ? "job waits" : "jobs wait", who);
    }
}

static int64_t ask_startd(struct node *node, bool withdrawn, wire_reply_f done)
{
    struct wire *wire = uplink_wire(node->rooster->uplink);
    char uplink[WIRE_NAME_MAX + 1], why[ROOSTER_TEXT_MAX];
    if (wire == NULL) {
        return -ENOTCONN;
    }
    struct ad *args = ad_create();
    still_up_why(node, why);
    ad_set_int(args, "Jobs", node->jobs.waiting);
    ad_set_string(args, "Reason", why);
    if (withdrawn) {
        ad_set_bool(args, "Withdrawn", true);
    }
    const struct wire_body body = {.args = args};
    (void)snprintf(uplink, sizeof uplink, "startd/%.240s", node->name);
    int64_t rc = wire_relay(wire, uplink, VERB_POWER_RECLAIM, &body, ASK_MS, done, node);
    ad_destroy(args);
    return rc;
}

static void startd_told(void *arg, struct wire_reply *reply)
{
    const struct node *node = arg;
    if (reply->status != 0) { /* it asks for its own ad, which says so, too */
        log_debug(node->rooster->env.log, "sleep.not_told", reply->text,
                  LOG_TEXT("machine", node->name));
    }
}

void still_up_tell(struct node *node)
{
    (void)ask_startd(node, true, startd_told); /* likewise */
}

static void put_record(struct node *node)
{
    char id[LEDGER_ID_SIZE];
    ledger_new_id(node->rooster->ledger, id);
    const struct ledger_record record = {.id = id,
                                         .kind = "Sleep",
                                         .machine = node->name,
                                         .asked_by = ASKED_BY_STARTD,
                                         .outcome = SLEEP_TAKEN_BACK,
                                         .reason = node->reason,
                                         .boot_id = node->asleep.boot_id,
                                         .began_s = node->asleep.slept_s,
                                         .jobs = &node->jobs.waiting};
    ledger_put(node->rooster->ledger, &record, NULL, NULL);
}

void still_up_stays(struct node *node)
{
    char why[ROOSTER_TEXT_MAX], reason[ROOSTER_TEXT_MAX];
    still_up_why(node, why);
    (void)snprintf(reason, sizeof reason, "taken back: %.280s", why);
    log_info(node->rooster->env.log, "sleep.taken_back", why, LOG_TEXT("machine", node->name));
    node->asked.by_name = false;
    node_move(node, WAKE_STAYING, reason);
    loop_timer_set(node->deadline, STAYING_MS);
}

/* Returns whether the startd runs and refuses: too late, ordered by name, or ending. */
static bool is_there(int status)
{
    return status == -EALREADY || status == -EPERM || status == -ESHUTDOWN || status == -EBUSY;
}

static void startd_answered(void *arg, struct wire_reply *reply)
{
    struct node *node = arg;
    node->still_up.asking = false;
    if (node->state != WAKE_OFF || !node->asleep.has_ads) {
        look_at(node); /* it has shown itself, or was given another order */
        return;
    }
    if (reply->status == 0) {
        still_up_stays(node);
        put_record(node);
    } else if (is_there(reply->status)) {
        node->still_up.asking = true;
        loop_timer_set(node->still_up.timer, AGAIN_MS);
        return;
    } else {
        node->still_up.down_order = node->asleep.order;
    }
    look_at(node);
}

void still_up_again(void *arg)
{
    struct node *node = arg;
    node->still_up.asking = false;
    look_at(node);
}

bool still_up_ask(struct node *node)
{
    int64_t age_s = rooster_since_s(node->rooster, &node->asleep.slept_s);
    if (node->still_up.asking) {
        return true;
    }
    if (node->state != WAKE_OFF || !node->asleep.has_ads || node->asleep.by_rooster || age_s < 0 ||
        age_s > YOUNG_S || node->still_up.down_order == node->asleep.order) {
        return false;
    }
    node->still_up.asking = ask_startd(node, false, startd_answered) > 0;
    return node->still_up.asking;
}
