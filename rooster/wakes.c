/* rooster/wakes.c - the course of a wake, from the order to what happens after its outcome.
 *
 * A wake: its ledger record becomes durable (Started), the power method gives the order, then we
 * wait for the live ad until the deadline.  If the order fails or the machine does not come, it is
 * tried again with back-off, then by its next method, then it is put into quarantine (WakeFailed)
 * for a while.  A wake that has ended is remembered (struct wake_past), because the machine may
 * come late, or fall asleep again at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rooster/wakes.h"

#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "offline_ads/offline_ads.h"
#include "power/power.h"
#include "rooster/clock.h"
#include "rooster/ledger.h"
#include "rooster/look.h"
#include "rooster/nodes.h"
#include "rooster/outside.h"
#include "rooster/rooster.h"
#include "rooster/seen.h"
#include "rooster/sleep_record.h"
#include "rooster/ticket.h"
#include "rooster/ways.h"

static void put_record(struct node *node, const char *outcome, void (*done)(void *arg))
{
    struct power_node power = {0};
    (void)node_power(node, &power, NULL); /* else without a method */
    struct ledger_record record = {.id = node->wake.id,
                                   .kind = "Wake",
                                   .machine = node->name,
                                   .asked_by = node->asked.by,
                                   .method = power.method != NULL ? power.method : "none",
                                   .outcome = outcome,
                                   .reason = node->reason,
                                   .fault = node->wake.fault,
                                   .began_s = node->wake.began_s,
                                   .attempts = &node->wake.attempts,
                                   .jobs = &node->wake.jobs,
                                   .is_test = node->test.is_under_way};
    if (node->state == WAKE_QUARANTINED) {
        record.quarantines = &node->history.quarantines;
    }
    if (strcmp(outcome, "Up") == 0) {
        record.boot_id = node->awake.boot_id;
        record.boot_s = &node->awake.boot_s;
        record.boot_ms = node->history.last_boot_ms > 0 ? &node->history.last_boot_ms : NULL;
        record.differed = past_differed(&node->history.past);
    }
    ledger_put(node->rooster->ledger, &record, done, node);
}

/* Ends the wake under way; up_s 0: it has failed. */
static void end_wake(struct node *node, int64_t up_s)
{
    struct wake_past *past = &node->history.last;
    (void)snprintf(past->wake_id, sizeof past->wake_id, "%s", node->wake.id);
    past->wake_s = node->wake.began_s;
    past->boot_ms = node->wake.boot_ms;
    past->attempts = node->wake.attempts;
    past->up_s = up_s;
    if (node->test.is_under_way) {
        node->test.is_under_way = false;
        node->test.ended_s = rooster_now_s(node->rooster);
        node->test.is_passed = up_s != 0;
    }
    node->wake.id[0] = '\0';
    node->wake.attempts = 0;
}

/* The last wake turns out differently: makes it the current one, so that its record is changed. */
static void resume_past(struct node *node)
{
    const struct wake_past *past = &node->history.last;
    (void)snprintf(node->wake.id, sizeof node->wake.id, "%s", past->wake_id);
    node->wake.began_s = past->wake_s;
    node->wake.boot_ms = past->boot_ms;
    node->wake.attempts = past->attempts;
}

static void forget_past(struct node *node)
{
    node->history.last.wake_id[0] = '\0';
}

void node_give_up(struct node *node)
{
    put_record(node, "Failed", NULL); /* with the last reason */
    end_wake(node, 0);
}

static struct wake_retry retry_of(const struct node *node)
{
    const struct config *config = node->rooster->env.config;
    return (struct wake_retry){
        .attempts_max = config_int(config, "ROOSTER_WAKE_ATTEMPTS"),
        .methods = (int64_t)node_method_count(node),
        .backoff_ms = (uint64_t)config_duration_s(config, "ROOSTER_WAKE_BACKOFF") * 1000,
        .quarantine_ms = (uint64_t)config_duration_s(config, "ROOSTER_QUARANTINE") * 1000,
        .quarantines = node->history.quarantines,
        .quarantine_max_ms = (uint64_t)config_duration_s(config, "ROOSTER_QUARANTINE_MAX") * 1000};
}

