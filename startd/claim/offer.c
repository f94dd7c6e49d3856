/* startd/claim/offer.c - DIAL_ME: a schedd shows a claim id and a job, and asks for the slot
 * (docs/protocol/claim.md, section 3).
 *
 * The claim id tells what is wanted: a free slot, a piece of a partitionable slot, or the slot of a
 * claim that is to be preempted.  A refusal leaves the id valid, because things may have changed a
 * moment later.  A piece that was made just to be judged is removed again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/claim/offer.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/text.h"
#include "classad/ad.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/draining_facts.h"
#include "startd/sleep/going_down.h"
#include "startd/claim/preempt.h"
#include "startd/machine/figures.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_facts.h"
#include "startd/slot/slot_plan.h"
#include "startd/slot/slots.h"
#include "startd/startd_context.h"
#include "startd/startd_state.h"
#include "store/store.h"
#include "wire/claim_nonce.h"
#include "wire/wire.h"

#define LEASE_MAX_S  86400
#define ASK_AGAIN_MS 30000 /* at most: how often a schedd asks for a claim that waits */

static uint64_t match_timeout_ms(const struct startd *startd)
{
    return (uint64_t)config_duration_s(startd->env.config, "MATCH_TIMEOUT") * 1000;
}

static struct claim *find_secret(struct startd *startd, const char *claim_id)
{
    struct claim *found = NULL;
    size_t length = strlen(claim_id);
    for (size_t i = 0; i < startd->claims.count && length > 0; i++) {
        struct claim *claim = startd->claims.items[i];
        if (strlen(claim->id) == length && text_equal_secret(claim->id, claim_id, length)) {
            found = claim;
        }
    }
    return found;
}

/* ---- judging */

static int judge_request(struct startd *startd, struct wire_request *request, struct slot **ret,
                         struct err *err)
{
    const struct ad *args = wire_request_args(request);
    struct slot *slot = slot_by_claim_id(startd, wire_request_secret(request, SECRET_CLAIM_ID));
    if (slot == NULL && ad_bool_or(args, "Again", false)) { /* also when no new claim is taken */
        const char *boot_id = ad_string_or(args, "BootId", "");
        if (boot_id[0] != '\0' && strcmp(boot_id, startd->machine.boot_id) != 0) {
            return err_set(err, -ESTALE, "%s was booted since this claim began", startd->name);
        }
        return err_set(err, -ENOKEY, "%s: this claim has ended", startd->name);
    }
    if (going_down_takes_none(startd) || startd->stopping || startd->farewell.begun) {
        return err_set(err, -EAGAIN, "%s is going %s", startd->name,
                       startd->stopping || startd->farewell.begun ? "down" : "to sleep");
    }
    if (slot == NULL) {
        return err_set(err, -ENOKEY, "%s: this claim id is unknown or was used before",
                       startd->name);
    }
    if (store_full(startd->store) != 0) { /* the claim could not be recorded */
        return err_set(err, -EAGAIN, "%s: %s", startd->name, store_problem(startd->store));
    }
    if (slot->state != SLOT_UNCLAIMED && slot->state != SLOT_CLAIMED) {
        return err_set(err, -EBUSY, "%s is %s", slot->name, slot_state_name(slot->state));
    }
    if (wire_request_ad_count(request) != 1 || ad_string_or(args, "ScheddAddress", "")[0] == '\0' ||
        strlen(ad_string_or(args, "ScheddPin", "")) != 64) {
        return err_set(err, -EINVAL, "DIAL_ME needs ScheddAddress, ScheddPin and one job ad");
    }
    const struct wire_peer *peer = wire_request_peer(request);
    const char *schedd = ad_string_or(args, "ScheddName", "?");
    if (!wire_peer_may_advertise(peer, schedd)) {
        return err_set(err, -EACCES, "%s may not speak for the schedd '%s': its token is for '%s'",
                       peer->identity, schedd, peer->pattern);
    }
    *ret = slot;
    return 0;
}

/* Finds the slot for the claim; for a partitionable slot makes a piece of it. */
static int judge_offer(struct startd *startd, struct wire_request *request, struct slot **ret,
                       struct err *err)
{
    struct slot *slot = NULL;
    int rc = judge_request(startd, request, &slot, err);
    if (rc != 0) {
        return rc;
    }
    const struct ad *job = wire_request_ad(request, 0);
    const struct ad *args = wire_request_args(request);
    struct ad_context context = startd_context(startd);
    figures_freshen(slot->startd);
    if (slot->kind == SLOT_PARTITIONABLE) {
        rc = slots_carve(slot, job, &slot, err);
    } else if (slot->state == SLOT_CLAIMED) {
        rc = preempt_judge(slot, job, ad_string_or(args, "Preemption", ""), err);
    } else {
        slot_refresh(slot); /* load, idle time and disk of now */
    }
    if (rc != 0) {
        return rc;
    }
    rc = slot_plan_accepts(slot->ad, job, &context, err);
    startd_tell_costly(slot, "Requirements", ad_string_or(args, "JobId", ""),
                       ad_string_or(job, "User", ""));
    if (rc != 0 && slot->kind == SLOT_DYNAMIC && slot->state == SLOT_UNCLAIMED) {
        slots_uncarve(slot);
    }
    if (rc == 0) {
        *ret = slot;
    }
    return rc;
}

/* ---- taking */

static void use_up(struct slot *slot, const char *claim_id)
{
    slot->claim_id[0] = '\0';
    for (size_t i = 0; slot->parent != NULL && i < slot->parent->piece_ids.count; i++) {
        char *id = slot->parent->piece_ids.items[i];
        if (strcmp(id, claim_id) == 0) {
            vec_remove_at(&slot->parent->piece_ids, i);
            mem_free(id);
            return;
        }
    }
}

