/* startd/sleep/hibernate.c - going to sleep: all slots agree, offline ads are left behind, the
 * machine goes down.
 *
 * The order: refuse new claims; send one offline ad for each slot; when the collector has answered
 * that they are durable, and only then, tell the power method to take the machine down.  Any
 * failure undoes all of it: live ads are sent again, with CancelOffline.  A startd that is killed
 * in between comes back in the same boot, and its first update cancels the offline ads in the same
 * way.
 *
 * If nobody ordered the sleep by name, jobs may take the machine back until the power method is
 * told (reclaim.c).  For that it waits HIBERNATE_RECLAIM_TIME with its offline ads at the collector
 * (PowerReclaimUntil).
 *
 * With POWER_METHOD rooster the offline ads themselves are the order (PowerState "GoingDown"): the
 * rooster carries it out and writes the result into them.  Such a machine may be saved and restored
 * without noticing.  So it asks for its own offline ad until that says something else: then it is
 * awake.  By the clock alone it gives the sleep up only when the rooster, which does not begin
 * late, must have finished long ago.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/sleep/hibernate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "classad/ad.h"
#include "offline_ads/offline_ads.h"
#include "power/power.h"
#include "startd/sleep/adapter.h"
#include "startd/advertise.h"
#include "startd/advertise_due.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/draining.h"
#include "startd/draining_facts.h"
#include "startd/machine/figures.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate_look.h"
#include "startd/sleep/leave.h"
#include "startd/sleep/permit.h"
#include "startd/sleep/pool_look.h"
#include "startd/claim/preempt.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_plan.h"
#include "startd/slot/slots.h"
#include "startd/startd_context.h"
#include "startd/startd_state.h"
#include "wire/wire.h"

#define OFFLINE_ACK_MS 15000
#define LEAVE_MS       5000 /* after POWER_DOWN was answered with -EAGAIN no job is taken for so long */
#define ASLEEP_MS      30000 /* for a startd that only leaves offline ads */
#define TAKE_BACK_MS   60000 /* the order was given, and we are still here */
/* The rooster begins within SLEEP_BEGIN_S of rooster/sleeps.c, and says then how long its order may
 * take.  Until it does, for it may be old or gone, it is as long as most take. */
#define ROOSTER_TAKE_BACK_MS 240000
#define ROOSTER_SPARE_MS     60000 /* after the latest end of the order */
#define ROOSTER_LONGEST_S    86400
#define ASK_MS               1000

/* Shows in the ads why the machine is up although all slots agree to sleep; "": nothing prevents
 * it. */
static void show_held(struct startd *startd, const char *why)
{
    if (strcmp(startd->look.held, why) == 0) {
        return;
    }
    if (why[0] != '\0' && startd->look.held[0] == '\0') {
        log_info(startd->env.log, "hibernate.held", why);
    }
    (void)snprintf(startd->look.held, sizeof startd->look.held, "%s", why);
    slots_refresh(startd);
}

/* The machine is up and shows itself again: its first update cancels the offline ads. */
static void stay_up(struct startd *startd, const char *why)
{
    if (startd->asleep) {
        loop_stop(startd->env.loop, 1);
        return;
    }
    if (startd->down.request != NULL) {
        wire_reply_error(startd->down.request, -EIO, "%s: %s", startd->name, why);
        startd->down.request = NULL;
    }
    startd->down.keep_off = startd->down.forced = startd->down.reclaimable = false;
    loop_timer_stop(startd->down.reclaim_timer);
    going_down_move(startd, DOWN_UP);
    startd->look.awake_since_ms = (int64_t)loop_now_ms(startd->env.loop);
    loop_timer_stop(startd->down.ask_timer);
    startd->sent.first_done = false; /* cancels the offline ads */
    for (size_t i = 0; i < startd->slot_count; i++) {
        if (startd->slots[i]->claim == NULL) {
            preempt_slot_free(startd->slots[i]);
        }
    }
    draining_stays(startd, true);
    slots_refresh(startd);
    advertise_soon(startd);
    loop_timer_stop(startd->down.guard_timer);
    loop_timer_set(startd->down.check_timer,
                   (uint64_t)config_duration_s(startd->env.config, "HIBERNATE_CHECK_INTERVAL") *
                       1000);
}