static void attempt_failed(struct node *node, const char *fault, const char *why)
{
    struct rooster *rooster = node->rooster;
    const struct wake_retry retry = retry_of(node);
    loop_timer_stop(node->deadline);
    rooster->failures++;
    past_add(&node->history.past, false, 0);
    node->wake.fault = fault;
    enum wake_state next =
        wake_plan_after_failure(&retry, node->wake.attempts, loop_now_ms(rooster->env.loop),
                                &node->wake.retry_at_ms);
    node->history.quarantines += next == WAKE_QUARANTINED ? 1 : 0;
    node_move(node, next, why);
    if (next == WAKE_QUARANTINED) {
        node->asked.by_name = false;
        node_give_up(node);
        if (node->history.quarantines == 1) { /* else the ticket is open */
            ticket_open(node);
        }
    }
    look_at(node);
}

static void is_off_again(void *arg, enum power_state state, const char *text)
{
    struct node *node = arg;
    node->ordering = false;
    if (node->state == WAKE_WAKING && state == POWER_OFF) {
        char why[ROOSTER_TEXT_MAX];
        (void)snprintf(why, sizeof why,
                       "the machine was woken, but was off again before it joined the pool: %.200s",
                       text);
        attempt_failed(node, FAULT_OFF, why);
    }
    look_at(node); /* looks passed it over meanwhile */
}

/* A report that the machine is off may be older than the order, so the state is asked for. */
void node_went_off(struct node *node)
{
    if (node->state == WAKE_WAKING && !node->ordering) {
        node->ordering = node_ask_state(node, is_off_again, NULL) == 0;
    }
}

/* The machine did not come: records whether it is off, or on and has not joined, if its method can
 * tell. */
static void did_not_come(void *arg, enum power_state state, const char *text)
{
    static const char *const WHY[] = {
        [POWER_UNKNOWN] = "the machine was woken but did not join the pool in time",
        [POWER_ON] = "the machine is on but did not join the pool in time",
        [POWER_OFF] = "the machine was woken but is still off",
    };
    static const char *const FAULTS[] = {
        [POWER_UNKNOWN] = FAULT_SILENT, [POWER_ON] = FAULT_NO_JOIN, [POWER_OFF] = FAULT_OFF};
    struct node *node = arg;
    node->ordering = false;
    log_debug(node->rooster->env.log, "wake.late", text, LOG_TEXT("machine", node->name));
    if (node->state == WAKE_WAKING) {
        attempt_failed(node, FAULTS[state], WHY[state]);
    }
    look_at(node); /* looks passed it over meanwhile */
}

static void ask_why(struct node *node)
{
    if (node->ordering) { /* the order itself is not out yet: its end is waited for */
        loop_timer_set(node->deadline, 1000);
        return;
    }
    node->ordering = true;
    if (node_ask_state(node, did_not_come, NULL) != 0) {
        did_not_come(node, POWER_UNKNOWN, "the machine's power methods cannot tell its state");
    }
}

void node_no_show(void *arg)
{
    struct node *node = arg;
    if (node->state == WAKE_WAKING) {
        ask_why(node);
    } else if (node->state == WAKE_STAYING) {
        node_move(node, WAKE_OFF,
                  "the machine was not taken down, but its live ads did not come back");
        look_at(node);
    } else if (node->state == WAKE_GOING_DOWN) {
        look_at(node); /* asked again */
    }
}

static void order_given(void *arg, int status, const char *text)
{
    struct node *node = arg;
    node->ordering = false;
    if (status != 0) {
        log_warn(node->rooster->env.log, "wake.failed", text, LOG_TEXT("machine", node->name),
                 LOG_INT("attempt", node->wake.attempts));
    } else {
        log_info(node->rooster->env.log, "wake.sent", text, LOG_TEXT("machine", node->name),
                 LOG_INT("attempt", node->wake.attempts));
        outside_assume(node, POWER_ON);
    }
    if (node->state == WAKE_WAKING && status != 0) {
        attempt_failed(node, FAULT_ORDER, text);
    }
    look_at(node); /* looks passed it over while the order was at work */
}

