/* startd/draining_call.c - the transaction of draining, seen from the startd
 * (docs/protocol/drain.md, section 1).
 *
 * While an offer is neither committed nor cancelled nothing may change: calls that would change a
 * slot are kept until then, and served in their order.  A kept call of a claim is found again by
 * its claim id, because the claim may be gone by then.
 *
 * This file stands above both draining.c and hibernate.c: from here a drained machine is taken
 * down, and hibernate.c tells draining.c when it stays up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/draining_call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "classad/ad.h"
#include "startd/claim/activation.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/draining.h"
#include "startd/draining_facts.h"
#include "startd/sleep/going_down.h"
#include "startd/sleep/hibernate.h"
#include "startd/claim/offer.h"
#include "startd/slot/slot.h"
#include "startd/slot/slots.h"
#include "startd/startd_context.h"
#include "startd/startd_state.h"
#include "wire/wire.h"

#define LAST_WORD_MS 500 /* a startd that ends says first that the commit was good */

static bool ends_startd(const struct draining *draining)
{
    return draining->request.then == DRAIN_THEN_EXIT ||
           draining->request.then == DRAIN_THEN_RESTART;
}

/* ---- calls that wait */

static void serve_change(struct startd *startd, struct wire_request *request)
{
    enum wire_verb verb = wire_request_verb(request);
    if (verb == VERB_DIAL_ME) {
        offer_dial_me(startd, request);
    } else if (verb == VERB_RELEASE_CLAIM) {
        offer_release(startd, request);
    } else {
        CHECK(verb == VERB_POWER_DOWN);
        hibernate_power_down(startd, request);
    }
}

void draining_call_change(struct startd *startd, struct wire_request *request)
{
    if (!draining_keeps(startd, request, false)) {
        serve_change(startd, request);
    }
}

static void serve_held(struct startd *startd)
{
    struct vec held = startd->draining.held;
    startd->draining.held = (struct vec){0};
    for (size_t i = 0; i < held.count; i++) {
        struct held *one = held.items[i];
        if (!one->of_claim) {
            draining_call_change(startd, one->request);
        } else {
            struct claim *claim =
                claim_find(startd, wire_request_secret(one->request, SECRET_CLAIM_ID));
            const struct wire *wire = wire_request_wire(one->request);
            if (claim != NULL && wire != NULL && claim->link.wire == wire) {
                activation_request(claim, one->request);
            } else {
                wire_reply_error(one->request, -ESHUTDOWN, "the claim has ended");
            }
        }
        mem_free(one);
    }
    vec_fini(&held, NULL);
}

/* ---- the end of an offer */

/* Ends the offer without a commit. */
static void withdraw_offer(struct startd *startd, int status, const char *why)
{
    struct wire_request *offer = startd->draining.offer;
    startd->draining.offer = NULL;
    draining_move(startd, DRAIN_NONE, why);
    draining_forget(startd);
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
        withdraw_offer(startd, -ECANCELED,
                       "the requester has disconnected or withdrawn its request");
    }
}

static void offer_late(void *arg)
{
    struct startd *startd = arg;
    if (draining_stands(startd)) {
        withdraw_offer(startd, -ETIMEDOUT, "neither commit nor cancel came in time");
    }
}

/* ---- requests */

