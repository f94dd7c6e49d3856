/* startd/draining.c - draining of this machine: the steps, what comes at the end, what is durable
 * (docs/protocol/drain.md, sections 2 and 3).
 *
 * drain/drain_plan.c decides by a snapshot of the slots.  Here the snapshot is made and the steps
 * are taken: again after each move of a slot, and when the plan wants to look again. preempt.c lets
 * jobs retire and evicts them, as for a better claim. draining_call.c takes the administrator's
 * requests.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/draining.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/daemon/daemon_down.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/draining_facts.h"
#include "startd/sleep/going_down.h"
#include "startd/claim/preempt.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_plan.h"
#include "startd/slot/slots.h"
#include "startd/startd_context.h"
#include "startd/startd_state.h"
#include "store/store.h"
#include "wire/wire.h"

#define CLAIMS_MS 200   /* are the claims gone, is the collector there? */
#define RETRY_MS  60000 /* the machine could not be taken down, the note could not be written */

/* ---- what the slots are */

static enum drain_place place_of(const struct slot *slot)
{
    switch (slot->state) {
    case SLOT_OWNER:
        return DRAIN_AT_OWNER;
    case SLOT_UNCLAIMED:
        return DRAIN_AT_UNCLAIMED;
    case SLOT_MATCHED:
        return DRAIN_AT_MATCHED;
    case SLOT_PREEMPTING:
        return slot->activity == SLOT_KILLING ? DRAIN_AT_KILLING : DRAIN_AT_VACATING;
    case SLOT_DRAINED:
        return slot->activity == SLOT_IDLE ? DRAIN_AT_DRAINED_IDLE : DRAIN_AT_DRAINED_RETIRING;
    case SLOT_CLAIMED:
        break;
    }
    return slot->activity == SLOT_IDLE        ? DRAIN_AT_CLAIMED_IDLE
           : slot->activity == SLOT_SUSPENDED ? DRAIN_AT_SUSPENDED
                                              : DRAIN_AT_RUNNING;
}

/* Describes all slots for the plan. request NULL: the whole machine is to be drained. */
static struct drain_slot *take_snapshot(const struct startd *startd,
                                        const struct drain_request *request)
{
    struct drain_slot *slots = mem_zalloc((startd->slot_count + 1) * sizeof *slots);
    for (size_t i = 0; i < startd->slot_count; i++) {
        const struct slot *slot = startd->slots[i];
        const struct claim *claim = slot->claim;
        slots[i].place = place_of(slot);
        slots[i].requested = request == NULL || drain_request_names(request, slot->name);
        if (claim != NULL) {
            slots[i].accepted = claim->retirement.accepted;
            slots[i].run_s = claim_run_s(claim);
            slots[i].retirement_s = preempt_retirement_s(slot);
            slots[i].vacate_s = preempt_vacate_s(slot);
            slots[i].saved_s = claim->run.ckpt_run_s;
            slots[i].keeps_output = preempt_keeps_output(slot);
        }
    }
    return slots;
}

void draining_estimate(const struct startd *startd, const struct drain_request *request,
                       struct drain_estimates *ret)
{
    struct drain_slot *slots = take_snapshot(startd, request);
    drain_plan_estimate(slots, startd->slot_count,
                        config_bool(startd->env.config, "DRAINING_EVICTS_SUSPENDED"),
                        request != NULL ? request->deadline_s : 0, loop_wall_s(startd->env.loop),
                        ret);
    mem_free(slots);
}

/* ---- attributes */

void draining_publish(struct startd *startd, bool all)
{
    struct drain_estimates cost;
    int64_t now_s = (int64_t)(loop_now_ms(startd->env.loop) / 1000);
    draining_estimate(startd, NULL, &cost);
    for (size_t i = 0; i < startd->slot_count; i++) {
        struct slot *slot = startd->slots[i];
        if (all || slot->changed || !startd->sent.first_done) {
            drain_plan_put_estimates(&cost, slot->ad);
            drain_plan_put_totals(&startd->draining.totals, now_s, slot->ad);
        }
    }
}

/* ---- what is durable */

/* Returns whether the startd was drained to exit, has exited, and was started none the less: then
 * it must work. */
