/* startd/claim/preempt.c - the running claim of a slot must end: for a better claim that waits, or
 * because the owner wants the machine back (docs/protocol/claim.md, sections 3 and 7).
 *
 * A claim that waits is in memory only: neither side has promised anything durable, its schedd asks
 * again and again, and if either side forgets it, the other is free.  The running claim ends in
 * steps: its job retires until its time is over, then it is asked to end, then it is killed.  When
 * its starter is gone, preempt_slot_free() hands the slot over.  A job that ends by itself
 * meanwhile delivers its result as usual; but the claim takes no further job.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/claim/preempt.h"

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
#include "startd/claim/claim_record.h"
#include "startd/draining_facts.h"
#include "startd/owner/policy_plan.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_plan.h"
#include "startd/slot/slots.h"
#include "startd/startd_context.h"
#include "startd/startd_state.h"
#include "startd/claim/suspend.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define STANDS_MS 200 /* an offer of draining stands: nothing may change, look again */

int preempt_judge(const struct slot *slot, const struct ad *job, const char *word, struct err *err)
{
    struct ad_context context = startd_context(slot->startd);
    if (slot->waiting != NULL) {
        return err_set(err, -EBUSY, "%s: another claim of %s is waiting for the slot already",
                       slot->name, slot->waiting->job.user);
    }
    const struct ad_expr *expr = ad_lookup(slot->ad, "Rank");
    double rank = expr != NULL ? ad_eval_rank(expr, slot->ad, job, &context) : 0.0;
    startd_tell_costly(slot, "Rank", "", ad_string_or(job, "User", ""));
    const struct ad *shown = slot->claim->job.shown; /* NULL: not known since a restart */
    double current = shown != NULL ? ad_real_or(shown, "CurrentRank", 0.0) : 0.0;
    if (!slot_plan_may_preempt(rank, current, strcmp(word, "Priority") == 0)) {
        return err_set(
            err, -EPERM,
            "%s: its Rank of this job, %.15g, is not high enough to preempt a job of Rank %.15g",
            slot->name, rank, current);
    }
    return 0;
}

/* Returns how many seconds of retirement the running job has left. */
static int64_t retirement_left_s(const struct slot *slot)
{
    const struct claim *claim = slot->claim;
    struct ad_context context = startd_context(slot->startd);
    if (!claim_plan_has_run(claim->stage) || claim->job.ad == NULL) {
        return 0;
    }
    return slot_plan_retirement_s(slot->ad, claim->job.ad, claim_run_s(claim), &context);
}

static int64_t vacate_max_s(const struct slot *slot)
{
    struct ad_context context = startd_context(slot->startd);
    return slot->claim->job.ad != NULL ? slot_plan_vacate_s(slot->ad, slot->claim->job.ad, &context)
                                       : 0;
}

int64_t preempt_wait_max_s(const struct slot *slot)
{
    return retirement_left_s(slot) + vacate_max_s(slot) +
           2 * config_duration_s(slot->startd->env.config, "KILLING_TIMEOUT");
}

/* Why the running claim has to go, the strongest reason first. */
enum push_reason { PUSH_NONE, PUSH_WAITING, PUSH_EVICTED, PUSH_FAREWELL, PUSH_DRAINING };

static enum push_reason push_reason_of(const struct slot *slot)
{
    return slot->waiting != NULL                                    ? PUSH_WAITING
           : slot->claim != NULL && slot->claim->retirement.evicted ? PUSH_EVICTED
           : slot->startd->farewell.begun                           ? PUSH_FAREWELL
           : draining_is_due(slot)                                  ? PUSH_DRAINING
                                                                    : PUSH_NONE;
}

bool preempt_is_due(const struct slot *slot, char *ret, size_t size)
{
    static const char *const WHY[] = {[PUSH_EVICTED] = "PREEMPT is true",
                                      [PUSH_FAREWELL] = "the machine takes no more jobs",
                                      [PUSH_DRAINING] = "the machine is draining"};
    enum push_reason reason = push_reason_of(slot);
    if (reason == PUSH_WAITING) {
        (void)snprintf(ret, size, "preempted by a job of %.100s", slot->waiting->job.user);
    } else if (reason != PUSH_NONE) {
        (void)snprintf(ret, size, "%s", WHY[reason]);
    }
    return reason != PUSH_NONE;
}