static void take_back(struct startd *startd, const char *why)
{
    log_warn(startd->env.log, "hibernate.aborted", why);
    if (going_down_has_begun(startd) && !startd->asleep) {
        permit_withdraw(startd);
    }
    stay_up(startd, why);
}

static void note_woken(struct startd *startd)
{
    log_info(startd->env.log, "hibernate.woke", "the machine was asleep and is awake again",
             LOG_TEXT("level", startd->down.level));
    startd->adapter.seen_ms = startd->look.seen_ms = 0;
    stay_up(startd, "the machine was asleep and is awake again");
    draining_stays(startd, false);
}

/* Returns whether it is suspended through the kernel: then the write returns when the machine
 * wakes. */
static bool comes_back(const struct startd *startd)
{
    const struct config *config = startd->env.config;
    const char *plugin = config_path(config, "HIBERNATION_PLUGIN");
    return strcmp(config_string(config, "POWER_METHOD"), "host") == 0 &&
           strcmp(startd->down.level, "S5") != 0 && !hibernate_look_by_logind(startd) &&
           (plugin == NULL || plugin[0] == '\0');
}

/* Answers the request: the order is being carried out. */
static void tell_down(struct startd *startd)
{
    log_info(startd->env.log, "hibernate.down", "the machine is going down",
             LOG_TEXT("level", startd->down.level));
    if (startd->down.request != NULL) {
        wire_reply_ok(startd->down.request, NULL);
        startd->down.request = NULL;
    }
}

static void power_ended(void *arg, int status, const char *text)
{
    struct startd *startd = arg;
    if (!going_down_has_begun(startd)) {
        return; /* it has woken already */
    }
    if (status != 0) {
        take_back(startd, text);
        return;
    }
    if (comes_back(startd)) {
        (void)hibernate_look_has_slept(startd); /* it is known */
        note_woken(startd);
        return;
    }
    if (startd->down.stage == DOWN_ORDERED) { /* else it is the word on an earlier order */
        going_down_move(startd, DOWN_GONE);
    }
    tell_down(startd);
}

static void still_here(void *arg)
{
    struct startd *startd = arg;
    if (!startd->asleep && hibernate_look_has_slept(startd)) {
        note_woken(startd); /* the timer has slept, too */
        return;
    }
    take_back(startd, startd->asleep ? "no collector accepted the machine's offline ads in time"
                                     : "the machine did not go down in time");
    draining_stays(startd, false); /* it may have slept */
}

static bool by_rooster(const struct startd *startd)
{
    return !startd->asleep &&
           strcmp(config_string(startd->env.config, "POWER_METHOD"), "rooster") == 0;
}

static void ask_answered(void *arg, struct wire_reply *reply)
{
    struct startd *startd = arg;
    if (!going_down_is_silent(startd) || startd->stopping) {
        return;
    }
    if (reply->status == 0 && reply->ad_count == 0) {
        if (!reply->more &&
            !startd->down.has_answer) { /* in a large pool the answer comes in parts */
            take_back(startd, "the collector no longer has the machine's offline ads");
        }
        return;
    }
    startd->down.has_answer = true;
    const char *state =
        reply->status == 0 ? ad_string_or(reply->ads[0], "PowerState", "Off") : "GoingDown";
    if (strcmp(state, "GoingDown") != 0) {
        char why[300];
        (void)snprintf(why, sizeof why,
                       "the machine's offline ad says %.20s, but the machine is running: %.200s",
                       state, ad_string_or(reply->ads[0], "PowerStateReason", "no reason given"));
        bool slept = strcmp(state, "Off") == 0 || strcmp(state, "Waking") == 0;
        take_back(startd, why);
        if (slept) {
            draining_stays(startd, false);
        }
        return;
    }
    int64_t order_s = reply->status == 0 ? ad_int_or(reply->ads[0], "PowerDownSeconds", 0) : 0;
    if (order_s > 0 && order_s <= ROOSTER_LONGEST_S && startd->down.until_ms == 0) {
        /* It has begun by now, so that it ends before this, whatever the clocks say. */
        uint64_t left_ms = (uint64_t)order_s * 1000 + ROOSTER_SPARE_MS;
        startd->down.until_ms = loop_now_ms(startd->env.loop) + left_ms;
        loop_timer_set(startd->down.guard_timer, left_ms);
    }
    loop_timer_set(startd->down.ask_timer, ASK_MS);
}

