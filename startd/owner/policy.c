/* startd/owner/policy.c - carries out the owner's policy for claimed slots: jobs are suspended,
 * continue, and must go.
 *
 * policy_plan.c decides which step a slot takes; it is asked whenever the machine is measured.  One
 * step at a time, because what the next one depends on (Activity, EnteredCurrentActivity) must be
 * in the ad by then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/owner/policy.h"

#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "classad/ad.h"
#include "startd/claim/claim.h"
#include "startd/machine/figures.h"
#include "startd/owner/policy_plan.h"
#include "startd/claim/preempt.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_plan.h"
#include "startd/startd_context.h"
#include "startd/startd_state.h"
#include "startd/claim/suspend.h"

/* ---- steps */

static void take_step(struct slot *slot, enum policy_step step)
{
    static const char *const NAMES[] = {[POLICY_STAYS] = "",
                                        [POLICY_SUSPENDS] = "SUSPEND",
                                        [POLICY_CONTINUES] = "CONTINUE",
                                        [POLICY_PREEMPTS] = "PREEMPT",
                                        [POLICY_KILLS] = "KILL"};
    struct claim *claim = slot->claim;
    if (step == POLICY_STAYS) {
        return;
    }
    log_info(slot->startd->env.log, "slot.policy", "a policy expression is true for the slot's job",
             LOG_TEXT("slot", slot->name), LOG_TEXT("expression", NAMES[step]),
             LOG_TEXT("job", claim->job.id),
             LOG_INT("keyboard_idle", slot->startd->figures.idle.keyboard_s));
    switch (step) {
    case POLICY_SUSPENDS:
        claim_suspend(claim, SUSPENDED_BY_POLICY);
        break;
    case POLICY_CONTINUES:
        claim_continue(claim);
        break;
    case POLICY_PREEMPTS:
        preempt_evict(slot);
        break;
    case POLICY_KILLS:
        claim_end(claim, "", true);
        break;
    case POLICY_STAYS:
        break;
    }
}

/* Finds out which expression was too costly, and logs it once for each claim. */
static void tell_costly(struct slot *slot, const struct ad *job, const struct ad_context *context)
{
    struct startd *startd = slot->startd;
    struct claim *claim = slot->claim;
    if (startd->eval.work.over == startd->eval.told_over) {
        return;
    }
    startd->eval.told_over = startd->eval.work.over;
    for (int i = 0; !claim->told_costly && i < POLICY_EXPRS; i++) {
        if (slot->policy.expr[i] != NULL) {
            (void)ad_eval_bool(slot->policy.expr[i], slot->ad, job, context); /* to count it */
            claim->told_costly = startd->eval.work.over != startd->eval.told_over;
            startd_tell_costly(slot, policy_plan_knob((enum policy_expr)i), claim->job.id,
                               claim->job.user);
        }
    }
}

void policy_check(struct slot *slot)
{
    struct claim *claim = slot->claim;
    if (claim == NULL || slot->startd->stopping ||
        (claim->stage != CLAIM_HELD && !claim_plan_has_run(claim->stage))) {
        return;
    }
    if (claim_plan_has_run(claim->stage) &&
        (claim->starter.pid == 0 ||
         (claim->stop.how != CLAIM_STOP_NOT && slot->state == SLOT_CLAIMED))) {
        return; /* it is just being started, or ended by its schedd */
    }
    struct ad_context context = startd_context(slot->startd);
    const struct ad *job = claim_plan_has_run(claim->stage) ? claim->job.ad : NULL;
    enum policy_step step = policy_plan_step(&slot->policy, slot->state, slot->activity,
                                             claim->retirement.evicted, slot->ad, job, &context);
    tell_costly(slot, job, &context);
    if (step == POLICY_CONTINUES && claim->suspension.by == SUSPENDED_BY_USER) {
        step = POLICY_STAYS;
    }
    if (step == POLICY_STAYS && slot->activity == SLOT_RETIRING) {
        preempt_retire(slot); /* how long is an expression, too: it may have become another time */
        return;
    }
    take_step(slot, step);
}

/* ---- all slots */

/* Returns whether the slot stays as it is until something other than a figure changes. */
static bool poll_free(struct slot *slot)
{
    bool is_timely = false;
    struct ad_context context = startd_context(slot->startd);
    context.is_timely = &is_timely;
    if (slot_ids_are_old(slot)) {
        slot_mint(slot);
        slot_refresh(slot);
    }
    enum slot_state rest = slot_plan_rest(slot->ad, &context);
    if (rest != slot->state) {
        slot_move(slot, rest, SLOT_IDLE);
    }
    return !is_timely && !slot->has_refused &&
           !figures_are_read(ad_lookup(slot->ad, "Start"), slot->ad, false);
}

bool policy_poll(struct startd *startd)
{
    bool may_wait =
        startd->slot_count > 0 && !figures_are_read(startd->down.when, startd->slots[0]->ad, true);
    figures_measure(startd);
    for (size_t i = startd->slot_count; i > 0; i--) { /* a piece may be gone after its step */
        struct slot *slot = startd->slots[i - 1];
        if (slot->claim != NULL) {
            may_wait = false;
            policy_check(slot);
        } else if (slot->kind != SLOT_DYNAMIC &&
                   (slot->state == SLOT_OWNER || slot->state == SLOT_UNCLAIMED)) {
            may_wait = poll_free(slot) && may_wait;
        } else {
            may_wait = false;
        }
    }
    return may_wait;
}
