/* startd/claim/claim.c - the life of a claim on the machine: offered, held, over
 * (docs/protocol/claim.md, sections 3, 4 and 7).
 *
 * We make the connection to the schedd, and make it again, with increasing delays, as long as the
 * lease lasts.  The lease is counted from the moment when the answered renewal was sent.  The
 * schedd counts from its receipt and adds a margin; so its lease always ends later than ours.  The
 * store has what survives our own death: the claim's id, its schedd, and the run with its starter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/claim/claim.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/redial.h"
#include "base/stream/stream.h"
#include "base/wall_offset.h"
#include "classad/ad.h"
#include "startd/claim/activation.h"
#include "startd/claim/claim_facts.h"
#include "startd/claim/claim_plan.h"
#include "startd/claim/claim_record.h"
#include "startd/draining_facts.h"
#include "startd/claim/preempt.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_facts.h"
#include "startd/slot/slot_plan.h"
#include "startd/slot/slots.h"
#include "startd/startd_state.h"
#include "startd/starters.h"
#include "store/store.h"
#include "wire/wire.h"

#define CLAIM_CALL_MS    20000
#define LEASE_MAX_S      86400
#define RUN_PLAUSIBLE_S  (366 * INT64_C(86400)) /* for a run of which only wall times are known */
#define CLAIM_ARGS_BYTES 2048                   /* of CLAIM without the slot's ad, at most */
/* most bytes of each text that a schedd tells about itself, such as its address, without the
 * terminating zero */
#define CLAIM_ADDRESS_MAX 512
#define OVERDUE_MS        3000 /* for a starter whose lease is over; below the usual LEASE_MARGIN */

static void dial_later(struct claim *claim);

/* ---- the beginning and the end of the object */

void claim_discard(struct claim *claim)
{
    if (claim->slot != NULL && claim->slot->claim == claim) {
        claim->slot->claim = NULL;
    }
    if (claim->slot != NULL && claim->slot->waiting == claim) {
        claim->slot->waiting = NULL;
    }
    for (size_t i = 0; i < claim->startd->claims.count; i++) {
        if (claim->startd->claims.items[i] == claim) {
            vec_remove_at(&claim->startd->claims, i);
            break;
        }
    }
    if (claim->starter.pid > 0) {
        os_forget(claim->startd->env.os, claim->starter.pid);
    }
    if (claim->kept.pid > 0) { /* it ends with its connection */
        os_forget(claim->startd->env.os, claim->kept.pid);
    }
    activation_destroy(claim);
    wire_finish(claim->link.wire); /* an answer may be on its way */
    loop_timer_destroy(claim->link.dial_timer);
    loop_timer_destroy(claim->lease.alive_timer);
    loop_timer_destroy(claim->lease.end_timer);
    loop_timer_destroy(claim->retirement.timer);
    loop_timer_destroy(claim->stop.timer);
    mem_free(claim->schedd.address);
    mem_free(claim->schedd.pin);
    mem_free(claim->schedd.name);
    mem_free(claim->schedd.token);
    mem_free(claim->schedd.uid_domain);
    mem_free(claim->schedd.owners);
    mem_free(claim->job.user);
    mem_free(claim->run.record);
    mem_free(claim->run.directory);
    mem_free(claim->kept.directory);
    ad_destroy(claim->job.ad);
    ad_destroy(claim->job.shown);
    claim->dead = true;
    if (claim->pending == 0) {
        mem_free(claim);
    } else {
        vec_push(&claim->startd->claim_memory.dead, claim);
    }
}

void claims_destroy(struct startd *startd)
{
    while (startd->claims.count > 0) {
        claim_discard(startd->claims.items[startd->claims.count - 1]);
    }
    vec_fini(&startd->claims, NULL);
}