void hibernate_ask(void *arg)
{
    static const char *const WANTED[] = {"PowerState", "PowerStateReason", "PowerDownSeconds"};
    struct startd *startd = arg;
    struct wire *wire = uplink_wire(startd->collector);
    if (going_down_is_silent(startd) && !startd->stopping && !startd->asleep) {
        if (hibernate_look_has_slept(startd)) {
            note_woken(startd);
            return;
        }
        if (!by_rooster(startd)) {
            loop_timer_set(startd->down.ask_timer, ASK_MS);
        }
    }
    if (!by_rooster(startd) || !going_down_has_begun(startd) || startd->stopping || wire == NULL ||
        !loop_timer_is_set(startd->down.guard_timer)) {
        return; /* without a wire: asked when there is one */
    }
    struct ad *args = ad_create(), *mine = ad_create();
    struct strbuf constraint;
    strbuf_init(&constraint, 0);
    strbuf_puts(&constraint, "Offline =?= true && Name =?= ");
    ad_copy_attr(mine, "Name", startd->slots[0]->ad, "Name");
    ad_expr_print(ad_lookup(mine, "Name"), AD_OLD, &constraint);
    ad_set_string(args, "Type", "Machine");
    ad_set_string(args, "Constraint", strbuf_text(&constraint));
    ad_set_strings(args, "Projection", WANTED, 3);
    startd->down.has_answer = false;
    const struct wire_body body = {.args = args};
    if (wire_call(wire, VERB_QUERY, &body, OFFLINE_ACK_MS, ask_answered, startd) < 0) {
        loop_timer_set(startd->down.ask_timer, ASK_MS);
    }
    strbuf_fini(&constraint);
    ad_destroy(mine);
    ad_destroy(args);
}

/* Returns how long jobs may still take the machine back before it goes down. */
static uint64_t reclaim_ms(const struct startd *startd)
{
    return startd->down.reclaimable
               ? (uint64_t)config_duration_ms(startd->env.config, "HIBERNATE_RECLAIM_TIME")
               : 0;
}

/* Takes the machine down; from here on only a failure keeps it up. */
static void take_down(struct startd *startd)
{
    const struct config *config = startd->env.config;
    const char *args = config_string(config, "HIBERNATION_PLUGIN_ARGS");
    struct strbuf plugin;
    strbuf_init(&plugin, 0);
    const char *program = config_path(config, "HIBERNATION_PLUGIN");
    if (program != NULL && program[0] != '\0') {
        strbuf_printf(&plugin, "%s %s", program, args != NULL ? args : "");
    }
    const struct power_node node = {.name = startd->name,
                                    .method = config_string(config, "POWER_METHOD"),
                                    .lock_dir = config_path(config, "LOCK"),
                                    .root = config_string(config, "POWER_ROOT"),
                                    .plugin = strbuf_text(&plugin),
                                    .by_logind = hibernate_look_by_logind(startd),
                                    .sleep_command = config_string(config, "POWER_SLEEP_CMD")};
    struct err err;
    going_down_move(startd, DOWN_ORDERED);
    if (power_sleep(startd->power, &node, startd->down.level, power_ended, startd, &err) != 0) {
        strbuf_fini(&plugin);
        take_back(startd, err.text);
        return;
    }
    strbuf_fini(&plugin);
    loop_timer_set(startd->down.guard_timer, TAKE_BACK_MS);
}

