/* rooster/sleeps.c - takes down machines that cannot do it themselves: guests, and machines that
 * are switched from outside.
 *
 * A startd whose POWER_METHOD is `rooster` leaves offline ads with PowerState GoingDown; by then it
 * has no claim and accepts none.  These ads are the order.  The order is written to the ledger, the
 * machine's method takes the machine down, and the ads are changed to Off.  If that fails they are
 * changed to On, with the reason, and the startd, which watches its own ad, takes the sleep back.
 *
 * The startd also takes the sleep back after a time, since there may be no rooster; it may then be
 * claimed.  So an order older than SLEEP_BEGIN_S is never given.  Instead the machine's state is
 * asked for: off means Off, on means that it stays on, and Unknown is asked for again.  After a
 * restart of the rooster the order may be under way.  Then also a machine that is on is asked for
 * again, as long as an order may take, and jobs do not take it back.  That time is in the offline
 * ads (PowerDownSeconds), so that the startd does not take the sleep back before.
 *
 * Live ads while an order is under way mean that the startd took the sleep back anyway; the order
 * is cancelled.
 *
 * Until the order is given, jobs or an order by name take the machine back, if its ads have
 * PowerReclaimUntil (nobody ordered its sleep by name); the order is not given before that time.
 *
 * Rejected: a command from the startd to the rooster as the order.  It would have to be repeated
 * and remembered; an ad has all that already.  The startd does send a command before it leaves its
 * ads (guards.h); that one may be lost without harm.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/sleeps.h"

#include <errno.h>
#include <stdio.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "classad/ad.h"
#include "power/power.h"
#include "rooster/clock.h"
#include "rooster/ledger.h"
#include "rooster/look.h"
#include "rooster/nodes.h"
#include "rooster/outside.h"
#include "rooster/rooster.h"
#include "rooster/sleep_record.h"
#include "rooster/still_up.h"
#include "rooster/wakes.h"
#include "rooster/ways.h"

#define SLEEP_BEGIN_S   60 /* after its offline ads came */
#define RECLAIM_MAX_S   30 /* PowerReclaimUntil is waited for, but no longer */
#define STATUS_AGAIN_MS 10000

static void keep_up(struct node *node, const char *why)
{
    node->sleep.is_over = true;
    node->sleep.is_resumed = false;
    log_warn(node->rooster->env.log, "sleep.failed", why, LOG_TEXT("machine", node->name));
    node_move(node, WAKE_STAYING, why);
    sleep_record_end(node, "Failed");
    loop_timer_set(node->deadline, STAYING_MS);
}

static void is_off(struct node *node, const char *how)
{
    node->sleep.is_over = true;
    node->sleep.is_resumed = false;
    outside_assume(node, POWER_OFF);
    still_up_slept(node);
    char reason[ROOSTER_TEXT_MAX];
    (void)snprintf(reason, sizeof reason, "%s", node->reason); /* why it was to go down */
    log_info(node->rooster->env.log, "sleep.done", how, LOG_TEXT("machine", node->name));
    node_is_asleep(node, reason);
    sleep_record_end(node, "Asleep");
    loop_timer_stop(node->deadline);
}

static void taken_down(void *arg, int status, const char *text)
{
    struct node *node = arg;
    node->ordering = false;
    if (node->state != WAKE_GOING_DOWN) {
        log_warn(node->rooster->env.log, "sleep.late", text, LOG_TEXT("machine", node->name));
    } else if (status == 0) {
        is_off(node, text);
    } else {
        keep_up(node, text);
    }
    look_at(node); /* looks passed it over while the order was at work */
}

/* Returns for how many seconds the machine has been waiting to be taken down. */
static int64_t age_s(const struct node *node)
{
    return rooster_since_s(node->rooster, &node->sleep.began_s);
}

static bool may_be_under_way(const struct node *node)
{
    return node->sleep.is_resumed && age_s(node) <= SLEEP_BEGIN_S + node->sleep.down_max_s;
}

static void state_told(void *arg, enum power_state state, const char *text)
{
    struct node *node = arg;
    node->ordering = false;
    if (node->state == WAKE_GOING_DOWN && state == POWER_OFF) {
        is_off(node, text);
    } else if (node->state == WAKE_GOING_DOWN && state == POWER_ON && !may_be_under_way(node)) {
        keep_up(node, "the machine was not taken down in time");
    } else if (node->state == WAKE_GOING_DOWN) {
        loop_timer_set(node->deadline, STATUS_AGAIN_MS);
    }
    look_at(node);
}