void claim_drop(struct claim *claim)
{
    struct slot *slot = claim->slot;
    CHECK(claim->starter.pid == 0);
    claim_forget_record(claim);
    log_info(claim->startd->env.log, "claim.dropped", "the claim has ended",
             LOG_TEXT("slot", claim->slot_name), LOG_TEXT("schedd", claim->schedd.name),
             LOG_TEXT("reason", claim->ending.reason));
    claim_discard(claim);
    if (slot != NULL) {
        preempt_slot_free(slot);
    }
}

/* ---- the end */

static void told_gone(void *arg, struct wire_reply *reply)
{
    struct claim *claim = arg;
    if (claim_came_back(claim)) {
        return;
    }
    if (reply->status == -ECONNRESET) {
        return; /* the closed callback dials again, as long as the lease lasts */
    }
    if (reply->status == -ETIMEDOUT || reply->status == -EAGAIN || reply->status == -ESHUTDOWN) {
        /* nothing else would say it again on this connection; or our answer to DIAL_ME has not
         * reached the schedd yet, so that it cannot know who we are; or the next schedd must know
         */
        wire_close(claim->link.wire);
        claim->link.wire = NULL;
        dial_later(claim);
        return;
    }
    claim_drop(claim);
}

static void tell_gone(struct claim *claim)
{
    struct ad *args = ad_create();
    ad_set_string(args, "JobId", claim->job.id);
    ad_set_int(args, "ClaimEpoch", claim->job.epoch);
    ad_set_string(args, "Reason", claim->ending.reason);
    if (claim->ending.preempted) {
        ad_set_bool(args, "Preempted", true);
    } else if (claim->ending.starter_failed) {
        ad_set_bool(args, "StarterFailed", true);
        ad_set_bool(args, "MachineFault", claim->ending.machine_fault);
    }
    ad_set_string(args, "Machine", claim->startd->name);
    const struct wire_secret proof[] = {{SECRET_CLAIM_ID, SECRET_OF_ARGS, claim->id},
                                        {SECRET_NONCE, SECRET_OF_ARGS, claim->nonce}};
    const struct wire_body body = {.args = args,
                                   .secrets = proof,
                                   .secret_count = claim->nonce[0] != '\0' ? 2 : 1};
    if (wire_call(claim->link.wire, VERB_CLAIM_GONE, &body, CLAIM_CALL_MS, told_gone, claim) > 0) {
        claim->pending++;
    } else {
        wire_close(claim->link.wire);
        claim->link.wire = NULL;
        loop_timer_set(claim->link.dial_timer, REDIAL_FIRST_MS);
    }
    ad_destroy(args);
}

/* The lease is over and the schedd could not be told that nothing of the claim runs any more.  It
 * counts the lease from a later moment and adds a margin, or was itself away: until then it takes
 * the job for running.  So it is told as soon as it can be reached, for the time of one more lease,
 * after which it does not wait any longer. */
static void tell_late(struct claim *claim)
{
    uint64_t length_ms = (uint64_t)claim->lease.length_s * 1000;
    claim->ending.late = true;
    claim->lease.end_ms = loop_now_ms(claim->startd->env.loop) + length_ms;
    loop_timer_set(claim->lease.end_timer, length_ms);
}

/* Nothing of the claim runs any more: frees the slot, then tells the schedd.  The schedd of a claim
 * that was only offered is told, too, unless it has let the match end: it has marked a job for this
 * slot since the answer to DIAL_ME, and may have made the claim durable without our knowledge. */