static void offline_answered(void *arg, struct wire_reply *reply)
{
    struct startd *startd = arg;
    if (!going_down_has_begun(startd)) {
        return;
    }
    if (reply->status != 0) {
        take_back(startd, reply->text);
        return;
    }
    if (startd->down.stage != DOWN_ANNOUNCED) {
        return; /* the collector's word on ads of an earlier attempt came first, and was enough */
    }
    log_info(startd->env.log, "hibernate.offline",
             "the collector has stored the machine's offline ads",
             LOG_INT("slots", startd->slot_count));
    if (startd->asleep) {
        loop_stop(startd->env.loop, 0);
        return;
    }
    if (by_rooster(startd)) {
        going_down_move(startd, DOWN_GONE);
        tell_down(startd);
        loop_timer_set(startd->down.guard_timer, ROOSTER_TAKE_BACK_MS);
        loop_timer_set(startd->down.ask_timer, ASK_MS);
        return;
    }
    uint64_t wait_ms = reclaim_ms(startd);
    loop_timer_set(startd->down.ask_timer, ASK_MS); /* has it slept? */
    if (wait_ms > 0) {
        going_down_move(startd, DOWN_WAITING);
        loop_timer_set(startd->down.reclaim_timer, wait_ms);
    } else {
        take_down(startd);
    }
}

static void end_of_reclaim_time(void *arg)
{
    struct startd *startd = arg;
    if (startd->down.stage == DOWN_WAITING && !startd->stopping) {
        take_down(startd);
    }
}

static void send_offline(struct startd *startd)
{
    int64_t until_wall_ms = loop_wall_ms(startd->env.loop) + (int64_t)reclaim_ms(startd);
    const struct leave_how how = {.level = startd->down.level,
                                  .reason = startd->down.reason,
                                  .keep_off = startd->down.keep_off,
                                  .is_order = by_rooster(startd),
                                  .reclaim_until_s =
                                      startd->down.reclaimable ? (until_wall_ms + 999) / 1000 : 0};
    going_down_move(startd, DOWN_ANNOUNCED);
    if (leave_ads(startd, &how, offline_answered) != 0) {
        take_back(startd, "cannot reach the collector, so the offline ads were not sent");
    }
}

static void go_down(struct startd *startd, int level, const char *reason)
{
    going_down_move(startd, DOWN_BEGUN);
    startd->down.until_ms = 0;
    draining_merge(startd);
    (void)snprintf(startd->down.level, sizeof startd->down.level, "%s",
                   slot_plan_level_name(level));
    mem_free(startd->down.reason);
    startd->down.reason = mem_strdup(reason);
    log_info(startd->env.log, "hibernate.begin", reason, LOG_TEXT("level", startd->down.level));
    struct err err;
    bool needs_wake = hibernate_look_needs_wake(startd) && !startd->down.forced;
    if (!startd->asleep && adapter_arm(startd, needs_wake, &err) != 0) {
        take_back(startd, err.text);
        return;
    }
    send_offline(startd);
}

int hibernate_may_reclaim(const struct startd *startd, bool withdrawn)
{
    bool past = by_rooster(startd) ? !withdrawn : startd->down.stage >= DOWN_ORDERED;
    return !startd->down.reclaimable ? -EPERM : past ? -EALREADY : 0;
}

void hibernate_reclaim(struct startd *startd)
{
    permit_withdraw(startd);
    stay_up(startd, "jobs wait for the machine, so it stays up");
    draining_stays(startd, false);
}

static bool any_claim(const struct startd *startd)
{
    return claims_keeping_up(startd) > 0;
}

