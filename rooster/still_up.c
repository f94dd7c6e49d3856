/* rooster/still_up.c - a machine is wanted soon after its offline ads came: it may not be down yet.
 *
 * Before such a machine is woken, its startd is asked (POWER_RECLAIM).  If it can still stay up, it
 * takes its sleep back, and nothing was switched.  If it cannot, it is asked again until it is
 * gone: an order that comes too early would be lost, and the machine would sleep until the deadline
 * of that wake.
 *
 * Without its startd, the machine's operating system may still need a minute to shut down or to
 * write its memory to the disk.  So the power method that will wake it is first asked for its
 * state, until the answer is no longer "on".  A method that cannot tell (magic packets) gives its
 * order again and again instead, as long as the machine may have been on its way down: a magic
 * packet does no harm to a machine that boots.  A site's command without a status command is given
 * once, because nothing is known of what it does to a machine that boots.
 *
 * A machine that the rooster takes down itself (sleeps.c) is not asked by its startd but told,
 * because the rooster knows whether it can still stay up.
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
#include "rooster/ways.h"
#include "wire/wire.h"

#define ASK_MS    5000
#define AGAIN_MS  1000
#define REPEAT_MS 3000 /* between two orders */

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

/* Records that the sleep was taken back.  If this sleep has a record, its outcome is changed: a
 * sleep has one line in the history. */
