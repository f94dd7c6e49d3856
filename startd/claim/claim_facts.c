/* startd/claim/claim_facts.c - see claim_facts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "startd/claim/claim_facts.h"

#include <string.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "startd/claim/claim.h"
#include "startd/slot/slot.h"
#include "startd/startd_context.h"
#include "startd/startd_state.h"

void claim_enter(struct claim *claim, enum claim_stage stage)
{
    CHECK(claim_plan_may_move(claim->stage, stage));
    claim->stage = stage;
}

bool claim_is_suspended(const struct claim *claim)
{
    return claim->suspension.by != SUSPENDED_BY_NONE;
}

struct claim *claim_find(struct startd *startd, const char *claim_id)
{
    for (size_t i = 0; i < startd->claims.count; i++) {
        struct claim *claim = startd->claims.items[i];
        if (strcmp(claim->id, claim_id) == 0) {
            return claim;
        }
    }
    return NULL;
}

size_t claims_keeping_up(const struct startd *startd)
{
    size_t count = 0;
    for (size_t i = 0; i < startd->claims.count; i++) {
        const struct claim *claim = startd->claims.items[i];
        count += claim->ending.late ? 0 : 1;
    }
    return count;
}

uint64_t claim_remaining_ms(const struct claim *claim)
{
    uint64_t now_ms = loop_now_ms(claim->startd->env.loop);
    return claim->lease.end_ms > now_ms ? claim->lease.end_ms - now_ms : 0;
}

int64_t claim_suspended_s(const struct claim *claim)
{
    const struct claim_suspension *suspension = &claim->suspension;
    return suspension->total_s + (claim_is_suspended(claim)
                                      ? loop_since_s(claim->startd->env.loop, suspension->at_ms)
                                      : 0);
}

int64_t claim_in_all_s(const struct claim *claim)
{
    return claim_plan_has_run(claim->stage) && claim->run.start_ms != 0
               ? loop_since_s(claim->startd->env.loop, claim->run.start_ms)
               : 0;
}

int64_t claim_run_s(const struct claim *claim)
{
    int64_t in_all_s = claim_in_all_s(claim), suspended_s = claim_suspended_s(claim);
    return in_all_s > suspended_s ? in_all_s - suspended_s : 0;
}

void claim_put_suspension(const struct claim *claim, struct ad *args)
{
    if (!claim_plan_has_run(claim->stage)) {
        return;
    }
    ad_set_bool(args, "Suspended", claim_is_suspended(claim));
    ad_set_int(args, "RunSeconds", claim_in_all_s(claim));
    if (claim->suspension.count > 0) {
        ad_set_int(args, "NumSuspensions", claim->suspension.count);
        ad_set_int(args, "LastSuspensionTime",
                   loop_wall_of_s(claim->startd->env.loop, claim->suspension.at_ms));
        ad_set_int(args, "SuspendedSeconds", claim_suspended_s(claim));
    }
}

void claim_show(struct claim *claim, const struct ad *job)
{
    static const char *const NAMES[][2] = {{"RemoteUser", "User"},
                                           {"RemoteOwner", "User"},
                                           {"AccountingGroup", "AccountingGroup"},
                                           {"RemoteGroup", "AcctGroup"},
                                           {"ConcurrencyLimits", "ConcurrencyLimits"},
                                           {"GlobalJobId", "GlobalJobId"}};
    struct ad_context context = startd_context(claim->startd);
    const struct ad *slot = claim->slot != NULL ? claim->slot->ad : NULL;
    struct ad *shown = ad_create();
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        struct ad_value value;
        (void)ad_eval_attr(job, slot, NAMES[i][1], &context, &value); /* absent: undefined */
        if (value.type == AD_TYPE_STRING) {
            ad_set_string(shown, NAMES[i][0], value.string.text);
        }
        ad_value_fini(&value);
    }
    const struct ad_expr *rank = slot != NULL ? ad_lookup(slot, "Rank") : NULL;
    ad_set_real(shown, "CurrentRank", rank != NULL ? ad_eval_rank(rank, slot, job, &context) : 0.0);
    ad_destroy(claim->job.shown);
    claim->job.shown = shown;
}

void claim_set_job(struct claim *claim, const struct ad *job)
{
    struct ad *copy = ad_copy(job);
    ad_destroy(claim->job.ad);
    claim->job.ad = copy;
    mem_free(claim->job.user);
    claim->job.user = mem_strdup(ad_string_or(job, "User", "?"));
    claim_show(claim, job);
}