/* Returns the level that all slots agree on by the figures that we have; 0: none;
 * SLOT_PLAN_UNDECIDED: no slot says no, but HIBERNATE of some is undefined. */
static int level_by_figures(struct startd *startd)
{
    int votes[STARTD_SLOTS_MAX];
    struct ad_context context = startd_context(startd);
    for (size_t i = 0; i < startd->slot_count; i++) {
        struct slot *slot = startd->slots[i];
        figures_write(slot, slot->ad);
        hibernate_look_put(startd, slot->ad); /* another slot may have been matched */
        votes[i] = slot_plan_sleep_vote(startd->down.when, slot->ad, &context);
        if (votes[i] == 0) {
            return 0; /* one is enough; an idle machine is asked each second */
        }
    }
    return slot_plan_sleep_level(votes, startd->slot_count);
}

/* The machine is looked at only when all would agree: somebody may have typed. */
static int agreed_level(struct startd *startd)
{
    figures_expect(startd);
    int level = level_by_figures(startd);
    if (level <= 0) {
        return level;
    }
    figures_measure(startd);
    return level_by_figures(startd);
}

/* Sets the next check, earlier if the rooster may be asked again before. */
static void look_again_in(struct startd *startd, uint64_t early_ms)
{
    int64_t interval_s = config_duration_s(startd->env.config, "HIBERNATE_CHECK_INTERVAL");
    uint64_t interval_ms = (uint64_t)interval_s * 1000;
    if (interval_ms > 0) {
        loop_timer_set(startd->down.check_timer,
                       early_ms > 0 && early_ms < interval_ms ? early_ms : interval_ms);
    }
}

/* The rooster's answer, after HIBERNATE was true on every slot. */
static void check_permitted(struct startd *startd, int status, const char *why)
{
    struct err err = {.text = ""};
    if (going_down_has_begun(startd) || startd->stopping) {
        return;
    }
    if (status != 0) {
        const char *ignored;
        show_held(startd, why);
        look_again_in(startd, permit_early_ms(startd, &ignored));
        return;
    }
    int level = any_claim(startd) || draining_stands(startd) || draining_is_on(startd)
                    ? 0
                    : agreed_level(startd);
    if (level > 0 && hibernate_look_judge(startd, level, false, false, &err) == 0) {
        startd->down.reclaimable = true;
        go_down(startd, level, startd->permit.reason);
    } else {
        permit_withdraw(startd);
        show_held(startd, err.text);
    }
}

/* Returns whether HIBERNATE depends on the pool's queue. */
static bool reads_queue(const struct startd *startd)
{
    return startd->slot_count > 0 && pool_figures_are_read(startd->down.when, startd->slots[0]->ad);
}

/* Says which figures keep the machine up, if HIBERNATE depends on them.  The figures are never put
 * to a decision when they are old, so what is shown is what was decided by. */
static void show_undecided(struct startd *startd, int level)
{
    const struct pool_figures *figures = pool_look_figures(startd);
    char text[256] = "", why[512];
    if (!reads_queue(startd) || (level == 0 && figures == NULL)) {
        show_held(startd, "");
        return;
    }
    pool_figures_print(figures, text, sizeof text);
    if (level == 0) {
        (void)snprintf(why, sizeof why, "HIBERNATE is NONE with %s", text);
    } else if (figures == NULL) {
        (void)snprintf(why, sizeof why,
                       "HIBERNATE is undefined without the figures of the queue: %.200s",
                       startd->look.pool.why);
    } else {
        (void)snprintf(why, sizeof why, "HIBERNATE is undefined with %s", text);
    }
    show_held(startd, why);
}

static void check_slots(struct startd *startd, bool has_asked);

static void queue_known(struct startd *startd)
{
    check_slots(startd, true);
}

/* Asks for the figures of the queue, without which HIBERNATE is undefined; level: as agreed_level()
 * returned it. */