static bool is_wanted(const struct node *node)
{
    return !node->sleep.is_resumed && node->asleep.reclaim_until_s > 0 &&
           (node->jobs.demand_it || node->asked.by_name);
}

/* Takes the sleep back: the order was not given yet and will not be given. */
static void take_back(struct node *node)
{
    node->sleep.is_over = true;
    still_up_tell(node);
    still_up_stays(node);
    sleep_record_end(node, SLEEP_TAKEN_BACK);
    look_at(node);
}

/* Returns whether to wait because jobs may still take the sleep back; sets the timer. */
static bool waits_for_jobs(struct node *node)
{
    int64_t left_s = 0 - rooster_since_s(node->rooster, &node->asleep.reclaim_until_s);
    if (left_s <= 0 || age_s(node) >= RECLAIM_MAX_S) {
        return false;
    }
    left_s = left_s < RECLAIM_MAX_S ? left_s : RECLAIM_MAX_S;
    loop_timer_set(node->deadline, (uint64_t)left_s * 1000);
    return true;
}

static void give_order(void *arg)
{
    struct node *node = arg;
    struct power_node power;
    struct err err;
    if (node->state == WAKE_GOING_DOWN && age_s(node) <= SLEEP_BEGIN_S &&
        (is_wanted(node) || waits_for_jobs(node))) {
        node->ordering = false;
        look_at(node);
        return;
    }
    int rc = node->state == WAKE_GOING_DOWN ? node_power(node, &power, &err) : 1;
    if (rc == 0 && age_s(node) <= SLEEP_BEGIN_S &&
        config_bool(node->rooster->env.config, "ROOSTER_DRY_RUN")) {
        rc = err_set(&err, -EPERM,
                     "the machine would be taken down (%s) by method %s without ROOSTER_DRY_RUN",
                     node->sleep.level, power.method);
    } else if (rc == 0 && age_s(node) <= SLEEP_BEGIN_S) {
        rc = node_take_down(node, node->sleep.level, taken_down, &err);
    } else if (rc == 0) {
        rc = node_ask_state(node, state_told, &err);
    }
    if (rc == 0) {
        node->sleep.is_shown = true;
        node_show(node); /* how long it may take */
        return;
    }
    node->ordering = false;
    if (node->state == WAKE_GOING_DOWN) {
        keep_up(node, err.text);
    }
    look_at(node);
}

bool sleeps_look(struct node *node)
{
    struct rooster *rooster = node->rooster;
    const struct ad *ad = node->asleep.ad;
    int64_t which = ad_int_or(ad, "MyCurrentTime", 0);
    if (node->state != WAKE_GOING_DOWN && node->sleep.is_over && which == node->sleep.order) {
        return false;
    }
    if (node->state == WAKE_GOING_DOWN && !node->ordering && is_wanted(node) &&
        age_s(node) <= SLEEP_BEGIN_S) {
        take_back(node);
        return true;
    }
    if (node->ordering || (node->state == WAKE_GOING_DOWN && loop_timer_is_set(node->deadline))) {
        return true; /* under way, or to be asked again later */
    }
    if (node->state != WAKE_GOING_DOWN) {
        if (node->state != WAKE_OFF && node->state != WAKE_UP) {
            node_is_up(node); /* for a moment that no look saw */
        }
        node->state = WAKE_GOING_DOWN;
        node->sleep.order = which;
        node->sleep.is_over = false;
        node->since_s = rooster_now_s(rooster);
        (void)snprintf(node->sleep.level, sizeof node->sleep.level, "%s",
                       ad_string_or(ad, "HibernationState", "S5"));
        node->sleep.is_shown = false;
        node->sleep.down_max_s = (int64_t)(node_down_max_ms(node, node->sleep.level) / 1000) + 1;
        if (node->sleep.id[0] == '\0') { /* else it was granted, or a rooster before us has begun */
            node->sleep.is_resumed = false;
            node->sleep.began_s = ad_int_or(ad, "LastHeardFrom", node->since_s);
        }
        (void)snprintf(node->reason, sizeof node->reason, "%s",
                       ad_string_or(ad, "PowerStateReason", ""));
        log_info(rooster->env.log, "sleep.begins", node->reason, LOG_TEXT("machine", node->name),
                 LOG_TEXT("level", node->sleep.level));
    }
    node->ordering = true;
    if (node->sleep.id[0] == '\0') {
        ledger_new_id(rooster->ledger, node->sleep.id);
    }
    sleep_record_put(node, "Started", give_order); /* the order follows the commit */
    return true;
}
