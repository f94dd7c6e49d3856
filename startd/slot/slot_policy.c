/* startd/slot/slot_policy.c - see slot_policy.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "startd/slot/slot_policy.h"

#include <string.h>

#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "classad/ad.h"
#include "startd/owner/policy_plan.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_knobs.h"
#include "startd/startd_state.h"

void slot_policy_unload(struct slot *slot)
{
    for (size_t i = 0; i < POLICY_EXPRS; i++) {
        ad_expr_destroy(slot->policy.expr[i]);
        slot->policy.expr[i] = NULL;
    }
}

void slot_policy_load(struct slot *slot)
{
    const struct config *config = slot->startd->env.config;
    slot_policy_unload(slot);
    for (size_t i = 0; i < POLICY_EXPRS; i++) {
        const char *knob = policy_plan_knob((enum policy_expr)i);
        const char *text = slot_knobs_expr(config, slot->type_id, knob);
        text = text != NULL ? text : config_expr(config, knob);
        struct err err;
        if (text != NULL &&
            ad_expr_parse(text, strlen(text), AD_OLD, &slot->policy.expr[i], &err) != 0) {
            slot->policy.expr[i] = NULL;
            log_error(slot->startd->env.log, "config.expr", err.text, LOG_TEXT("knob", knob));
        }
    }
}