static void stay_undecided(struct startd *startd, int level, bool has_asked)
{
    if (level == 0 || has_asked || !reads_queue(startd) || pool_look_figures(startd) != NULL) {
        show_undecided(startd, level);
        return;
    }
    if (!pool_look_ask(startd, queue_known)) {
        show_undecided(startd, level);
    }
}

/* Returns whether HIBERNATE says no, whatever happens. */
static bool is_never_to_sleep(struct startd *startd)
{
    struct ad_context context = startd_context(startd);
    return startd->slot_count > 0 && ad_expr_is_literal(startd->down.when) &&
           slot_plan_sleep_vote(startd->down.when, startd->slots[0]->ad, &context) == 0;
}

void hibernate_check(struct startd *startd)
{
    if (!startd->look.pool.is_asking) {
        check_slots(startd, false);
    }
}

/* has_asked: the negotiator was just asked for the figures of the queue. */
static void check_slots(struct startd *startd, bool has_asked)
{
    const struct config *config = startd->env.config;
    int64_t interval_s = config_duration_s(config, "HIBERNATE_CHECK_INTERVAL");
    if (interval_s == 0 || going_down_has_begun(startd) || startd->stopping ||
        startd->down.stage == DOWN_LEAVING_ASKING) {
        return;
    }
    loop_timer_set(startd->down.check_timer, (uint64_t)interval_s * 1000);
    if (going_down_is_asking(startd)) {
        return; /* not every answer sets the timer again */
    }
    if (is_never_to_sleep(startd)) { /* no wakeup for it before the configuration changes */
        loop_timer_stop(startd->down.check_timer);
        show_held(startd, "");
        return;
    }
    if (draining_stands(startd) || draining_is_on(startd)) {
        return; /* somebody else says what becomes of it */
    }
    if (any_claim(startd) || uplink_wire(startd->collector) == NULL ||
        strcmp(config_string(config, "POWER_METHOD"), "none") == 0) {
        show_held(startd, "");
        return;
    }
    int level = agreed_level(startd);
    struct err err = {.text = ""};
    const char *why;
    if (level <= 0) {
        stay_undecided(startd, level, has_asked);
        return;
    }
    if (hibernate_look_judge(startd, level, false, false, &err) != 0) {
        show_held(startd, err.text);
        return;
    }
    uint64_t early_ms = permit_early_ms(startd, &why);
    if (early_ms > 0) {
        show_held(startd, why);
        look_again_in(startd, early_ms);
        return;
    }
    char reason[320] = "HIBERNATE is true on every slot", figures[256];
    if (reads_queue(startd) && pool_look_figures(startd) != NULL) {
        pool_figures_print(pool_look_figures(startd), figures, sizeof figures);
        (void)snprintf(reason, sizeof reason,
                       "HIBERNATE is true on every slot; when it went to sleep: %s", figures);
    }
    const struct permit_what what = {.level = level, .reason = reason};
    permit_ask(startd, &what, check_permitted);
}

static void drain_permitted(struct startd *startd, int status, const char *why)
{
    if (going_down_has_begun(startd) || startd->stopping) {
        return;
    }
    if (status == 0 && (any_claim(startd) || !draining_is_on(startd))) {
        permit_withdraw(startd); /* the request was cancelled meanwhile */
        return;
    }
    if (status != 0) {
        show_held(startd, why);
        take_back(startd, why); /* draining tries again */
        return;
    }
    startd->down.keep_off = startd->permit.keep_off;
    startd->down.reclaimable = startd->draining.request.reclaimable;
    go_down(startd, startd->permit.what.level, startd->permit.reason);
}

void hibernate_drained(struct startd *startd, bool keep_off, const char *reason)
{
    struct err why;
    if (going_down_is_asking(startd)) {
        return;
    }
    loop_timer_stop(startd->down.check_timer);
    int level = keep_off ? 5 : hibernate_look_best_level(startd);
    if (hibernate_look_judge(startd, level, true, false, &why) != 0) {
        show_held(startd, why.text);
        take_back(startd, why.text); /* draining tries again */
        return;
    }
    const struct permit_what what = {.level = level,
                                     .reason = reason,
                                     .ordered = !startd->draining.request.reclaimable};
    startd->permit.keep_off = keep_off;
    permit_ask(startd, &what, drain_permitted);
}