static void claim_over(struct claim *claim)
{
    if (claim->kept.pid > 0) { /* the slot is not free before its lock is: claim_kept_gone() */
        starters_unkeep(claim);
        return;
    }
    struct slot *slot = claim->slot;
    bool is_offer = claim_plan_is_offer(claim->stage);
    bool is_late =
        slot_plan_lease_is_over(loop_now_ms(claim->startd->env.loop), claim->lease.end_ms);
    bool is_known = claim->lease.end_ms != 0 && !(is_offer && (is_late || PLANTED(claim_unsaid)));
    if (!is_known || claim->calls.release != NULL) {
        activation_starter_gone(claim); /* answers what waits */
        claim_drop(claim);
        return;
    }
    activation_starter_gone(claim);
    claim_enter(claim, CLAIM_OVER);
    claim->slot = NULL;
    if (slot != NULL) {
        slot->claim = NULL;
        preempt_slot_free(slot);
    }
    loop_timer_stop(claim->lease.alive_timer);
    if (is_late) {
        tell_late(claim);
    }
    claim_commit(claim, NULL);
    bool is_asking = claim->lease.renewing && !claim->link.resume; /* CLAIM is being answered */
    if (claim->link.wire != NULL && wire_is_ready(claim->link.wire) && !is_asking) {
        tell_gone(claim);
    } else if (claim->link.wire == NULL) {
        claim_dial(claim);
    }
}

void claim_is_idle(struct claim *claim)
{
    claim_commit(claim, NULL);
    loop_timer_set(claim->lease.alive_timer, 0);
}

void claim_starter_gone(struct claim *claim, const char *reason)
{
    draining_run_over(claim);
    claim->starter.pid = 0;
    claim->starter.done = false;
    claim->ending.overdue = false;
    wire_close(claim->starter.wire);
    claim->starter.wire = NULL;
    claim->stop.how = CLAIM_STOP_NOT;
    claim->stop.by_signal = false;
    claim->stop.unsaid = false;
    claim->stop.kind[0] = '\0';
    loop_timer_stop(claim->retirement.timer);
    loop_timer_stop(claim->stop.timer);
    claim->suspension.by = SUSPENDED_BY_NONE;
    if (claim->ending.reason[0] == '\0') {
        (void)snprintf(claim->ending.reason, sizeof claim->ending.reason, "%s", reason);
        claim->ending.starter_failed = claim->ending.reason[0] != '\0';
        claim->ending.machine_fault = claim->ending.starter_failed && claim->starter.machine_fault;
    }
    claim->starter.machine_fault = false;
    if (claim->ending.reason[0] == '\0' &&
        preempt_is_due(claim->slot, claim->ending.reason, sizeof claim->ending.reason)) {
        claim->ending.preempted = true; /* it takes no further job */
    }
    if (claim->ending.reason[0] != '\0') {
        claim_over(claim);
        return;
    }
    claim_enter(claim, CLAIM_HELD);
    slot_move(claim->slot, SLOT_CLAIMED, SLOT_IDLE);
    if (!activation_waits(claim)) {
        claim_is_idle(claim);
    }
    activation_starter_gone(claim); /* last: it may start the next job */
}

void claim_kept_gone(struct claim *claim)
{
    bool at_rest = claim->stage == CLAIM_HELD || claim->stage == CLAIM_STARTING;
    claim->kept.pid = 0;
    wire_close(claim->kept.wire);
    claim->kept.wire = NULL;
    if (at_rest && claim->ending.reason[0] != '\0') {
        claim_over(claim);
    } else if (claim->stage == CLAIM_STARTING) {
        activation_start(claim);
    }
}

void claim_end(struct claim *claim, const char *reason, bool fast)
{
    if (claim->stage == CLAIM_OVER) {
        return;
    }
    if (claim->stage == CLAIM_WAITING) {
        preempt_cancel(claim, reason);
        return;
    }
    if (claim->ending.reason[0] == '\0') {
        (void)snprintf(claim->ending.reason, sizeof claim->ending.reason, "%s", reason);
    }
    if (claim_plan_has_run(claim->stage)) {
        if (claim->starter.pid != 0) {
            if (claim->slot->state != SLOT_PREEMPTING) {
                slot_move(claim->slot, SLOT_PREEMPTING, fast ? SLOT_KILLING : SLOT_VACATING);
            } else if (fast && claim->slot->activity != SLOT_KILLING) {
                slot_move(claim->slot, SLOT_PREEMPTING, SLOT_KILLING);
            }
            starters_stop(claim, fast);
        } /* else: it is being spawned; starters_spawn's caller sees the reason */
        return;
    }
    claim_over(claim);
}