/* Notes that draining ends the run: its time is badput, even if draining is cancelled or we die
 * before it has ended. */
static void by_draining(struct claim *claim)
{
    bool was = claim->retirement.drained;
    claim->retirement.drained = true;
    if (!was && claim_plan_has_run(claim->stage)) {
        claim_commit(claim, NULL);
    }
}

/* Returns true if the job is asked to end, false if it is killed at once. */
static bool asks_it(const struct slot *slot)
{
    const struct claim *claim = slot->claim;
    struct ad_context context = startd_context(slot->startd);
    return vacate_max_s(slot) > 0 &&
           policy_plan_vacates(&slot->policy, slot->ad, claim->job.ad, &context);
}

bool preempt_keeps_output(const struct slot *slot)
{
    const struct ad *job = slot->claim->job.ad;
    if (job == NULL || text_equal_nocase(ad_string_or(job, "ShouldTransferFiles", "YES"), "NO")) {
        return false;
    }
    bool saves =
        text_equal_nocase(ad_string_or(job, "WhenToTransferOutput", ""), "ON_EXIT_OR_EVICT") ||
        (slot->startd->probed.ckpt != NULL && ad_bool_or(job, CKPT_WANTED, false));
    return saves && asks_it(slot);
}

static void vacate_slot(struct slot *slot)
{
    struct claim *claim = slot->claim;
    char reason[200];
    CHECK(preempt_is_due(slot, reason, sizeof reason));
    claim->ending.preempted = slot->waiting != NULL || !claim->retirement.evicted;
    if (push_reason_of(slot) == PUSH_DRAINING) {
        by_draining(claim);
    }
    claim->stop.grace_s = vacate_max_s(slot);
    claim_end(claim, reason, !asks_it(slot)); /* last: the claim may be gone */
}

void preempt_vacate(struct slot *slot, bool fast)
{
    struct claim *claim = slot->claim;
    bool is_ending = slot->state == SLOT_PREEMPTING;
    if (claim == NULL || (is_ending && (!fast || slot->activity == SLOT_KILLING))) {
        return;
    }
    if (!fast && !is_ending) {
        vacate_slot(slot);
        return;
    }
    claim->ending.preempted = true;
    by_draining(claim);
    claim_end(claim, "the machine is draining", true);
}

void preempt_is_over(struct slot *slot)
{
    if (slot->state == SLOT_CLAIMED && slot->activity == SLOT_RETIRING &&
        push_reason_of(slot) == PUSH_NONE) {
        loop_timer_stop(slot->claim->retirement.timer);
        slot_move(slot, SLOT_CLAIMED, SLOT_BUSY);
        slot_mint(slot);
        slot_refresh(slot);
    }
}

int64_t preempt_retirement_s(const struct slot *slot)
{
    return slot->claim != NULL ? retirement_left_s(slot) : 0;
}

int64_t preempt_vacate_s(const struct slot *slot)
{
    return slot->claim != NULL ? vacate_max_s(slot) : 0;
}

/* Moves the running claim one step towards its end, whatever its state. */
static void push_claim(struct slot *slot)
{
    struct claim *claim = slot->claim;
    if (claim->stage == CLAIM_HELD) {
        vacate_slot(slot); /* no job: over at once */
        return;
    }
    if (claim->starter.pid == 0) {
        return; /* being started: preempt_run_began() */
    }
    if (claim->suspension.by == SUSPENDED_BY_POLICY && !claim->retirement.evicted &&
        !slot->startd->farewell.begun) {
        return; /* retirement is run time: CONTINUE lets it go on, PREEMPT ends it */
    }
    bool is_bounded = !(push_reason_of(slot) == PUSH_DRAINING && draining_is_peaceful(slot));
    int64_t left_s = is_bounded ? retirement_left_s(slot) : INT64_MAX;
    if (left_s > 0 && claim_is_suspended(claim)) {
        claim_continue(claim); /* comes back here */
        return;
    }
    if (left_s > 0) {
        if (slot->activity != SLOT_RETIRING) {
            slot_move(slot, SLOT_CLAIMED, SLOT_RETIRING);
        }
        if (is_bounded) {
            loop_timer_set(claim->retirement.timer, (uint64_t)left_s * 1000);
        } else {
            loop_timer_stop(claim->retirement.timer);
        }
        return;
    }
    vacate_slot(slot);
}

