/* startd/owner/policy_plan.c - what the owner's expressions do to a claimed slot: see
 * policy_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/owner/policy_plan.h"

#include "base/check.h"
#include "classad/ad.h"

static const char *const KNOBS[POLICY_EXPRS] = {
    [POLICY_SUSPEND] = "SUSPEND",         [POLICY_CONTINUE] = "CONTINUE",
    [POLICY_PREEMPT] = "PREEMPT",         [POLICY_WANT_SUSPEND] = "WANT_SUSPEND",
    [POLICY_WANT_VACATE] = "WANT_VACATE", [POLICY_KILL] = "KILL",
};

const char *policy_plan_knob(enum policy_expr expr)
{
    CHECK((size_t)expr < POLICY_EXPRS);
    return KNOBS[expr];
}

struct look {
    const struct policy *policy;
    const struct ad *slot, *job;
    const struct ad_context *context;
};

static bool is_true(const struct look *look, enum policy_expr which)
{
    const struct ad_expr *expr = look->policy->expr[which];
    return expr != NULL && ad_eval_bool(expr, look->slot, look->job, look->context) == AD_TRUE;
}

static enum policy_step claimed_step(const struct look *look, enum slot_activity activity,
                                     bool evicted)
{
    switch (activity) {
    case SLOT_IDLE:
        return is_true(look, POLICY_PREEMPT) ? POLICY_PREEMPTS : POLICY_STAYS;
    case SLOT_SUSPENDED:
        if (is_true(look, POLICY_PREEMPT)) {
            return POLICY_PREEMPTS;
        }
        return is_true(look, POLICY_CONTINUE) ? POLICY_CONTINUES : POLICY_STAYS;
    case SLOT_BUSY:
    case SLOT_RETIRING:
        if (evicted) {
            return POLICY_STAYS;
        }
        if (is_true(look, POLICY_WANT_SUSPEND) && is_true(look, POLICY_SUSPEND)) {
            return POLICY_SUSPENDS;
        }
        return activity == SLOT_BUSY && is_true(look, POLICY_PREEMPT) ? POLICY_PREEMPTS
                                                                      : POLICY_STAYS;
    default:
        return POLICY_STAYS;
    }
}

enum policy_step policy_plan_step(const struct policy *policy, enum slot_state state,
                                  enum slot_activity activity, bool evicted, const struct ad *slot,
                                  const struct ad *job, const struct ad_context *context)
{
    const struct look look = {.policy = policy, .slot = slot, .job = job, .context = context};
    if (state == SLOT_CLAIMED) {
        return claimed_step(&look, activity, evicted);
    }
    if (state == SLOT_PREEMPTING && activity == SLOT_VACATING && is_true(&look, POLICY_KILL)) {
        return POLICY_KILLS;
    }
    return POLICY_STAYS;
}

bool policy_plan_vacates(const struct policy *policy, const struct ad *slot, const struct ad *job,
                         const struct ad_context *context)
{
    const struct ad_expr *expr = policy->expr[POLICY_WANT_VACATE];
    return expr == NULL || ad_eval_bool(expr, slot, job, context) != AD_FALSE;
}