void hibernate_check_slept(struct startd *startd)
{
    if (going_down_has_begun(startd) || startd->stopping || startd->asleep ||
        !hibernate_look_has_slept(startd)) {
        return;
    }
    log_info(startd->env.log, "hibernate.woke", "the machine was suspended by somebody else");
    startd->look.awake_since_ms = (int64_t)loop_now_ms(startd->env.loop);
    startd->adapter.seen_ms = startd->look.seen_ms = 0;
    for (size_t i = 0; i < startd->claims.count; i++) {
        struct claim *claim = startd->claims.items[i];
        if (claim->stage == CLAIM_HELD || claim_plan_has_run(claim->stage)) {
            claim_say_alive(claim); /* is it still ours? */
        }
    }
    slots_refresh(startd);
}

void hibernate_leave(struct startd *startd)
{
    if (going_down_has_begun(startd)) {
        return;
    }
    if (any_claim(startd)) {
        take_back(startd,
                  "the machine has claims: this startd (-asleep) sends no offline ads, and ends");
        return;
    }
    go_down(startd, 5, "the machine was not started yet");
}

/* Nothing prevents it: answers in words what would be done. */
static void say_only(const struct startd *startd, struct wire_request *request, bool keep_off)
{
    struct ad *args = ad_create();
    struct strbuf text;
    strbuf_init(&text, 0);
    strbuf_printf(&text,
                  keep_off ? "would be switched off by POWER_METHOD %s, until somebody switches "
                             "the machine on by name"
                           : "would be put to sleep by POWER_METHOD %s, until a job wants it",
                  config_string(startd->env.config, "POWER_METHOD"));
    if (any_claim(startd)) {
        strbuf_printf(&text, "; its %zu claims would be ended, with their jobs",
                      claims_keeping_up(startd));
    }
    ad_set_string(args, "Text", strbuf_text(&text));
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    strbuf_fini(&text);
    ad_destroy(args);
}

/* The rooster's answer to a POWER_DOWN. */
static void order_permitted(struct startd *startd, int status, const char *why)
{
    struct permit *permit = &startd->permit;
    struct wire_request *request = permit->request;
    permit->request = NULL;
    if (going_down_has_begun(startd) || startd->stopping || draining_stands(startd)) {
        wire_reply_error(request, -EAGAIN,
                         "%s: the machine's state has changed meanwhile; try again", startd->name);
        return;
    }
    if (status != 0) {
        wire_reply_error(request, status, "%s stays up: %s%s", startd->name, why,
                         permit->what.forced ? "" : "; --force skips this check");
        return;
    }
    if (permit->what.dry_run) {
        say_only(startd, request, permit->keep_off);
        return;
    }
    if (any_claim(startd) && !permit->what.forced) {
        permit_withdraw(startd);
        wire_reply_error(request, -EBUSY, "%s is claimed; use --force to end its jobs",
                         startd->name);
        return;
    }
    for (size_t i = startd->claims.count; i > 0; i--) {
        claim_end(startd->claims.items[i - 1], "the machine is switched off", true);
    }
    if (any_claim(startd)) {
        /* no next job: else the machine would never be empty */
        going_down_move(startd, DOWN_LEAVING);
        loop_timer_set(startd->down.leave_timer, LEAVE_MS);
        wire_reply_error(request, -EAGAIN, "%s: its jobs are being ended; try again", startd->name);
        return;
    }
    startd->down.request = request;
    startd->down.keep_off = permit->keep_off;
    startd->down.forced = permit->what.forced;
    loop_timer_stop(startd->down.check_timer);
    go_down(startd, 5, permit->reason);
}