/* in_force: the request because of which this one is refused; NULL: it is not because of one */
static void refuse_request(struct wire_request *request, enum drain_code code, int status,
                           const struct draining *in_force, const char *why)
{
    struct ad *args = ad_create();
    ad_set_int(args, "ErrorCode", code);
    if (in_force != NULL && in_force->id[0] != '\0') {
        ad_set_string(args, "DrainingRequestId", in_force->id);
    }
    if (in_force != NULL && in_force->request.reason != NULL) {
        ad_set_string(args, "DrainReason", in_force->request.reason);
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

static enum drain_code judge_request(struct startd *startd, const struct drain_request *asked,
                                     struct err *err)
{
    bool sleeps = asked->then == DRAIN_THEN_SLEEP || asked->then == DRAIN_THEN_OFF;
    if (startd->draining.phase != DRAIN_NONE && !asked->estimate) {
        (void)err_set(err, -EBUSY, "%s: a request of %s is draining the machine already",
                      startd->name, startd->draining.requester);
        return DRAIN_ALREADY;
    }
    if (going_down_has_begun(startd) || startd->stopping || startd->farewell.begun ||
        startd->asleep) {
        (void)err_set(err, -ESHUTDOWN, "%s is going down", startd->name);
        return DRAIN_NOT_NOW;
    }
    if (sleeps && strcmp(config_string(startd->env.config, "POWER_METHOD"), "none") == 0) {
        (void)err_set(err, -ENOTSUP, "%s: POWER_METHOD is none, so the machine could not be woken",
                      startd->name);
        return DRAIN_CANNOT;
    }
    return judge_slots(startd, asked, err);
}

static void make_offer(struct startd *startd, struct wire_request *request,
                       struct drain_request *asked /* taken */)
{
    struct draining *draining = &startd->draining;
    unsigned char secret[8];
    draining->request = *asked;
    loop_secret(startd->env.loop, secret, sizeof secret);
    text_hex(secret, sizeof secret, draining->id);
    (void)snprintf(draining->requester, sizeof draining->requester, "%s",
                   wire_request_peer(request)->identity);
    draining_move(startd, DRAIN_OFFERED, "estimating the cost of draining");
    draining->offer = request;
    wire_request_on_gone(request, offer_gone, startd);
    loop_timer_set(draining->offer_timer, (uint64_t)draining->request.commit_s * 1000);
}

static void start_draining(struct startd *startd, struct wire_request *request)
{
    struct drain_request asked;
    struct drain_estimates cost;
    struct err err;
    enum drain_code code = drain_request_read(wire_request_args(request), &asked, &err);
    if (asked.check != NULL) { /* it sees what is, and what it would cost */
        for (size_t i = 0; i < startd->slot_count; i++) {
            slot_renew(startd->slots[i]);
        }
        draining_publish(startd, true);
    }
    code = code != DRAIN_OK ? code : judge_request(startd, &asked, &err);
    if (code != DRAIN_OK) {
        int status = code == DRAIN_ALREADY ? -EBUSY : code == DRAIN_CHECK_FALSE ? -EPERM : -EINVAL;
        refuse_request(request, code, status, code == DRAIN_ALREADY ? &startd->draining : NULL,
                       err.text);
        drain_request_fini(&asked);
        return;
    }
    struct ad *args = ad_create();
    const struct wire_body body = {.args = args};
    draining_estimate(startd, &asked, &cost);
    drain_plan_put_estimates(&cost, args);
    ad_set_string(args, "Machine", startd->name);
    if (asked.estimate) {
        drain_request_fini(&asked);
        wire_reply_ok(request, &body);
    } else {
        make_offer(startd, request, &asked);
        ad_set_string(args, "DrainingRequestId", startd->draining.id);
        ad_set_int(args, "CommitWithin", startd->draining.request.commit_s);
        (void)wire_reply_part(request, &body); /* one part: there is no window to wait for */
    }
    ad_destroy(args);
}

static void commit_saved(void *arg)
{
    struct startd *startd = arg;
    struct wire_request *both[] = {startd->draining.offer, startd->draining.commit};
    startd->draining.offer = startd->draining.commit = NULL;
    startd->draining.committing = false;
    for (size_t i = 0; i < ARRAY_COUNT(both); i++) {
        if (both[i] != NULL) {
            wire_reply_ok(both[i], NULL);
        }
    }
    if (ends_startd(&startd->draining)) {
        startd->draining.retry_ms = loop_now_ms(startd->env.loop) + LAST_WORD_MS;
    }
    draining_moved(startd);
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
        refuse_request(request, is_it ? DRAIN_TOO_LATE : DRAIN_NO_SUCH_ID, -ENOENT, NULL,
                       is_it ? "the drain request is committed already"
                             : "no such drain request, or the request has ended");
        return;
    }
    loop_timer_stop(draining->offer_timer);
    draining->began_s = loop_wall_s(startd->env.loop);
    draining->last = draining->request.start == NULL;
    draining->commit = request;
    draining->committing = true;
    wire_request_on_gone(request, commit_gone, startd);
    draining_move(startd, DRAIN_ACTIVE,
                  draining->request.reason != NULL ? draining->request.reason : "draining begins");
    draining_save(startd, commit_saved);
    draining_count(startd);
    /* It goes down in no case: that it is drained counts once the commit is on the disk. */
    (void)draining_look(startd); /* from Unclaimed, before START makes Owner of it */
    for (size_t i = startd->slot_count; i > 0; i--) {
        if (startd->slots[i - 1]->state != SLOT_DRAINED) { /* else its move has shown it */
            slot_refresh(startd->slots[i - 1]);
        }
    }
    serve_held(startd);
}

static void cancel_saved(void *arg)
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

/* Notes who cancels; called before the ads of the slots are made anew. */
static void note_cancel(struct draining *draining, const struct wire_request *request,
                        int64_t now_s)
{
    struct drain_cancel *cancelled = &draining->cancelled;
    cancelled->at_s = now_s;
    (void)snprintf(cancelled->by, sizeof cancelled->by, "%s", wire_request_peer(request)->identity);
    (void)snprintf(cancelled->id, sizeof cancelled->id, "%s", draining->id);
}

static void cancel_draining(struct startd *startd, struct wire_request *request)
{
    struct draining *draining = &startd->draining;
    const char *id = ad_string_or(wire_request_args(request), "DrainingRequestId", "");
    if (draining->phase == DRAIN_NONE || (id[0] != '\0' && strcmp(id, draining->id) != 0)) {
        if (id[0] == '\0') { /* it is meant for draining that is to come, too */
            note_cancel(draining, request, loop_wall_s(startd->env.loop));
            slots_refresh(startd);
        }
        refuse_request(request, DRAIN_NO_SUCH_ID, -ENOENT, draining,
                       id[0] != '\0' ? "no such drain request"
                                     : "the machine has no drain request");
        return;
    }
    if (going_down_has_begun(startd) || startd->stopping) {
        refuse_request(request, DRAIN_NOT_NOW, -ESHUTDOWN, draining,
                       "the machine is going down already");
        return;
    }
    if (draining_stands(startd)) {
        withdraw_offer(startd, -ECANCELED, "cancelled by the requester");
    }
    if (!draining_is_on(startd)) {
        wire_reply_ok(request, NULL);
        return;
    }
    if (draining->cancel != NULL) {
        wire_reply_error(draining->cancel, -EALREADY,
                         "the drain request was cancelled by another caller");
    }
    draining->cancel = request;
    wire_request_on_gone(request, cancel_gone, startd);
    note_cancel(draining, request, loop_wall_s(startd->env.loop));
    draining_finish(startd, "the drain request was cancelled");
    draining_save(startd, cancel_saved);
}

void draining_call_request(struct startd *startd, struct wire_request *request)
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

/* ---- steps */

static void look_again(void *arg)
{
    struct startd *startd = arg;
    if (draining_look(startd)) {
        bool off = startd->draining.request.then == DRAIN_THEN_OFF;
        char reason[DRAINING_REASON_MAX];
        draining_reason(startd, reason);
        hibernate_drained(startd, off, reason);
        draining_count(startd);
    }
}

void draining_call_open(struct startd *startd)
{
    startd->draining.offer_timer = loop_timer_create(startd->env.loop, offer_late, startd);
    startd->draining.look_timer = loop_timer_create(startd->env.loop, look_again, startd);
}