static void lease_tick(void *arg)
{
    struct claim *claim = arg;
    uint64_t now_ms = loop_now_ms(claim->startd->env.loop);
    if (!slot_plan_lease_is_over(now_ms, claim->lease.end_ms)) {
        if (claim->lease.end_ms > now_ms) {
            loop_timer_set(claim->lease.end_timer, claim->lease.end_ms - now_ms);
        }
        return;
    }
    if (claim->stage == CLAIM_WAITING) {
        preempt_cancel(claim, "the schedd no longer asks for the slot");
        return;
    }
    if (claim->ending.late) {
        claim_drop(claim);
        return;
    }
    log_warn(claim->startd->env.log, "claim.lease", "the schedd did not renew the lease in time",
             LOG_TEXT("slot", claim->slot_name), LOG_TEXT("schedd", claim->schedd.name),
             LOG_TEXT("job", claim->job.id));
    if (claim->stage == CLAIM_OVER) {
        tell_late(claim);
        claim_commit(claim, NULL);
        return;
    }
    if (claim_plan_has_run(claim->stage) && claim->starter.pid != 0) {
        if (claim->ending.overdue) {
            log_error(claim->startd->env.log, "starter.overdue",
                      "the starter does not end and is killed", LOG_TEXT("slot", claim->slot_name),
                      LOG_TEXT("job", claim->job.id), LOG_INT("pid", claim->starter.pid));
            (void)os_kill(claim->startd->env.os, claim->starter.pid, SIGKILL); /* watched */
        }
        claim->ending.overdue = true;
        loop_timer_set(claim->lease.end_timer, OVERDUE_MS);
    }
    claim_end(claim, "the claim's lease has expired", true);
}

/* ---- renewing */

/* Takes over a new value that the schedd tells about itself, on a connection on which it has proved
 * who it is.  Returns whether it differs. */
static bool learn_text(char **own, const struct ad *args, const char *name, size_t length)
{
    const char *told = args != NULL ? ad_string_or(args, name, "") : "";
    if (told[0] == '\0' || strlen(told) > CLAIM_ADDRESS_MAX || strcmp(told, *own) == 0 ||
        (length != 0 && strlen(told) != length)) {
        return false;
    }
    mem_free(*own);
    *own = mem_strdup(told);
    return true;
}

static void schedd_confirmed(struct claim *claim, const struct ad *args)
{
    bool moved = learn_text(&claim->schedd.address, args, "ScheddAddress", 0);
    bool renewed = learn_text(&claim->schedd.pin, args, "ScheddPin", STREAM_PIN_SIZE - 1);
    if ((moved || renewed) && !claim_plan_is_offer(claim->stage) && claim->stage != CLAIM_OVER) {
        log_info(claim->startd->env.log, "claim.schedd",
                 "the schedd has a new address or certificate", LOG_TEXT("slot", claim->slot_name),
                 LOG_TEXT("address", claim->schedd.address));
        claim_commit(claim, NULL);
    }
    int64_t lease_s = args != NULL ? ad_int_or(args, "LeaseDuration", 0) : 0;
    claim->lease.length_s =
        lease_s >= 1 && lease_s <= LEASE_MAX_S ? lease_s : claim->lease.length_s;
    uint64_t from_ms =
        PLANTED(lease_by_remainder) ? loop_now_ms(claim->startd->env.loop) : claim->lease.sent_ms;
    claim->lease.end_ms = from_ms + (uint64_t)claim->lease.length_s * 1000;
    claim->lease.confirmed = true;
    claim->ending.overdue = false;
    claim->link.failures = 0;
    uint64_t remaining_ms = claim_remaining_ms(claim);
    loop_timer_set(claim->lease.end_timer, remaining_ms);
    loop_timer_set(claim->lease.alive_timer,
                   claim->lease.say_again ? 0 : (uint64_t)claim->lease.length_s * 1000 / 3);
    claim->lease.say_again = false;
    starters_renewed(claim);
}