static bool has_exited(const struct startd *startd)
{
    char why[DAEMON_DOWN_WHY_MAX];
    bool same_boot;
    return startd->draining.request.then == DRAIN_THEN_EXIT &&
           daemon_down_read(startd->env.os, startd->env.config, startd->env.name, &same_boot, why);
}

/* The request for which the note was written is durably forgotten: removes the note. */
static void forget_note(void *arg)
{
    const struct startd *startd = arg;
    struct err err;
    if (daemon_down_remove(startd->env.os, startd->env.config, startd->env.name, &err) != 0) {
        log_error(startd->env.log, "drain.note", err.text);
    }
}

static int restore_one(void *arg, const char *key, const void *value, size_t length)
{
    struct startd *startd = arg;
    struct draining *draining = &startd->draining;
    struct ad *ad;
    struct err err;
    if (ad_decode(value, length, NULL, &ad, &err) != 0) {
        log_error(startd->env.log, "store.draining", err.text, LOG_TEXT("key", key));
        return 0;
    }
    draining->totals = (struct drain_totals){.unclaimed_s = ad_int_or(ad, "UnclaimedTime", 0),
                                             .badput_s = ad_int_or(ad, "BadputTime", 0),
                                             .counting = ad_int_or(ad, "Counting", 0)};
    enum drain_phase phase =
        (enum drain_phase)ad_int_or(ad, "Phase", DRAIN_NONE); /* written by us */
    bool same_boot = strcmp(ad_string_or(ad, "BootId", ""), startd->machine.boot_id) == 0;
    /* Of the time between two boots nothing counts. */
    int64_t now_s = (int64_t)(loop_now_ms(startd->env.loop) / 1000);
    draining->totals.counted_s = same_boot ? ad_int_or(ad, "CountedToUptime", now_s) : now_s;
    if (drain_request_read(ad, &draining->request, &err) == DRAIN_OK && !has_exited(startd) &&
        drain_plan_still_holds(phase, draining->request.then, same_boot)) {
        (void)snprintf(draining->id, sizeof draining->id, "%s", ad_string_or(ad, "Id", ""));
        (void)snprintf(draining->requester, sizeof draining->requester, "%s",
                       ad_string_or(ad, "Requester", ""));
        draining->began_s = ad_int_or(ad, "Began", 0);
        draining->phase = DRAIN_ACTIVE;
        draining->last = draining->request.start == NULL;
    } else {
        drain_request_fini(&draining->request);
    }
    ad_destroy(ad);
    return 0;
}

/* ---- totals */

void draining_count(struct startd *startd)
{
    struct draining *draining = &startd->draining;
    int64_t counting = 0;
    for (size_t i = 0; i < startd->slot_count; i++) {
        const struct slot *slot = startd->slots[i];
        const struct drain_slot one = {.place = place_of(slot), .requested = draining_slot(slot)};
        counting += drain_plan_counting(&one, 1, draining->phase);
    }
    if (going_down_has_begun(startd) || draining->no_more) {
        counting = 0; /* time that it sleeps, or is not there, is none of draining */
    }
    if (counting != draining->totals.counting) {
        drain_totals_count(&draining->totals, counting,
                           (int64_t)(loop_now_ms(startd->env.loop) / 1000));
        draining_save(startd, NULL);
    }
}

/* ---- phases */

void draining_move(struct startd *startd, enum drain_phase phase, const char *why)
{
    struct draining *draining = &startd->draining;
    CHECK(drain_plan_may_move(draining->phase, phase));
    log_info(startd->env.log, "drain.phase", why, LOG_TEXT("id", draining->id),
             LOG_TEXT("from", drain_phase_name(draining->phase)),
             LOG_TEXT("to", drain_phase_name(phase)), LOG_TEXT("by", draining->requester));
    draining->phase = phase;
}

void draining_forget(struct startd *startd)
{
    struct draining *draining = &startd->draining;
    loop_timer_stop(draining->offer_timer);
    loop_timer_stop(draining->look_timer);
    drain_request_fini(&draining->request);
    draining->retry_ms = 0;
    draining->id[0] = draining->requester[0] = '\0';
}