static void wake_recorded(void *arg)
{
    struct node *node = arg;
    struct rooster *rooster = node->rooster;
    struct power_node power;
    struct strbuf text;
    struct err err;
    if (node->state != WAKE_WAKING) { /* it came up by itself meanwhile */
        node->ordering = false;
        look_at(node);
        return;
    }
    strbuf_init(&text, 65536); /* what a command's standard input takes */
    for (size_t i = 0; text.length == 0 && i < node->ads.count; i++) {
        const struct ad *ad = ((const struct seen *)node->ads.items[i])->ad;
        if (offline_ads_is(ad)) {
            ad_print_long(ad, &text);
        }
    }
    int rc = node_power(node, &power, &err);
    if (rc == 0) {
        power.ad_text = text.failed ? NULL : strbuf_text(&text);
        rc = power_wake(rooster->power, &power, order_given, node, &err);
    }
    strbuf_fini(&text);
    if (rc != 0) {
        node->ordering = false;
        attempt_failed(node, FAULT_ORDER, err.text);
        return;
    }
    /* After the order: what the collector commits for this would stand in the way of our own commit
     * on the same disk. */
    node_show(node);
}

/* Returns whether the machine was off after the last order, as its power method says: it did not
 * boot, or somebody ended its boot.  So a boot that comes follows a later order. */
static bool was_off(const struct node *node)
{
    return node->wake.fault != NULL && strcmp(node->wake.fault, FAULT_OFF) == 0;
}

void node_wake(struct node *node)
{
    struct rooster *rooster = node->rooster;
    if (node->ordering) {
        return;
    }
    node->ordering = true;
    node->wake.is_dry = false;
    node->wake.attempts++;
    rooster->wakes++;
    if (node->wake.id[0] == '\0') {
        node->wake.fault = NULL;
        node->history.nap_s = 0;
        ledger_new_id(rooster->ledger, node->wake.id);
        node->wake.began_s = rooster_now_s(rooster);
        node->wake.jobs = node->jobs.waiting;
        wake_day_add(&node->history.day, node->wake.began_s);
        node->wake.boot_ms = loop_now_ms(rooster->env.loop);
        if (!node->asked.by_name) {
            (void)snprintf(node->asked.by, sizeof node->asked.by, "%s",
                           node->jobs.demand_it ? ASKED_BY_NEGOTIATOR : ASKED_BY_RESERVE);
        }
        guards_woken(node);
    } else if (was_off(node)) {
        node->wake.boot_ms = loop_now_ms(rooster->env.loop);
    }
    wake_minute_add(&rooster->minute, loop_now_ms(rooster->env.loop));
    loop_timer_set(node->deadline, node_deadline_ms(node));
    char reason[ROOSTER_TEXT_MAX];
    if (node->asked.by_name) {
        (void)snprintf(reason, sizeof reason, "switched on by %.200s", node->asked.by);
    } else if (node->jobs.demand_it) {
        (void)snprintf(reason, sizeof reason, "%lld jobs wait for the machine",
                       (long long)node->jobs.waiting);
    } else {
        (void)snprintf(reason, sizeof reason, GUARD_RESERVE_WHY);
    }
    node->state = WAKE_WAKING;
    node->since_s = rooster_now_s(rooster);
    (void)snprintf(node->reason, sizeof node->reason, "%s", reason);
    log_info(rooster->env.log, "wake.begins", reason, LOG_TEXT("machine", node->name),
             LOG_INT("attempt", node->wake.attempts));
    put_record(node, "Started", wake_recorded); /* the order follows the commit */
}

/* Compares the boot with what the machine promised before it slept. */
static void compare_boots(struct node *node)
{
    for (size_t i = 0; node->promise != NULL && i < node->ads.count; i++) {
        const struct ad *ad = ((const struct seen *)node->ads.items[i])->ad;
        if (!offline_ads_is(ad)) {
            past_compare(&node->history.past, node->promise, ad);
            ad_destroy(node->promise);
            node->promise = NULL;
        }
    }
}