/* The schedd says that the claim is not ours. */
static void schedd_refused(struct claim *claim, const char *why)
{
    log_warn(claim->startd->env.log, "claim.refused", why, LOG_TEXT("slot", claim->slot_name),
             LOG_TEXT("schedd", claim->schedd.name), LOG_TEXT("job", claim->job.id));
    claim->lease.end_ms = 0; /* nobody waits for word from us */
    if (claim->stage == CLAIM_OVER) {
        claim_drop(claim);
    } else {
        claim_end(claim, "the schedd does not know this claim", true);
    }
}

static void alive_answered(void *arg, struct wire_reply *reply)
{
    struct claim *claim = arg;
    if (claim_came_back(claim)) {
        return;
    }
    claim->lease.renewing = false;
    if (reply->status == 0) {
        schedd_confirmed(claim, reply->args);
    } else if (reply->status == -ENOKEY) {
        schedd_refused(claim, reply->text);
    } /* else: the connection is gone or slow; the lease decides */
}

static void alive_due(void *arg)
{
    struct claim *claim = arg;
    loop_timer_set(claim->lease.alive_timer, (uint64_t)claim->lease.length_s * 1000 / 3);
    claim->lease.say_again =
        claim->lease.renewing; /* what is under way may speak of a job that has ended */
    if (claim->lease.renewing || claim->stage == CLAIM_OVER || claim->link.wire == NULL ||
        !wire_is_ready(claim->link.wire)) {
        return;
    }
    struct ad *args = ad_create();
    if (claim_plan_has_run(claim->stage)) {
        ad_set_string(args, "JobId", claim->job.id);
        ad_set_int(args, "ClaimEpoch", claim->job.epoch);
        claim_put_suspension(claim, args);
    }
    const struct wire_secret id = {SECRET_CLAIM_ID, SECRET_OF_ARGS, claim->id};
    const struct wire_body body = {.args = args, .secrets = &id, .secret_count = 1};
    claim->lease.sent_ms = loop_now_ms(claim->startd->env.loop);
    claim->lease.renewing =
        wire_call(claim->link.wire, VERB_ALIVE, &body, (uint64_t)claim->lease.length_s * 1000 / 3,
                  alive_answered, claim) > 0;
    claim->pending += claim->lease.renewing ? 1 : 0;
    ad_destroy(args);
}

void claim_say_alive(struct claim *claim)
{
    loop_timer_set(claim->lease.alive_timer, 0);
}

/* ---- claiming */

static void record_saved(void *arg)
{
    struct claim *claim = arg;
    if (claim->stage == CLAIM_ACCEPTED) {
        claim_enter(claim, CLAIM_HELD);
        slot_move(claim->slot, SLOT_CLAIMED, SLOT_IDLE);
        activation_starter_gone(claim); /* an ACTIVATE may have come before the commit */
    }
}

static void claim_answered(void *arg, struct wire_reply *reply)
{
    struct claim *claim = arg;
    if (claim_came_back(claim)) {
        return;
    }
    claim->lease.renewing = false;
    if (reply->status == -ENOKEY) {
        schedd_refused(claim, reply->text);
        return;
    }
    if (reply->status != 0) {
        if (claim->link.wire != NULL &&
            wire_is_ready(claim->link.wire)) { /* a slow or failing schedd: from the beginning */
            wire_close(claim->link.wire);
            claim->link.wire = NULL;
            if (reply->status == -EAGAIN) { /* our answer to DIAL_ME is on its way to it */
                dial_later(claim);
            } else {
                loop_timer_set(claim->link.dial_timer, REDIAL_MAX_MS);
            }
        }
        return;
    }
    schedd_confirmed(claim, reply->args);
    if (claim_plan_is_offer(claim->stage)) {
        claim_enter(claim, CLAIM_ACCEPTED);
        claim->link.resume = true;
        claim_commit(claim, record_saved);
    } else if (claim->stage == CLAIM_OVER) {
        tell_gone(claim);
    }
}