void draining_merge(struct startd *startd)
{
    for (size_t i = startd->slot_count; i > 0; i--) {
        struct slot *slot = startd->slots[i - 1];
        if (slot->state == SLOT_DRAINED && slot->kind == SLOT_DYNAMIC) {
            slots_remove(slot);
        }
    }
}

/* Ends draining; START is used again. */
void draining_finish(struct startd *startd, const char *why)
{
    draining_move(startd, DRAIN_NONE, why);
    draining_forget(startd);
    draining_merge(startd);
    for (size_t i = startd->slot_count; i > 0; i--) {
        struct slot *slot = startd->slots[i - 1];
        struct claim *claim = slot->claim;
        slot_refresh(slot);
        if (slot->state == SLOT_DRAINED) {
            struct ad_context context = startd_context(startd);
            slot_move(slot, slot_plan_rest(slot->ad, &context), SLOT_IDLE);
        } else if (claim != NULL) {
            claim->retirement.accepted = false;
            preempt_is_over(slot);
        }
    }
    draining_count(startd);
}

void draining_reason(const struct startd *startd, char ret[DRAINING_REASON_MAX])
{
    (void)snprintf(ret, DRAINING_REASON_MAX, "drained by request %s", startd->draining.id);
}

static void end_for_restart(void *arg)
{
    loop_timer_set(((struct startd *)arg)->end_timer, 0);
}

static void try_later(struct startd *startd, uint64_t after_ms)
{
    startd->draining.retry_ms = loop_now_ms(startd->env.loop) + after_ms;
    loop_timer_set(startd->draining.look_timer, after_ms);
}

/* Writes the note that the daemon stays down, and ends.  The note tells that the request is done
 * (see has_exited()): nothing else must be written. */
static void exit_for_good(struct startd *startd, const char *reason)
{
    struct err err;
    if (daemon_down_write(startd->env.os, startd->env.config, startd->env.name, reason, &err) !=
        0) {
        log_error(startd->env.log, "drain.note", err.text);
        try_later(startd, RETRY_MS);
        return;
    }
    startd->draining.no_more = true;
    draining_count(startd);
    loop_timer_set(startd->end_timer, 0);
}

/* Does what the request wants at the end.  Sleep, off and exit are tried until they succeed; the
 * request stays until then.  True: the machine must go down now. */
static bool go_on(struct startd *startd)
{
    char reason[DRAINING_REASON_MAX];
    switch (startd->draining.request.then) {
    case DRAIN_THEN_STAY:
        break;
    case DRAIN_THEN_RESUME:
        draining_finish(startd, "the machine resumes work");
        draining_save(startd, NULL);
        break;
    case DRAIN_THEN_RESTART:
        draining_save(startd, end_for_restart); /* drain_plan_still_holds(): this was it */
        break;
    case DRAIN_THEN_EXIT:
        draining_reason(startd, reason);
        exit_for_good(startd, reason);
        break;
    case DRAIN_THEN_SLEEP:
    case DRAIN_THEN_OFF:
        if (uplink_wire(startd->collector) == NULL) {
            try_later(startd, CLAIMS_MS); /* who would keep the offline ads? */
            break;
        }
        return true;
    }
    return false;
}

/* Calls go_on() when its time has come. */
static bool try_again(struct startd *startd)
{
    struct draining *draining = &startd->draining;
    uint64_t now_ms = loop_now_ms(startd->env.loop);
    if (now_ms < draining->retry_ms) {
        loop_timer_set(draining->look_timer, draining->retry_ms - now_ms);
        return false;
    }
    draining->retry_ms = 0;
    return go_on(startd);
}

static bool complete_draining(struct startd *startd)
{
    draining_move(startd, DRAIN_COMPLETE, "all requested slots are drained");
    draining_save(startd, NULL);
    return try_again(startd);
}

void draining_stays(struct startd *startd, bool retry)
{
    struct draining *draining = &startd->draining;
    if (draining->phase != DRAIN_COMPLETE || !draining_orders_sleep(draining)) {
        return;
    }
    if (retry) {
        slots_refresh(startd);
        draining_count(startd);
        try_later(startd, RETRY_MS);
    } else {
        draining_finish(startd, "the machine was ordered to sleep but is running: it has slept, or "
                                "could not go to sleep");
        draining_save(startd, NULL);
    }
}

/* ---- steps */