void hibernate_power_down(struct startd *startd, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    bool force = ad_bool_or(args, "Force", false);
    if (going_down_has_begun(startd)) {
        wire_reply_error(request, -EALREADY, "%s is already going to sleep", startd->name);
        return;
    }
    if (going_down_is_asking(startd)) {
        wire_reply_error(request, -EAGAIN,
                         "%s is asking the rooster for permission to sleep; try again",
                         startd->name);
        return;
    }
    if (strcmp(config_string(startd->env.config, "POWER_METHOD"), "none") == 0) {
        wire_reply_error(request, -ENOTSUP,
                         "%s: POWER_METHOD is none, so the machine could not be woken",
                         startd->name);
        return;
    }
    if (any_claim(startd) && !force) {
        wire_reply_error(request, -EBUSY, "%s is claimed; use --force to end its jobs",
                         startd->name);
        return;
    }
    struct err why;
    int rc = hibernate_look_judge(startd, 5, true, force, &why);
    if (rc != 0) {
        wire_reply_error(request, rc, "%s stays up: %s%s", startd->name, why.text,
                         rc == -EBUSY ? "; --force skips this check" : "");
        return;
    }
    char reason[300];
    (void)snprintf(reason, sizeof reason, "switched off by %s%s%s",
                   wire_request_peer(request)->identity, ad_has(args, "Reason") ? ": " : "",
                   ad_string_or(args, "Reason", ""));
    const struct permit_what what = {.level = 5,
                                     .reason = reason,
                                     .ordered = true,
                                     .forced = force,
                                     .dry_run = ad_bool_or(args, "DryRun", false)};
    startd->permit.request = request;
    startd->permit.keep_off = ad_bool_or(args, "KeepOff", false);
    permit_ask(startd, &what, order_permitted);
}

/* The caller that ordered the machine down has not asked again. */
static void end_of_leaving(void *arg)
{
    struct startd *startd = arg;
    if (going_down_is_leaving(startd)) {
        going_down_move(startd, going_down_is_asking(startd) ? DOWN_ASKING : DOWN_UP);
    }
    for (size_t i = 0; i < startd->slot_count && !going_down_has_begun(startd) && !startd->stopping;
         i++) {
        if (startd->slots[i]->claim == NULL) {
            preempt_slot_free(startd->slots[i]);
        }
    }
}

/* ---- life */

static void check_again(void *arg)
{
    hibernate_check(arg);
}

void hibernate_open(struct startd *startd)
{
    struct going_down *down = &startd->down;
    struct loop *loop = startd->env.loop;
    down->check_timer = loop_timer_create(loop, check_again, startd);
    down->guard_timer = loop_timer_create(loop, still_here, startd);
    down->leave_timer = loop_timer_create(loop, end_of_leaving, startd);
    down->ask_timer = loop_timer_create(loop, hibernate_ask, startd);
    down->reclaim_timer = loop_timer_create(loop, end_of_reclaim_time, startd);
    if (startd->asleep) { /* else `roost start` would wait for ever */
        loop_timer_set(down->guard_timer, ASLEEP_MS);
    }
}

void hibernate_begin(struct startd *startd)
{
    int64_t interval_s = config_duration_s(startd->env.config, "HIBERNATE_CHECK_INTERVAL");
    if (interval_s > 0 && !startd->asleep) {
        loop_timer_set(startd->down.check_timer, (uint64_t)interval_s * 1000);
    }
}

void hibernate_stop(struct startd *startd)
{
    loop_timer_stop(startd->down.check_timer);
    loop_timer_stop(startd->down.guard_timer);
}

void hibernate_close(struct startd *startd)
{
    struct going_down *down = &startd->down;
    loop_timer_destroy(down->check_timer);
    loop_timer_destroy(down->guard_timer);
    loop_timer_destroy(down->leave_timer);
    loop_timer_destroy(down->ask_timer);
    loop_timer_destroy(down->reclaim_timer);
    mem_free(down->reason);
}
