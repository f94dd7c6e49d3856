/* startd/draining.c - this machine is drained: the transaction, the steps, what is durable
 * (docs/protocol/drain.md).
 *
 * drain/drain_plan.c decides from a snapshot of the slots; here the snapshot is made and the steps
 * are taken, again after each move of a slot, and when the plan wants to look again.  Jobs retire
 * and are evicted by preempt.c, as for a better claim or the machine's end.
 *
 * While an offer stands nothing may change: calls that would change a slot are kept until it is
 * over, and then served in their order.  A kept call of a claim is found again by its claim id: the
 * claim may be gone by then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "startd/startd.h"
#include "store/store.h"
#include "wire/wire.h"

#define CLAIMS_MS 200  /* are the claims gone? */
#define HELD_MAX  4096 /* calls kept while an offer stands; more are refused */

struct held {
    struct wire_request *request;
    bool of_claim;
};

/* ---- what the slots are */

bool draining_is_on(const struct startd *startd)
{
    return startd->draining.phase == DRAIN_ACTIVE || startd->draining.phase == DRAIN_COMPLETE;
}

bool draining_slot(const struct slot *slot)
{
    return draining_is_on(slot->startd) &&
           drain_request_names(&slot->startd->draining.request, slot->name);
}

static bool counts_start(const struct startd *startd)
{
    return startd->draining.request.start != NULL && !startd->draining.last;
}

bool draining_is_due(const struct slot *slot)
{
    bool may_go_on = slot->claim == NULL || slot->claim->accepted;
    return draining_slot(slot) && !(may_go_on && counts_start(slot->startd));
}

bool draining_stands(const struct startd *startd)
{
    return startd->draining.phase == DRAIN_OFFERED;
}

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

static int64_t run_s(const struct claim *claim)
{
    int64_t now_s = loop_wall_s(claim->startd->env.loop);
    int64_t run = now_s - claim->job_start_s - claim_suspended_s(claim);
    return claim->stage == CLAIM_ACTIVE && claim->job_start_s > 0 && run > 0 ? run : 0;
}

/* request NULL: all of the machine. */
static struct drain_slot *snapshot(const struct startd *startd, const struct drain_request *request)
{
    struct drain_slot *slots = mem_zalloc((startd->slot_count + 1) * sizeof *slots);
    for (size_t i = 0; i < startd->slot_count; i++) {
        const struct slot *slot = startd->slots[i];
        const struct claim *claim = slot->claim;
        slots[i].place = place_of(slot);
        slots[i].requested = request == NULL || drain_request_names(request, slot->name);
        if (claim != NULL) {
            slots[i].accepted = claim->accepted;
            slots[i].run_s = run_s(claim);
            slots[i].retirement_s = preempt_retirement_s(slot);
            slots[i].vacate_s = preempt_vacate_s(slot);
        }
    }
    return slots;
}

static void estimate(const struct startd *startd, const struct drain_request *request,
                     struct drain_estimates *ret)
{
    struct drain_slot *slots = snapshot(startd, request);
    drain_plan_estimate(slots, startd->slot_count,
                        config_bool(startd->env.config, "DRAINING_EVICTS_SUSPENDED"),
                        request != NULL ? request->deadline_s : 0, loop_wall_s(startd->env.loop),
                        ret);
    mem_free(slots);
}

/* ---- attributes */

void draining_put(const struct slot *slot, struct ad *ad)
{
    const struct draining *draining = &slot->startd->draining;
    if (!draining_slot(slot)) {
        return;
    }
    const char *start = counts_start(slot->startd) ? draining->request.start : "false";
    (void)ad_set_expr_old(ad, "Start", start, NULL); /* it parsed when the request came */
    ad_set_bool(ad, "Draining", true);
    ad_set_string(ad, "DrainingRequestId", draining->id);
    ad_set_string(ad, "DrainingRequester", draining->requester);
    ad_set_string(ad, "DrainingSchedule", drain_schedule_name(draining->request.schedule));
    ad_set_int(ad, "LastDrainStartTime", draining->began_s);
    ad_set_string(ad, "PowerState", "Draining");
    if (draining->request.reason != NULL) {
        ad_set_string(ad, "DrainReason", draining->request.reason);
    }
}