static void put_record(struct node *node)
{
    if (node->sleep.past_id[0] == '\0') {
        ledger_new_id(node->rooster->ledger, node->sleep.past_id);
    }
    const struct ledger_record record = {.id = node->sleep.past_id,
                                         .kind = "Sleep",
                                         .machine = node->name,
                                         .asked_by = ASKED_BY_STARTD,
                                         .outcome = SLEEP_TAKEN_BACK,
                                         .reason = node->reason,
                                         .boot_id = node->asleep.boot_id,
                                         .differed = past_differed(&node->history.past),
                                         .began_s = node->asleep.slept_s,
                                         .jobs = &node->jobs.waiting};
    ledger_put(node->rooster->ledger, &record, NULL, NULL);
    node->sleep.past_id[0] = '\0';
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

/* ---- when it went to sleep */

void still_up_slept(struct node *node)
{
    node->still_up.is_dated = true;
    node->still_up.slept_ms = (int64_t)loop_now_ms(node->rooster->env.loop);
    node->still_up.tried_ms = 0;
}

void still_up_woke(struct node *node)
{
    node->still_up.is_dated = node->still_up.is_on = false;
    node->still_up.tried_ms = 0;
}

/* Returns for how long the machine has slept.  If this rooster has not seen it go, its ads say so,
 * perhaps by another clock. */
static int64_t age_ms(struct node *node)
{
    int64_t now_ms = (int64_t)loop_now_ms(node->rooster->env.loop);
    if (!node->still_up.is_dated) {
        int64_t ago_s = rooster_since_s(node->rooster, &node->asleep.slept_s);
        ago_s = ago_s < 0 ? 0 : ago_s > WAKE_DOWN_MAX_MS / 1000 ? WAKE_DOWN_MAX_MS / 1000 : ago_s;
        node->still_up.is_dated = true;
        node->still_up.slept_ms = now_ms - ago_s * 1000;
    }
    return now_ms - node->still_up.slept_ms;
}

/* Returns for how long the method has been asked, or the order been repeated. */
static uint64_t tried_for_ms(struct node *node)
{
    uint64_t now_ms = loop_now_ms(node->rooster->env.loop);
    node->still_up.tried_ms = node->still_up.tried_ms != 0 ? node->still_up.tried_ms : now_ms;
    return now_ms - node->still_up.tried_ms;
}

/* ---- its power method is asked */

static unsigned way_can(const struct node *node, struct power_node *power)
{
    return node_power(node, power, NULL) == 0 ? power_can(power) : 0;
}

static struct wake_descent descent_of(struct node *node)
{
    struct power_node power;
    int64_t order = node->asleep.order;
    return (struct wake_descent){.age_ms = age_ms(node),
                                 .is_startd_gone =
                                     node->asleep.by_rooster || node->still_up.down_order == order,
                                 .can_tell = (way_can(node, &power) & POWER_CAN_STATUS) != 0,
                                 .is_told = node->still_up.off_order == order};
}

static void method_answered(void *arg, enum power_state state, const char *text)
{
    struct node *node = arg;
    node->still_up.asking = false;
    if (node->state != WAKE_OFF || !node->asleep.has_ads) {
        look_at(node);
        return;
    }
    struct wake_descent descent = descent_of(node);
    descent.is_told = true;
    descent.is_on = state == POWER_ON;
    if (wake_plan_step(&descent) == WAKE_STEP_WAIT) {
        if (!node->still_up.is_on) {
            log_info(node->rooster->env.log, "wake.waits", text, LOG_TEXT("machine", node->name));
        }
        node->still_up.asking = node->still_up.is_on = true;
        loop_timer_set(node->still_up.timer, wake_plan_pause_ms(AGAIN_MS, tried_for_ms(node)));
        return;
    }
    node->still_up.off_order = node->asleep.order;
    node->still_up.is_on = false;
    node->still_up.tried_ms = 0;
    look_at(node);
}

static bool ask_method(struct node *node)
{
    struct power_node power;
    return node_power(node, &power, NULL) == 0 &&
           power_status(node->rooster->power, &power, method_answered, node, NULL) == 0;
}

bool still_up_ask(struct node *node)
{
    if (node->still_up.asking) {
        return true;
    }
    if (node->state != WAKE_OFF || !node->asleep.has_ads) {
        return false;
    }
    const struct wake_descent descent = descent_of(node);
    switch (wake_plan_step(&descent)) {
    case WAKE_STEP_ASK_STARTD:
        node->still_up.asking = ask_startd(node, false, startd_answered) > 0;
        break;
    case WAKE_STEP_ASK_METHOD:
        node->still_up.asking = ask_method(node);
        break;
    case WAKE_STEP_WAIT:
    case WAKE_STEP_ORDER:
        break;
    }
    return node->still_up.asking;
}

void still_up_went_off(struct node *node)
{
    if (node->still_up.is_on && node->still_up.asking) {
        loop_timer_set(node->still_up.timer, 0);
    }
}

const char *still_up_held(const struct node *node)
{
    return node->still_up.is_on && node->still_up.asking && node->state == WAKE_OFF
               ? "the machine is still going down; it is woken as soon as its power method does "
                 "not say \"on\" any more"
               : NULL;
}

/* ---- its order is repeated */

static bool is_wanted_yet(struct node *node)
{
    look_see(node); /* a hold may have ended without a change of its ad */
    return node->jobs.demand_it || node->asked.by_name || node->guard.reserve.reserving;
}

static void order_repeated(void *arg, int status, const char *text)
{
    struct node *node = arg;
    node->ordering = false;
    log_debug(node->rooster->env.log, "wake.repeated", text, LOG_TEXT("machine", node->name),
              LOG_INT("status", status));
    look_at(node); /* looks passed it over meanwhile */
}

static void repeat_order(struct node *node)
{
    struct power_node power;
    bool is_due = node->state == WAKE_WAKING && !node->ordering && is_wanted_yet(node);
    node->ordering = is_due && node_power(node, &power, NULL) == 0 &&
                     power_wake(node->rooster->power, &power, order_repeated, node, NULL) == 0;
    if (!node->ordering) {
        look_at(node);
    }
}

void still_up_repeat(struct node *node)
{
    struct power_node power;
    if (node->ordering || loop_timer_is_set(node->still_up.timer) ||
        age_ms(node) >= WAKE_DOWN_MAX_MS || (way_can(node, &power) & POWER_CAN_REPEAT) == 0) {
        return;
    }
    loop_timer_set(node->still_up.timer, wake_plan_pause_ms(REPEAT_MS, tried_for_ms(node)));
}

void still_up_again(void *arg)
{
    struct node *node = arg;
    node->still_up.asking = false;
    if (node->state == WAKE_WAKING) {
        repeat_order(node);
    } else {
        look_at(node);
    }
}