/* Returns whether the machine comes after it was given up, because its deadline was too short.  If
 * it comes later than any deadline, somebody else has woken it. */
static bool is_late(const struct node *node)
{
    struct rooster *rooster = node->rooster;
    int64_t most_s = config_duration_s(rooster->env.config, "ROOSTER_WAKE_DEADLINE_MAX");
    const struct wake_past *past = &node->history.last;
    return node->wake.id[0] == '\0' && past->wake_id[0] != '\0' && past->up_s == 0 &&
           rooster_since_s(rooster, &past->wake_s) <= most_s;
}

/* Memory below this percentage counts as less; what the kernel keeps for itself varies a little. */
#define MEMORY_LESS_PERCENT 95

/* Returns whether the machine has less than it promised before it slept, with the difference in
 * reason. */
static bool has_less(const struct node *node, char *reason, size_t size)
{
    const struct node_room *promised = &node->asleep.promised, *given = &node->awake.given;
    bool less_memory = given->memory_mib > 0 && given->memory_mib < promised->memory_mib &&
                       given->memory_mib <= promised->memory_mib / 100 * MEMORY_LESS_PERCENT;
    if (given->cpus > 0 && given->cpus < promised->cpus) {
        (void)snprintf(reason, size, "the machine joined with %lld of the promised %lld Cpus",
                       (long long)given->cpus, (long long)promised->cpus);
    } else if (less_memory) {
        (void)snprintf(reason, size,
                       "the machine joined with %lld of the promised %lld MiB of memory",
                       (long long)given->memory_mib, (long long)promised->memory_mib);
    } else {
        return false;
    }
    return true;
}

/* Returns whether it is known how long the boot took.  It is not when an earlier rooster gave the
 * order, because the whole pool may have been stopped meanwhile; nor when the machine was off after
 * the last attempt, because somebody else has then started it.  A machine that was given up by an
 * earlier rooster is timed: without that, its deadline would be too short for ever. */
static bool is_timed(const struct node *node, bool late)
{
    return late ? !was_off(node) : node->wake.boot_ms != 0;
}

/* Returns how long the boot of the machine, which has just come, took. */
static int64_t took_ms(const struct node *node)
{
    struct rooster *rooster = node->rooster;
    return node->wake.boot_ms != 0 ? (int64_t)(loop_now_ms(rooster->env.loop) - node->wake.boot_ms)
                                   : rooster_since_s(rooster, &node->wake.began_s) * 1000;
}

static void was_woken(struct node *node, bool late)
{
    struct rooster *rooster = node->rooster;
    char reason[ROOSTER_TEXT_MAX];
    node->history.last_boot_ms = is_timed(node, late) ? took_ms(node) : 0;
    boots_add(&node->history.boots, node->history.last_boot_ms);
    if (late) {
        past_came_late(&node->history.past, rooster_now_s(rooster));
    } else {
        past_add(&node->history.past, true, rooster_now_s(rooster));
    }
    node->wake.fault = NULL;
    (void)snprintf(reason, sizeof reason, "%s",
                   late ? "the machine has a live ad again, after it was given up"
                        : "the machine has a live ad");
    if (has_less(node, reason, sizeof reason)) {
        node->wake.fault = FAULT_LESS;
        log_warn(rooster->env.log, "wake.less", reason, LOG_TEXT("machine", node->name));
    }
    node_move(node, WAKE_UP, reason);
    put_record(node, "Up", NULL);
    end_wake(node, rooster_now_s(rooster));
    if (node->wake.fault != NULL) {
        ticket_open(node);
    }
}