void draining_publish(struct startd *startd)
{
    struct drain_estimates cost;
    int64_t now_s = loop_wall_s(startd->env.loop);
    estimate(startd, NULL, &cost);
    for (size_t i = 0; i < startd->slot_count; i++) {
        struct slot *slot = startd->slots[i];
        if (slot->changed || !startd->first_update_done) {
            drain_plan_put_estimates(&cost, slot->ad);
            drain_plan_put_totals(&startd->draining.totals, now_s, slot->ad);
        }
    }
}

/* ---- what is durable */

static void save(struct startd *startd, void (*done)(void *arg))
{
    const struct draining *draining = &startd->draining;
    struct ad *ad = ad_create();
    struct strbuf bytes;
    if (draining_is_on(startd)) {
        drain_request_write(&draining->request, ad);
        ad_set_int(ad, "Phase", draining->phase);
        ad_set_string(ad, "Id", draining->id);
        ad_set_string(ad, "Requester", draining->requester);
        ad_set_int(ad, "Began", draining->began_s);
        ad_set_string(ad, "BootId", startd->machine.boot_id);
    }
    ad_set_int(ad, "UnclaimedTime", draining->totals.unclaimed_s);
    ad_set_int(ad, "BadputTime", draining->totals.badput_s);
    ad_set_int(ad, "CountedTo", draining->totals.counted_s);
    ad_set_int(ad, "Counting", draining->totals.counting);
    strbuf_init(&bytes, STORE_VALUE_MAX);
    ad_encode(ad, true, &bytes);
    struct store_txn *txn = store_begin(startd->store);
    store_put(txn, "draining", "now", bytes.data, bytes.length);
    store_commit(txn, done, startd);
    strbuf_fini(&bytes);
    ad_destroy(ad);
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
                                             .counted_s = ad_int_or(ad, "CountedTo", 0),
                                             .counting = ad_int_or(ad, "Counting", 0)};
    enum drain_phase phase =
        (enum drain_phase)ad_int_or(ad, "Phase", DRAIN_NONE); /* written by us */
    bool same_boot = strcmp(ad_string_or(ad, "BootId", ""), startd->machine.boot_id) == 0;
    if (drain_request_read(ad, &draining->request, &err) == DRAIN_OK &&
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

static void count(struct startd *startd)
{
    struct draining *draining = &startd->draining;
    int64_t counting = 0;
    for (size_t i = 0; i < startd->slot_count; i++) {
        const struct slot *slot = startd->slots[i];
        const struct drain_slot one = {.place = place_of(slot), .requested = draining_slot(slot)};
        counting += drain_plan_counting(&one, 1, draining->phase);
    }
    if (counting != draining->totals.counting) {
        drain_totals_count(&draining->totals, counting, loop_wall_s(startd->env.loop));
        save(startd, NULL);
    }
}

void draining_moved(struct startd *startd)
{
    if (draining_is_on(startd)) {
        loop_timer_set(startd->draining.look_timer, 0);
    }
    if (draining_is_on(startd) || startd->draining.totals.counting > 0) {
        count(startd);
    }
}

void draining_run_over(struct claim *claim, bool by_itself)
{
    if (claim->drained && !by_itself) {
        drain_totals_evicted(&claim->startd->draining.totals, run_s(claim));
        save(claim->startd, NULL);
    }
    claim->drained = false;
}

/* ---- phases */

static void move_phase(struct startd *startd, enum drain_phase phase, const char *why)
{
    struct draining *draining = &startd->draining;
    CHECK(drain_plan_may_move(draining->phase, phase));
    log_info(startd->env.log, "drain.phase", why, LOG_TEXT("id", draining->id),
             LOG_TEXT("from", drain_phase_name(draining->phase)),
             LOG_TEXT("to", drain_phase_name(phase)), LOG_TEXT("by", draining->requester));
    draining->phase = phase;
}

static void serve_held(struct startd *startd)
{
    struct vec held = startd->draining.held;
    startd->draining.held = (struct vec){0};
    for (size_t i = 0; i < held.count; i++) {
        struct held *one = held.items[i];
        if (!one->of_claim) {
            advertise_request(startd, one->request);
        } else {
            const struct ad *args = wire_request_args(one->request);
            struct claim *claim = claim_find(startd, ad_string_or(args, "ClaimId", ""));
            const struct wire *wire = wire_request_wire(one->request);
            if (claim != NULL && wire != NULL && claim->wire == wire) {
                activation_request(claim, one->request);
            } else {
                wire_reply_error(one->request, -ESHUTDOWN, "the claim is over");
            }
        }
        mem_free(one);
    }
    vec_fini(&held, NULL);
}

bool draining_keeps(struct startd *startd, struct wire_request *request, bool of_claim)
{
    if (!draining_stands(startd)) {
        return false;
    }
    if (startd->draining.held.count >= HELD_MAX) {
        wire_reply_error(request, -EBUSY, "%s: waits for who wants to drain it", startd->name);
        return true;
    }
    struct held *one = mem_alloc(sizeof *one);
    *one = (struct held){.request = request, .of_claim = of_claim};
    vec_push(&startd->draining.held, one);
    return true;
}

static void forget(struct startd *startd)
{
    struct draining *draining = &startd->draining;
    loop_timer_stop(draining->offer_timer);
    loop_timer_stop(draining->look_timer);
    drain_request_fini(&draining->request);
    draining->id[0] = draining->requester[0] = '\0';
}

/* The offer is over without a commit. */
static void withdraw(struct startd *startd, int status, const char *why)
{
    struct wire_request *offer = startd->draining.offer;
    startd->draining.offer = NULL;
    move_phase(startd, DRAIN_NONE, why);
    forget(startd);
    if (offer != NULL) {
        struct ad *args = ad_create();
        ad_set_int(args, "ErrorCode", DRAIN_TOO_LATE);
        wire_reply_refusal(offer, args, status, why);
        ad_destroy(args);
    }
    serve_held(startd);
}

static void offer_gone(void *arg)
{
    struct startd *startd = arg;
    startd->draining.offer = NULL;
    if (draining_stands(startd)) {
        withdraw(startd, -ECANCELED, "the requester is gone, or wants it no more");
    }
}

static void offer_late(void *arg)
{
    struct startd *startd = arg;
    if (draining_stands(startd)) {
        withdraw(startd, -ETIMEDOUT, "neither commit nor cancel came in time");
    }
}

/* START counts again. */
static void finish(struct startd *startd, const char *why)
{
    move_phase(startd, DRAIN_NONE, why);
    forget(startd);
    for (size_t i = startd->slot_count; i > 0; i--) {
        struct slot *slot = startd->slots[i - 1];
        struct claim *claim = slot->claim;
        slot_refresh(slot);
        if (slot->state == SLOT_DRAINED && slot->kind == SLOT_DYNAMIC) {
            slot_remove(slot);
        } else if (slot->state == SLOT_DRAINED) {
            struct ad_context context = startd_context(startd);
            slot_move(slot, slot_plan_rest(slot->ad, &context), SLOT_IDLE);
        } else if (claim != NULL) {
            claim->accepted = false;
            preempt_is_over(slot);
        }
    }
    count(startd);
}

static void end_for_restart(void *arg)
{
    startd_end(arg);
}

static void complete(struct startd *startd)
{
    enum drain_then then = startd->draining.request.then;
    char reason[DRAIN_ID_MAX + 40];
    (void)snprintf(reason, sizeof reason, "drained by request %s", startd->draining.id);
    move_phase(startd, DRAIN_COMPLETE, "all requested slots are drained");
    switch (then) {
    case DRAIN_THEN_STAY:
    case DRAIN_THEN_EXIT: /* was refused */
        save(startd, NULL);
        break;
    case DRAIN_THEN_RESUME:
        finish(startd, "it resumes");
        save(startd, NULL);
        break;
    case DRAIN_THEN_RESTART:
        save(startd, end_for_restart); /* drain_plan_still_holds(): this was it */
        break;
    case DRAIN_THEN_SLEEP:
    case DRAIN_THEN_OFF:
        /* First: an offline ad must not say that it drains.  No claim comes in between. */
        finish(startd, "it goes down");
        save(startd, NULL);
        hibernate_drained(startd, then == DRAIN_THEN_OFF ? 5 : 3, reason);
        break;
    }
}

/* ---- steps */

static void take(struct slot *slot, enum drain_step step)
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
        if (claim != NULL && claim->reason[0] == '\0') {
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

static bool orders_sleep(const struct draining *draining)
{
    return draining->request.then == DRAIN_THEN_SLEEP || draining->request.then == DRAIN_THEN_OFF;
}

static void look(void *arg)
{
    struct startd *startd = arg;
    struct draining *draining = &startd->draining;
    size_t slot_count = startd->slot_count;
    struct drain_look found;
    int64_t now_s = loop_wall_s(startd->env.loop);
    if (!draining_is_on(startd) || startd->stopping || startd->going_down) {
        return;
    }
    const struct drain_orders orders = {.schedule = draining->request.schedule,
                                        .has_start = draining->request.start != NULL,
                                        .evict_suspended = config_bool(startd->env.config,
                                                                       "DRAINING_EVICTS_SUSPENDED"),
                                        .deadline_s = draining->request.deadline_s};
    struct drain_slot *slots = snapshot(startd, &draining->request);
    enum drain_step *steps = mem_zalloc((slot_count + 1) * sizeof *steps);
    drain_plan_look(&orders, slots, slot_count, now_s, steps, &found);
    if (draining->last != found.last) {
        draining->last = found.last;
        slots_refresh(startd);
    }
    for (size_t i = slot_count; i > 0; i--) { /* a step takes out none but its own slot */
        take(startd->slots[i - 1], steps[i - 1]);
    }
    bool sleeps = orders_sleep(draining);
    if (found.complete && sleeps && startd->claims.count > 0) {
        loop_timer_set(draining->look_timer, CLAIMS_MS); /* schedds are still to be told */
    } else if (found.complete && draining->phase == DRAIN_ACTIVE) {
        complete(startd);
    } else if (found.next_s != INT64_MAX) {
        int64_t wait_s = found.next_s - now_s;
        loop_timer_set(draining->look_timer, (uint64_t)(wait_s < 86400 ? wait_s : 86400) * 1000);
    }
    mem_free(steps);
    mem_free(slots);
}

/* ---- requests */

static void refuse(struct wire_request *request, enum drain_code code, int status, const char *id,
                   const char *why)
{
    struct ad *args = ad_create();
    ad_set_int(args, "ErrorCode", code);
    if (id[0] != '\0') {
        ad_set_string(args, "DrainingRequestId", id);
    }
    wire_reply_refusal(request, args, status, why);
    ad_destroy(args);
}

static enum drain_code judge_slots(struct startd *startd, const struct drain_request *asked,
                                   struct err *err)
{
    for (size_t i = 0; i < asked->slot_count; i++) {
        const struct drain_request one = {.slots = &asked->slots[i], .slot_count = 1};
        bool found = false;
        for (size_t j = 0; j < startd->slot_count && !found; j++) {
            found = drain_request_names(&one, startd->slots[j]->name);
        }
        if (!found) {
            (void)err_set(err, -ENOENT, "%s has no slot %s", startd->name, asked->slots[i]);
            return DRAIN_NO_SUCH_SLOT;
        }
    }
    const struct ad **ads = mem_alloc((startd->slot_count + 1) * sizeof *ads);
    size_t ad_count = 0;
    for (size_t i = 0; i < startd->slot_count; i++) {
        if (drain_request_names(asked, startd->slots[i]->name)) {
            ads[ad_count++] = startd->slots[i]->ad;
        }
    }
    struct ad_context context = startd_context(startd);
    enum drain_code code = drain_plan_check(asked->check, ads, ad_count, &context, err);
    mem_free(ads);
    return code;
}

static enum drain_code judge(struct startd *startd, const struct drain_request *asked,
                             struct err *err)
{
    bool sleeps = asked->then == DRAIN_THEN_SLEEP || asked->then == DRAIN_THEN_OFF;
    if (startd->draining.phase != DRAIN_NONE && !asked->estimate) {
        (void)err_set(err, -EBUSY, "%s: a request of %s is there already", startd->name,
                      startd->draining.requester);
        return DRAIN_ALREADY;
    }
    if (startd->going_down || startd->stopping || startd->farewell || startd->asleep) {
        (void)err_set(err, -ESHUTDOWN, "%s is going down", startd->name);
        return DRAIN_NOT_NOW;
    }
    if (sleeps && strcmp(config_string(startd->env.config, "POWER_METHOD"), "none") == 0) {
        (void)err_set(err, -ENOTSUP, "%s: POWER_METHOD is none: nothing could wake it",
                      startd->name);
        return DRAIN_CANNOT;
    }
    if (asked->then == DRAIN_THEN_EXIT) {
        (void)err_set(err, -ENOTSUP, "%s: its master would start the startd again", startd->name);
        return DRAIN_CANNOT;
    }
    return judge_slots(startd, asked, err);
}

static void offer(struct startd *startd, struct wire_request *request,
                  struct drain_request *asked /* taken */)
{
    struct draining *draining = &startd->draining;
    unsigned char secret[8];
    draining->request = *asked;
    loop_secret(startd->env.loop, secret, sizeof secret);
    text_hex(secret, sizeof secret, draining->id);
    (void)snprintf(draining->requester, sizeof draining->requester, "%s",
                   wire_request_peer(request)->identity);
    move_phase(startd, DRAIN_OFFERED, "it is asked what draining would cost");
    draining->offer = request;
    wire_request_on_gone(request, offer_gone, startd);
    loop_timer_set(draining->offer_timer, (uint64_t)draining->request.commit_s * 1000);
}

static void start_draining(struct startd *startd, struct wire_request *request)
{
    struct drain_request asked;
    struct drain_estimates cost;
    struct err err;
    slots_refresh(startd); /* CheckExpr sees what is */
    enum drain_code code = drain_request_read(wire_request_args(request), &asked, &err);
    code = code != DRAIN_OK ? code : judge(startd, &asked, &err);
    if (code != DRAIN_OK) {
        int status = code == DRAIN_ALREADY ? -EBUSY : code == DRAIN_CHECK_FALSE ? -EPERM : -EINVAL;
        refuse(request, code, status, code == DRAIN_ALREADY ? startd->draining.id : "", err.text);
        drain_request_fini(&asked);
        return;
    }
    struct ad *args = ad_create();
    const struct wire_body body = {.args = args};
    estimate(startd, &asked, &cost);
    drain_plan_put_estimates(&cost, args);
    ad_set_string(args, "Machine", startd->name);
    if (asked.estimate) {
        drain_request_fini(&asked);
        wire_reply_ok(request, &body);
    } else {
        offer(startd, request, &asked);
        ad_set_string(args, "DrainingRequestId", startd->draining.id);
        ad_set_int(args, "CommitWithin", startd->draining.request.commit_s);
        (void)wire_reply_part(request, &body); /* one part: there is no window to wait for */
    }
    ad_destroy(args);
}

static void committed(void *arg)
{
    struct startd *startd = arg;
    struct wire_request *both[] = {startd->draining.offer, startd->draining.commit};
    startd->draining.offer = startd->draining.commit = NULL;
    for (size_t i = 0; i < ARRAY_COUNT(both); i++) {
        if (both[i] != NULL) {
            wire_reply_ok(both[i], NULL);
        }
    }
}

static void commit_gone(void *arg)
{
    ((struct startd *)arg)->draining.commit = NULL;
}

static void commit_draining(struct startd *startd, struct wire_request *request)
{
    struct draining *draining = &startd->draining;
    const char *id = ad_string_or(wire_request_args(request), "DrainingRequestId", "");
    bool is_it = draining->phase != DRAIN_NONE && strcmp(id, draining->id) == 0;
    if (!is_it || !draining_stands(startd)) {
        refuse(request, is_it ? DRAIN_TOO_LATE : DRAIN_NO_SUCH_ID, -ENOENT, "",
               is_it ? "it is committed already" : "there is no such request, or not any more");
        return;
    }
    loop_timer_stop(draining->offer_timer);
    draining->began_s = loop_wall_s(startd->env.loop);
    draining->last = draining->request.start == NULL;
    draining->commit = request;
    wire_request_on_gone(request, commit_gone, startd);
    move_phase(startd, DRAIN_ACTIVE,
               draining->request.reason != NULL ? draining->request.reason : "it begins");
    save(startd, committed);
    count(startd);
    look(startd); /* from Unclaimed, before START makes Owner of it */
    slots_refresh(startd);
    serve_held(startd);
}

static void cancelled(void *arg)
{
    struct startd *startd = arg;
    struct wire_request *request = startd->draining.cancel;
    startd->draining.cancel = NULL;
    if (request != NULL) {
        wire_reply_ok(request, NULL);
    }
}

static void cancel_gone(void *arg)
{
    ((struct startd *)arg)->draining.cancel = NULL;
}

static void cancel_draining(struct startd *startd, struct wire_request *request)
{
    struct draining *draining = &startd->draining;
    const char *id = ad_string_or(wire_request_args(request), "DrainingRequestId", "");
    if (draining->phase == DRAIN_NONE ? id[0] != '\0'
                                      : id[0] != '\0' && strcmp(id, draining->id) != 0) {
        refuse(request, DRAIN_NO_SUCH_ID, -ENOENT, draining->id, "there is no such request");
        return;
    }
    if (draining_stands(startd)) {
        withdraw(startd, -ECANCELED, "it was cancelled");
    }
    if (!draining_is_on(startd)) {
        wire_reply_ok(request, NULL);
        return;
    }
    if (draining->cancel != NULL) {
        wire_reply_error(draining->cancel, -EALREADY, "it was cancelled by another");
    }
    draining->cancel = request;
    wire_request_on_gone(request, cancel_gone, startd);
    finish(startd, "it was cancelled");
    save(startd, cancelled);
}

void draining_request(struct startd *startd, struct wire_request *request)
{
    enum wire_verb verb = wire_request_verb(request);
    if (verb == VERB_START_DRAINING) {
        start_draining(startd, request);
    } else if (verb == VERB_COMMIT_DRAINING) {
        commit_draining(startd, request);
    } else {
        cancel_draining(startd, request);
    }
}

/* ---- life */

int draining_open(struct startd *startd, struct err *err)
{
    struct draining *draining = &startd->draining;
    draining->offer_timer = loop_timer_create(startd->env.loop, offer_late, startd);
    draining->look_timer = loop_timer_create(startd->env.loop, look, startd);
    return store_load(startd->store, "draining", restore_one, startd, err);
}

void draining_close(struct startd *startd)
{
    struct draining *draining = &startd->draining;
    loop_timer_destroy(draining->offer_timer);
    loop_timer_destroy(draining->look_timer);
    vec_fini(&draining->held, mem_free);
    drain_request_fini(&draining->request);
}