static void take_step(struct slot *slot, enum drain_step step)
{
    struct claim *claim = slot->claim;
    switch (step) {
    case DRAIN_STEP_NONE:
        break;
    case DRAIN_STEP_DRAINED_RETIRING:
        slot_move(slot, SLOT_DRAINED, SLOT_RETIRING);
        break;
    case DRAIN_STEP_DRAINED_IDLE:
        slot_move(slot, SLOT_DRAINED, SLOT_IDLE);
        break;
    case DRAIN_STEP_RELEASE:
        if (claim != NULL && claim->ending.reason[0] == '\0') {
            claim_end(claim, "the machine is draining", false);
        }
        break;
    case DRAIN_STEP_RETIRE:
        if (draining_is_due(slot)) {
            preempt_retire(slot);
        }
        break;
    case DRAIN_STEP_VACATE:
        preempt_vacate(slot, false);
        break;
    case DRAIN_STEP_KILL:
        preempt_vacate(slot, true);
        break;
    }
}

/* Looks at all slots once and takes the steps.  True: a slot became Drained, and another one may
 * wait for that; look again. */
static bool look_once(struct startd *startd, int64_t now_s, struct drain_look *found)
{
    struct draining *draining = &startd->draining;
    size_t slot_count = startd->slot_count;
    bool any_drained = false;
    const struct drain_orders orders = {.schedule = draining->request.schedule,
                                        .has_start = draining->request.start != NULL,
                                        .evict_suspended = config_bool(startd->env.config,
                                                                       "DRAINING_EVICTS_SUSPENDED"),
                                        .deadline_s = draining->request.deadline_s};
    struct drain_slot *slots = take_snapshot(startd, &draining->request);
    enum drain_step *steps = mem_zalloc((slot_count + 1) * sizeof *steps);
    drain_plan_look(&orders, slots, slot_count, now_s, steps, found);
    if (draining->last != found->last) {
        draining->last = found->last;
        slots_refresh(startd);
    }
    for (size_t i = slot_count; i > 0; i--) { /* a step takes out none but its own slot */
        enum drain_step step = steps[i - 1];
        any_drained |= step == DRAIN_STEP_DRAINED_RETIRING || step == DRAIN_STEP_DRAINED_IDLE;
        take_step(startd->slots[i - 1], step);
    }
    mem_free(steps);
    mem_free(slots);
    return any_drained;
}

bool draining_look(struct startd *startd)
{
    struct draining *draining = &startd->draining;
    struct drain_look found;
    int64_t now_s = loop_wall_s(startd->env.loop);
    if (!draining_is_on(startd) || startd->stopping || going_down_has_begun(startd)) {
        return false;
    }
    while (look_once(startd, now_s, &found)) {
        /* each slot becomes Drained once, and Idle once */
    }
    draining_count(startd);
    if (found.complete && draining_orders_sleep(draining) && claims_keeping_up(startd) > 0) {
        loop_timer_set(draining->look_timer, CLAIMS_MS); /* schedds are still to be told */
    } else if (found.complete && draining->phase == DRAIN_ACTIVE && !draining->committing) {
        return complete_draining(startd);
    } else if (found.complete && draining->retry_ms > 0) {
        return try_again(startd);
    } else if (found.next_s != INT64_MAX) {
        int64_t wait_s = found.next_s - now_s;
        loop_timer_set(draining->look_timer, (uint64_t)(wait_s < 86400 ? wait_s : 86400) * 1000);
    }
    return false;
}

/* ---- life */

int draining_open(struct startd *startd, struct err *err)
{
    return store_load(startd->store, "draining", restore_one, startd, err);
}

void draining_begin(struct startd *startd)
{
    bool same_boot;
    char why[DAEMON_DOWN_WHY_MAX];
    if (daemon_down_read(startd->env.os, startd->env.config, startd->env.name, &same_boot, why)) {
        draining_save(startd, forget_note);
    }
    draining_moved(startd);
}

void draining_close(struct startd *startd)
{
    struct draining *draining = &startd->draining;
    loop_timer_destroy(draining->offer_timer);
    loop_timer_destroy(draining->look_timer);
    vec_fini(&draining->held, mem_free);
    drain_request_fini(&draining->request);
}