void node_is_up(struct node *node)
{
    bool late = is_late(node), was_staying = node->state == WAKE_STAYING;
    loop_timer_stop(node->deadline);
    guards_up(node);
    if (!guards_granted(node)) { /* else it has not been down yet: so a rooster finds it */
        sleep_record_over(node);
    }
    compare_boots(node);
    node->sleep.past_id[0] = '\0';
    if (late) {
        resume_past(node);
    }
    if (node->wake.id[0] != '\0') {
        was_woken(node, late);
    } else {
        char reason[ROOSTER_TEXT_MAX];
        (void)snprintf(reason, sizeof reason, "%s",
                       was_staying ? node->reason : "the machine came up without an order");
        node_move(node, WAKE_UP, reason);
        forget_past(node);
    }
    node->wake.attempts = 0;
    node->asked.by_name = node->test.is_under_way = false;
    node->history.quarantines = 0;
}

/* ---- asleep again */

void node_is_asleep(struct node *node, const char *reason)
{
    struct rooster *rooster = node->rooster;
    const struct wake_past *past = &node->history.last;
    int64_t now_s = rooster_now_s(rooster);
    int64_t down_s = node->state == WAKE_GOING_DOWN ? node->since_s : now_s;
    bool at_once =
        past->wake_id[0] != '\0' && past->up_s != 0 && !node->awake.was_used &&
        !node->asleep.is_kept_off && strcmp(node->asked.by, ASKED_BY_NEGOTIATOR) == 0 &&
        down_s - past->up_s < config_duration_s(rooster->env.config, "ROOSTER_ASLEEP_AGAIN");
    guards_slept(node);
    node->history.nap_s = at_once ? now_s : 0;
    node->history.naps = at_once ? node->history.naps : 0;
    node->awake.was_used = false;
    if (!at_once) {
        forget_past(node);
    }
    node_move(node, WAKE_OFF, reason);
}

/* A machine that was woken for a job that went elsewhere, or was taken back, sleeps again unclaimed
 * and is not at fault; neither for jobs submitted after it slept.  A machine that sleeps again and
 * again while jobs wait for it would be woken for ever.  After ROOSTER_WAKE_ATTEMPTS times it is
 * put into quarantine, each time for longer. */
void node_napped(struct node *node)
{
    struct rooster *rooster = node->rooster;
    uint64_t now_ms = loop_now_ms(rooster->env.loop);
    int64_t rest_s = rooster_since_s(rooster, &node->history.nap_s);
    bool are_new = node->jobs.since_s >= node->history.nap_s;
    node->history.nap_s = 0;
    if (are_new || rest_s >= config_duration_s(rooster->env.config, "ROOSTER_ASLEEP_AGAIN")) {
        node->history.naps = 0;
        return;
    }
    char reason[ROOSTER_TEXT_MAX];
    struct wake_retry retry = retry_of(node);
    int64_t most = retry.attempts_max;
    (void)snprintf(reason, sizeof reason,
                   "the machine was woken for jobs and slept again without a claim while jobs wait "
                   "(%lld times)",
                   (long long)++node->history.naps);
    log_info(rooster->env.log, "wake.napped", reason, LOG_TEXT("machine", node->name));
    if (node->history.naps < most) {
        return; /* once may be chance */
    }
    retry.methods = 1;
    retry.quarantines = node->history.naps - most;
    (void)wake_plan_after_failure(&retry, most, now_ms, &node->wake.retry_at_ms);
    rooster->failures++;
    node->wake.fault = FAULT_AGAIN;
    resume_past(node);
    node_move(node, WAKE_QUARANTINED, reason);
    node_give_up(node);
    if (node->history.naps == most) {
        ticket_open(node);
    }
    forget_past(node);
}

void node_order(struct node *node, const char *asked_by, bool test)
{
    node_pardon(node);
    node->asked.by_name = true;
    node->test.is_under_way = test;
    (void)snprintf(node->asked.by, sizeof node->asked.by, "%s", asked_by);
    look_at(node);
}

void node_pardon(struct node *node)
{
    node->history.quarantines = node->history.naps = node->history.nap_s = 0;
    forget_past(node);
    if (node->state == WAKE_QUARANTINED) {
        node_move(node, WAKE_OFF, "a user asked for the machine by name");
    }
}
