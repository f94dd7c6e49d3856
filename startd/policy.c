/* startd/policy.c - the owner's policy for claimed slots, carried out: jobs are suspended,
 * continue, and have to go.
 *
 * policy_plan.c says which step a slot takes; it is asked at each look at the machine.  One step at
 * a time: what the next one depends on (Activity, EnteredCurrentActivity) is in the ad by then.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>

#include "base/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "classad/ad.h"
#include "startd/startd.h"
#include "startd/startd_context.h"
#include "startd/suspend.h"

/* ---- the expressions of a slot */

void policy_unload(struct slot *slot)
{
    for (size_t i = 0; i < POLICY_EXPRS; i++) {
        ad_expr_destroy(slot->policy.expr[i]);
        slot->policy.expr[i] = NULL;
    }
}

void policy_load(struct slot *slot)
{
    const struct config *config = slot->startd->env.config;
    policy_unload(slot);
    for (size_t i = 0; i < POLICY_EXPRS; i++) {
        const char *knob = policy_plan_knob((enum policy_expr)i);
        const char *text = slots_type_expr(config, slot->type_id, knob);
        text = text != NULL ? text : config_expr(config, knob);
        struct err err;
        if (text != NULL &&
            ad_expr_parse(text, strlen(text), AD_OLD, &slot->policy.expr[i], &err) != 0) {
            slot->policy.expr[i] = NULL;
            log_error(slot->startd->env.log, "config.expr", err.text, LOG_TEXT("knob", knob));
        }
    }
}

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
    log_info(slot->startd->env.log, "slot.policy", "the policy's expression is true",
             LOG_TEXT("slot", slot->name), LOG_TEXT("expression", NAMES[step]),
             LOG_TEXT("job", claim->job_id),
             LOG_INT("keyboard_idle", slot->startd->figures.idle.keyboard_s));
    switch (step) {
    case POLICY_SUSPENDS:
        claim_suspend(claim);
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

/* Finds the expression again that was too costly.  Of a claim it is told once. */
static void tell_costly(struct slot *slot, const struct ad *job, const struct ad_context *context)
{
    struct startd *startd = slot->startd;
    struct claim *claim = slot->claim;
    if (startd->work.over == startd->told_over) {
        return;
    }
    startd->told_over = startd->work.over;
    for (int i = 0; !claim->told_costly && i < POLICY_EXPRS; i++) {
        if (slot->policy.expr[i] != NULL) {
            (void)ad_eval_bool(slot->policy.expr[i], slot->ad, job, context); /* to count it */
            claim->told_costly = startd->work.over != startd->told_over;
            startd_tell_costly(slot, policy_plan_knob((enum policy_expr)i), claim->job_id,
                               claim->user);
        }
    }
}

void policy_check(struct slot *slot)
{
    struct claim *claim = slot->claim;
    if (claim == NULL || slot->startd->stopping ||
        (claim->stage != CLAIM_HELD && claim->stage != CLAIM_ACTIVE)) {
        return;
    }
    if (claim->stage == CLAIM_ACTIVE &&
        (claim->starter_pid == 0 || (claim->stopping && slot->state == SLOT_CLAIMED))) {
        return; /* it is just being started, or ended by its schedd */
    }
    struct ad_context context = startd_context(slot->startd);
    const struct ad *job = claim->stage == CLAIM_ACTIVE ? claim->job : NULL;
    enum policy_step step = policy_plan_step(&slot->policy, slot->state, slot->activity,
                                             claim->evicted, slot->ad, job, &context);
    tell_costly(slot, job, &context);
    if (step == POLICY_CONTINUES && claim->by_user) {
        step = POLICY_STAYS;
    }
    if (step == POLICY_STAYS && slot->activity == SLOT_RETIRING) {
        preempt_retire(slot); /* how long is an expression, too: it may have become another time */
        return;
    }
    take_step(slot, step);
}