void preempt_evict(struct slot *slot)
{
    if (slot->claim->retirement.evicted) {
        return;
    }
    slot->claim->retirement.evicted = true;
    push_claim(slot);
}

void preempt_begin(struct slot *slot, struct claim *waiting)
{
    CHECK(slot->waiting == NULL && slot->claim != NULL && waiting->slot == slot);
    slot->waiting = waiting;
    log_info(slot->startd->env.log, "claim.preempts", "a better claim waits for the slot",
             LOG_TEXT("slot", slot->name), LOG_TEXT("user", waiting->job.user),
             LOG_TEXT("running", slot->claim->job.id),
             LOG_INT("retirement_s", retirement_left_s(slot)));
    slot_refresh(slot);
    push_claim(slot);
}

void preempt_retire(struct slot *slot)
{
    push_claim(slot);
}

void preempt_run_began(struct slot *slot)
{
    if (push_reason_of(slot) != PUSH_NONE) {
        push_claim(slot);
    }
}

void preempt_step(void *arg)
{
    struct claim *claim = arg;
    struct slot *slot = claim->slot;
    if (slot == NULL || slot->claim != claim || !claim_plan_has_run(claim->stage)) {
        return;
    }
    if (draining_stands(slot->startd)) {
        loop_timer_set(claim->retirement.timer, STANDS_MS);
    } else if (slot->state == SLOT_CLAIMED && push_reason_of(slot) != PUSH_NONE) {
        push_claim(slot);
    }
}

void preempt_cancel(struct claim *waiting, const char *why)
{
    struct slot *slot = waiting->slot;
    CHECK(waiting->stage == CLAIM_WAITING && slot->waiting == waiting);
    log_info(waiting->startd->env.log, "claim.waits_no_more", why, LOG_TEXT("slot", slot->name),
             LOG_TEXT("user", waiting->job.user));
    claim_discard(waiting);
    if (slot->state == SLOT_CLAIMED) {
        if (slot->activity == SLOT_RETIRING && !slot->claim->retirement.evicted) {
            loop_timer_stop(slot->claim->retirement.timer);
            slot_move(slot, SLOT_CLAIMED, SLOT_BUSY);
        }
        slot_mint(slot); /* another may preempt */
    }
    slot_refresh(slot);
}

/* The slot is free: gives it to the claim that waits. */
static void hand_over(struct slot *slot)
{
    struct claim *claim = slot->waiting;
    struct startd *startd = slot->startd;
    CHECK(slot->claim == NULL);
    slot->waiting = NULL;
    slot->claim = claim;
    claim_enter(claim, CLAIM_OFFERED);
    claim->lease.end_ms = loop_now_ms(startd->env.loop) +
                          (uint64_t)config_duration_s(startd->env.config, "MATCH_TIMEOUT") * 1000;
    loop_timer_set(claim->lease.end_timer, claim_remaining_ms(claim));
    if (slot->state == SLOT_CLAIMED) {
        slot_move(slot, SLOT_PREEMPTING, SLOT_VACATING); /* it had no job */
    }
    slot_move(slot, SLOT_MATCHED, SLOT_IDLE);
    claim_dial(claim);
}

void preempt_slot_free(struct slot *slot)
{
    CHECK(slot->claim == NULL);
    if (slot->kind == SLOT_PARTITIONABLE || slot->state == SLOT_DRAINED) {
        slot_mint(slot);
        slot_refresh(slot);
        return;
    }
    if (slot->state == SLOT_CLAIMED && slot->activity != SLOT_IDLE) {
        slot_move(slot, SLOT_PREEMPTING, SLOT_KILLING); /* its job was ended, or died, at once */
    }
    if (slot->waiting != NULL) {
        hand_over(slot);
        return;
    }
    if (slot->kind == SLOT_DYNAMIC && !draining_is_due(slot)) {
        slots_remove(slot);
        return;
    }
    struct ad_context context = startd_context(slot->startd);
    enum slot_state rest = slot_plan_rest(slot->ad, &context);
    if (slot_plan_is_free(slot->state)) {
        slot_mint(slot);
    }
    slot_move(slot, rest, SLOT_IDLE);
}
