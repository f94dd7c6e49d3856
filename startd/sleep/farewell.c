/* startd/sleep/farewell.c - a startd that ends by itself: the life of a glidein.
 *
 * DAEMON_SHUTDOWN has become true (its time is over), or no claim came for STARTD_NOCLAIM_SHUTDOWN
 * seconds; both are checked whenever the machine is measured (POLLING_INTERVAL).  From then on
 * there are no new claims, and no way back.  The present ones retire as if a better claim waited
 * for each (preempt.c): MAXJOBRETIREMENTTIME, the soft signal, KILL.  When the last slot is free
 * the daemon stops normally.  A glidein, and a startd that was drained to exit, first withdraws its
 * ads from the collector, so that nobody is matched with a machine that does not come back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/sleep/farewell.h"

#include <stdio.h>
#include <string.h>

#include "base/config/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "startd/advertise_due.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/sleep/going_down.h"
#include "startd/claim/preempt.h"
#include "startd/slot/slot.h"
#include "startd/slot/slots.h"
#include "startd/startd_context.h"
#include "startd/startd_state.h"
#include "wire/wire.h"

static bool is_time(struct startd *startd)
{
    struct ad_context context = startd_context(startd);
    return startd->slot_count > 0 && startd->farewell.when != NULL &&
           ad_eval_bool(startd->farewell.when, startd->slots[0]->ad, NULL, &context) == AD_TRUE;
}

static bool is_idle_for_long(struct startd *startd)
{
    uint64_t now_ms = loop_now_ms(startd->env.loop);
    int64_t limit_s = config_duration_s(startd->env.config, "STARTD_NOCLAIM_SHUTDOWN");
    if (claims_keeping_up(startd) > 0 || startd->farewell.claimed_ms == 0) {
        startd->farewell.claimed_ms = now_ms;
    }
    return limit_s > 0 && now_ms - startd->farewell.claimed_ms >= (uint64_t)limit_s * 1000;
}

static bool has_claims(const struct startd *startd)
{
    for (size_t i = 0; i < startd->claims.count; i++) {
        const struct claim *claim = startd->claims.items[i];
        if (claim->stage != CLAIM_OVER) {
            return true;
        }
    }
    return false;
}

static void begin_farewell(struct startd *startd, const char *why)
{
    log_info(startd->env.log, "startd.farewell", why, LOG_INT("claims", startd->claims.count));
    startd->farewell.begun = true;
    for (size_t i = startd->claims.count; i > 0; i--) {
        struct claim *claim = startd->claims.items[i - 1];
        if (claim->stage == CLAIM_WAITING || claim_plan_is_offer(claim->stage)) {
            claim_end(claim, "the machine takes no more jobs", false);
        }
    }
    for (size_t i = startd->slot_count; i > 0; i--) {
        if (i <= startd->slot_count && startd->slots[i - 1]->claim != NULL) {
            preempt_retire(startd->slots[i - 1]);
        }
    }
    slots_refresh(startd);
    advertise_soon(startd);
}

bool farewell_check(struct startd *startd)
{
    if (startd->stopping || going_down_has_begun(startd) || startd->asleep) {
        return false;
    }
    bool idle = is_idle_for_long(startd);
    if (!startd->farewell.begun && (idle || is_time(startd))) {
        begin_farewell(startd, idle ? "no claim came for STARTD_NOCLAIM_SHUTDOWN seconds"
                                    : "DAEMON_SHUTDOWN is true");
    }
    return startd->farewell.begun && !has_claims(startd);
}

bool farewell_is_awaited(const struct startd *startd)
{
    const struct ad_expr *when = startd->farewell.when;
    return (when != NULL && !ad_expr_is_literal(when)) ||
           config_duration_s(startd->env.config, "STARTD_NOCLAIM_SHUTDOWN") > 0;
}

/* ---- the end of a glidein */

static void invalidate_answered(void *arg, struct wire_reply *reply)
{
    struct startd *startd = arg;
    if (reply->status != 0) {
        log_warn(startd->env.log, "invalidate.refused", reply->text,
                 LOG_INT("status", reply->status));
    }
    loop_stop(startd->env.loop, 0);
}

bool farewell_tell(struct startd *startd)
{
    struct wire *wire = uplink_wire(startd->collector);
    if (wire == NULL || startd->asleep || going_down_is_silent(startd) ||
        !(config_bool(startd->env.config, "STARTD_IS_GLIDEIN") || startd->draining.no_more)) {
        return false;
    }
    const char **names = mem_alloc(startd->slot_count * sizeof *names);
    for (size_t i = 0; i < startd->slot_count; i++) {
        names[i] = startd->slots[i]->name;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "Type", "Machine");
    ad_set_strings(args, "Names", names, startd->slot_count);
    ad_set_int(args, "Epoch", (int64_t)startd->sent.epoch);
    ad_set_int(args, "Sequence", (int64_t)++startd->sent.sequence);
    const struct wire_body body = {.args = args};
    bool asked = wire_call(wire, VERB_INVALIDATE, &body, 0, invalidate_answered, startd) > 0;
    startd->sent.taken_back = asked; /* an update that is due would bring them back */
    ad_destroy(args);
    mem_free(names);
    return asked;
}