static void say_claim(void *arg, struct wire *wire)
{
    struct claim *claim = arg;
    if (claim->stage == CLAIM_OVER && (claim->ending.late || !claim->link.resume)) {
        tell_gone(claim); /* without a CLAIM: nothing is resumed, or it ended before it was made */
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Machine", claim->startd->name);
    ad_set_string(args, "SlotName", claim->slot_name);
    ad_set_string(args, "BootId", claim->startd->machine.boot_id);
    ad_set_string(args, "StartdUplink", claim->startd->uplink);
    ad_set_bool(args, "Resume", claim->link.resume);
    if (claim->link.resume && claim->stage != CLAIM_HELD && claim->job.id[0] != '\0') {
        ad_set_string(args, "JobId", claim->job.id);
        ad_set_int(args, "ClaimEpoch", claim->job.epoch);
        claim_put_suspension(claim, args);
    }
    const struct ad *ads[1] = {claim->slot != NULL ? claim->slot->ad : NULL};
    if (ads[0] != NULL && ad_encoded_bytes(ads[0]) > wire_peer_frame_max(wire) - CLAIM_ARGS_BYTES) {
        ads[0] = NULL; /* the schedd does not know the claim: it will say so */
    }
    const struct wire_secret proof[] = {{SECRET_CLAIM_ID, SECRET_OF_ARGS, claim->id},
                                        {SECRET_NONCE, SECRET_OF_ARGS, claim->nonce}};
    const struct wire_body body = {.args = args,
                                   .ads = ads,
                                   .ad_count = ads[0] != NULL ? 1 : 0,
                                   .secrets = proof,
                                   .secret_count = claim->nonce[0] != '\0' ? 2 : 1};
    claim->lease.sent_ms = loop_now_ms(claim->startd->env.loop);
    claim->lease.renewing =
        wire_call(wire, VERB_CLAIM, &body, CLAIM_CALL_MS, claim_answered, claim) > 0;
    claim->pending += claim->lease.renewing ? 1 : 0;
    ad_destroy(args);
}

static void dial_later(struct claim *claim)
{
    loop_timer_set(claim->link.dial_timer,
                   redial_delay_ms(loop_rng(claim->startd->env.loop), claim->link.failures++));
}

static void connection_closed(void *arg, struct wire *wire, int status, const char *why)
{
    struct claim *claim = arg;
    if (claim->link.failures == 0) { /* that it fails again and again is no news */
        log_info(claim->startd->env.log, "claim.disconnected", why,
                 LOG_TEXT("slot", claim->slot_name), LOG_TEXT("schedd", claim->schedd.name),
                 LOG_INT("status", status));
    }
    if (wire == claim->link.wire) {
        claim->link.wire = NULL;
        claim->lease.renewing = false;
        dial_later(claim);
    }
    wire_close(wire);
}

void claim_dial(struct claim *claim)
{
    static const struct wire_events EVENTS = {.ready = say_claim,
                                              .request = activation_request,
                                              .closed = connection_closed};
    if (claim->link.wire != NULL) {
        return;
    }
    /* The proof: without it the schedd takes small frames only. */
    const struct wire_secret proof[] = {{SECRET_CLAIM_ID, SECRET_OF_ARGS, claim->id},
                                        {SECRET_NONCE, SECRET_OF_ARGS, claim->nonce}};
    const struct wire_dial how = {.address = claim->schedd.address,
                                  .route = "claim",
                                  .name = "",
                                  .pin = claim->schedd.pin,
                                  .secrets = proof,
                                  .secret_count = claim->nonce[0] != '\0' ? 2 : 1,
                                  .server_scopes = SCOPE_SCHEDD};
    struct err err;
    if (wire_dial(claim->startd->wires, &how, &EVENTS, claim, &claim->link.wire, &err) != 0) {
        claim->link.wire = NULL;
        log_warn(claim->startd->env.log, "claim.dial", err.text,
                 LOG_TEXT("schedd", claim->schedd.name));
        dial_later(claim);
    }
}

static void dial_timer(void *arg)
{
    claim_dial(arg);
}

struct claim *claim_make(struct startd *startd)
{
    struct claim *claim = mem_zalloc(sizeof *claim);
    claim->startd = startd;
    claim->link.dial_timer = loop_timer_create(startd->env.loop, dial_timer, claim);
    claim->lease.alive_timer = loop_timer_create(startd->env.loop, alive_due, claim);
    claim->lease.end_timer = loop_timer_create(startd->env.loop, lease_tick, claim);
    claim->retirement.timer = loop_timer_create(startd->env.loop, preempt_step, claim);
    claim->stop.timer = loop_timer_create(startd->env.loop, starters_stop_step, claim);
    vec_push(&startd->claims, claim);
    return claim;
}

/* ---- after our own restart */

/* Reads a moment of loop_now_ms() from the row of a claim; 0: none.  stamp: the attribute by which
 * an older version kept its wall time. */
static int64_t moment_of(const struct startd *startd, const struct ad *ad, const char *moment,
                         const char *stamp)
{
    int64_t at_ms = ad_int_or(ad, moment, 0), stamp_s = ad_int_or(ad, stamp, 0);
    return at_ms != 0 || stamp_s == 0
               ? at_ms
               : wall_offset_earlier_ms(stamp_s, loop_wall_s(startd->env.loop),
                                        loop_now_ms(startd->env.loop), false, RUN_PLAUSIBLE_S);
}

static int restore_one(void *arg, const char *key, const void *value, size_t length)
{
    struct startd *startd = arg;
    struct ad *ad;
    struct err err;
    if (ad_decode(value, length, NULL, &ad, &err) != 0) {
        log_error(startd->env.log, "store.claim", err.text); /* its key is a secret */
        return 0;                                            /* one bad record is left out */
    }
    const char *slot_name = ad_string_or(ad, "SlotName", "");
    bool same_boot = strcmp(ad_string_or(ad, "BootId", ""), startd->machine.boot_id) == 0;
    bool over = ad_bool_or(ad, "Over", false);
    const struct ad *piece = NULL;
    struct slot *slot = slot_by_name(startd, slot_name);
    if (slot == NULL && same_boot && !over && ad_get_ad(ad, "Piece", &piece) == 0) {
        slot = slots_carve_again(startd, slot_name, piece);
    }
    struct claim *claim = claim_make(startd);
    (void)snprintf(claim->id, sizeof claim->id, "%s", key);
    (void)snprintf(claim->slot_name, sizeof claim->slot_name, "%s",
                   ad_string_or(ad, "SlotName", "?"));
    claim->schedd.address = mem_strdup(ad_string_or(ad, "ScheddAddress", ""));
    claim->schedd.pin = mem_strdup(ad_string_or(ad, "ScheddPin", ""));
    claim->schedd.name = mem_strdup(ad_string_or(ad, "ScheddName", "?"));
    claim->schedd.token = mem_strdup(ad_string_or(ad, "ScheddToken", ""));
    claim->schedd.uid_domain = mem_strdup(ad_string_or(ad, "UidDomain", ""));
    claim->schedd.owners = mem_strdup(ad_string_or(ad, "Owners", ""));
    claim->lease.length_s = ad_int_or(ad, "LeaseDuration", 1200);
    claim->job.epoch = ad_int_or(ad, "ClaimEpoch", 0);
    (void)snprintf(claim->job.id, sizeof claim->job.id, "%s", ad_string_or(ad, "JobId", ""));
    claim->starter.start = (uint64_t)ad_int_or(ad, "StarterStart", 0);
    claim->run.directory = mem_strdup(ad_string_or(ad, "Directory", ""));
    claim->link.resume = true;
    /* Renewals are not in the store: this is the latest that it can be.  The starter knows better,
     * and is told nothing until the schedd has confirmed the claim. */
    claim->lease.end_ms = loop_now_ms(startd->env.loop) + (uint64_t)claim->lease.length_s * 1000;
    claim->run.start_ms = moment_of(startd, ad, "JobStartMs", "JobStart");
    claim->ending.preempted = ad_bool_or(ad, "Preempted", false);
    claim->ending.starter_failed = ad_bool_or(ad, "StarterFailed", false);
    claim->ending.machine_fault = ad_bool_or(ad, "MachineFault", false);
    claim->ending.late = ad_bool_or(ad, "Late", false);
    claim->retirement.evicted = ad_bool_or(ad, "Evicted", false);
    claim->retirement.drained = ad_bool_or(ad, "Drained", false);
    claim->retirement.accepted = ad_bool_or(ad, "Accepted", false);
    claim->suspension.by = !ad_bool_or(ad, "Suspended", false)        ? SUSPENDED_BY_NONE
                           : ad_bool_or(ad, "SuspendedByUser", false) ? SUSPENDED_BY_USER
                                                                      : SUSPENDED_BY_POLICY;
    claim->suspension.at_ms = moment_of(startd, ad, "SuspendedAtMs", "SuspendedAt");
    claim->suspension.total_s = ad_int_or(ad, "SuspendedSeconds", 0);
    claim->suspension.count = ad_int_or(ad, "NumSuspensions", 0);
    if (same_boot && !over && slot != NULL && slot->claim == NULL) {
        claim->slot = slot;
        slot->claim = claim;
        claim->stage = CLAIM_HELD;
        if (ad_bool_or(ad, "Active", false)) {
            claim->stage = CLAIM_ACTIVE;
            claim->starter.pid = (pid_t)ad_int_or(ad, "StarterPid", 0);
        }
    } else {
        claim->stage = CLAIM_OVER;
        const char *why = ad_string_or(ad, "Reason", "");
        (void)snprintf(claim->ending.reason, sizeof claim->ending.reason, "%s",
                       over && why[0] != '\0' ? why
                       : same_boot            ? "the slot is no longer configured"
                                              : "the machine was restarted");
    }
    const struct ad *job;
    if (ad_get_ad(ad, "Job", &job) == 0) {
        claim_set_job(claim, job);
    }
    ad_destroy(ad);
    return 0;
}

static int restore_nonce(void *arg, const char *key, const void *value, size_t length)
{
    struct claim *claim = claim_find(arg, key);
    if (claim != NULL && length < sizeof claim->nonce) {
        memcpy(claim->nonce, value, length);
        claim->nonce[length] = '\0';
    }
    return 0;
}

int claims_restore(struct startd *startd, struct err *err)
{
    int rc = store_load(startd->store, "claims", restore_one, startd, err);
    rc = rc != 0 ? rc : store_load(startd->store, "nonces", restore_nonce, startd, err);
    if (rc != 0) {
        return rc;
    }
    /* Adopting may end claims: walk a copy of the list. */
    struct vec all = {0};
    for (size_t i = 0; i < startd->claims.count; i++) {
        vec_push(&all, startd->claims.items[i]);
    }
    for (size_t i = 0; i < all.count; i++) {
        struct claim *claim = all.items[i];
        loop_timer_set(claim->lease.end_timer, claim_remaining_ms(claim));
        claim_dial(claim);
        if (claim->slot != NULL) {
            slot_move(claim->slot, SLOT_CLAIMED,
                      claim_plan_has_run(claim->stage) ? SLOT_BUSY : SLOT_IDLE);
        }
        if (claim_plan_has_run(claim->stage) && claim_is_suspended(claim)) {
            slot_move(claim->slot, SLOT_CLAIMED, SLOT_SUSPENDED);
        }
        if (claim_plan_has_run(claim->stage)) {
            starters_adopt(claim); /* last: it may be the claim's end */
        }
    }
    vec_fini(&all, NULL);
    return 0;
}