static struct claim *make_claim(struct slot *slot, struct wire_request *request)
{
    struct startd *startd = slot->startd;
    const struct ad *args = wire_request_args(request);
    const struct ad *job = wire_request_ad(request, 0);
    const struct wire_peer *peer = wire_request_peer(request);
    struct claim *claim = claim_make(startd);
    (void)snprintf(claim->id, sizeof claim->id, "%s",
                   wire_request_secret(request, SECRET_CLAIM_ID));
    (void)snprintf(claim->slot_name, sizeof claim->slot_name, "%s", slot->name);
    use_up(slot, claim->id);
    uint8_t random[CLAIM_NONCE_SIZE / 2];
    loop_secret(startd->env.loop, random, sizeof random);
    text_hex(random, sizeof random, claim->nonce);
    claim->slot = slot;
    claim->retirement.accepted = draining_slot(slot);
    claim->schedd.address = mem_strdup(ad_string_or(args, "ScheddAddress", ""));
    claim->schedd.pin = mem_strdup(ad_string_or(args, "ScheddPin", ""));
    claim->schedd.name = mem_strdup(ad_string_or(args, "ScheddName", "?"));
    claim->schedd.token = mem_strdup(peer->token_id);
    claim->schedd.uid_domain = mem_strdup(peer->uid_domain);
    claim->schedd.owners = mem_strdup(peer->owners);
    claim->job.user = mem_strdup(ad_string_or(job, "User", "?"));
    claim_show(claim, job);
    int64_t lease_s = ad_int_or(args, "LeaseDuration", 0);
    claim->lease.length_s = lease_s >= 1 && lease_s <= LEASE_MAX_S ? lease_s : 1200;
    claim->lease.end_ms = loop_now_ms(startd->env.loop) + match_timeout_ms(startd);
    loop_timer_set(claim->lease.end_timer, claim_remaining_ms(claim));
    return claim;
}

/* is_again: the schedd had this answer before, and wants to know what became of the claim. */
static void answer_offer(const struct claim *claim, struct wire_request *request, bool is_again)
{
    struct ad *args = ad_create();
    ad_set_string(args, "SlotName", claim->slot_name);
    char digest[CLAIM_NONCE_DIGEST_SIZE];
    claim_nonce_digest(claim->nonce, digest);
    ad_set_string(args, "NonceDigest", digest);
    if (claim->stage == CLAIM_WAITING) {
        uint64_t third_ms = match_timeout_ms(claim->startd) / 3;
        uint64_t again_ms = third_ms < ASK_AGAIN_MS ? third_ms : ASK_AGAIN_MS;
        ad_set_bool(args, "Waits", true);
        ad_set_int(args, "WaitMax", preempt_wait_max_s(claim->slot));
        ad_set_int(args, "AskAgain", again_ms > 1000 ? (int64_t)again_ms / 1000 : 1);
    } else if (is_again && (claim->link.wire == NULL || !wire_is_ready(claim->link.wire))) {
        ad_set_bool(args, "Dialing", true);
    }
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

/* True if the same schedd asks again about a claim that waits, or waited a moment ago; then it was
 * answered here. */
static bool answered_before(struct startd *startd, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct claim *claim = find_secret(startd, wire_request_secret(request, SECRET_CLAIM_ID));
    if (claim == NULL || !ad_bool_or(args, "Again", false) || claim->stage == CLAIM_OVER) {
        return false;
    }
    if (claim->stage == CLAIM_WAITING) {
        claim->lease.end_ms = loop_now_ms(startd->env.loop) + match_timeout_ms(startd);
        loop_timer_set(claim->lease.end_timer, claim_remaining_ms(claim));
    }
    answer_offer(claim, request, true);
    return true;
}

void offer_dial_me(struct startd *startd, struct wire_request *request)
{
    struct slot *slot;
    struct err err;
    if (answered_before(startd, request)) {
        return;
    }
    int rc = judge_offer(startd, request, &slot, &err);
    if (rc != 0) {
        log_info(startd->env.log, "claim.declined", err.text,
                 LOG_TEXT("by", wire_request_peer(request)->identity));
        const char *claim_id = wire_request_secret(request, SECRET_CLAIM_ID);
        slot = slot_by_claim_id(startd, claim_id);
        if (slot != NULL) {
            slot_id_refused(slot, claim_id);
        }
        wire_reply_error(request, rc, "%s", err.text);
        return;
    }
    struct claim *claim = make_claim(slot, request);
    if (slot->state == SLOT_CLAIMED) {
        preempt_begin(slot, claim);
        answer_offer(claim, request, false);
        return;
    }
    claim_enter(claim, CLAIM_OFFERED);
    slot->claim = claim;
    if (slot->kind == SLOT_DYNAMIC) {
        slots_keep(slot);
    }
    slot_move(slot, SLOT_MATCHED, SLOT_IDLE);
    answer_offer(claim, request, false);
    claim_dial(claim);
}

void offer_release(struct startd *startd, struct wire_request *request)
{
    struct claim *claim = find_secret(startd, wire_request_secret(request, SECRET_CLAIM_ID));
    if (claim != NULL && (claim->stage == CLAIM_WAITING || claim_plan_is_offer(claim->stage))) {
        claim->lease.end_ms = 0; /* nobody waits for word from us */
        claim_end(claim, "the schedd does not want the claim any more", false);
    }
    wire_reply_ok(request, NULL);
}
