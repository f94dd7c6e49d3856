/* negotiator/negotiator_ad.c - makes the negotiator's own ad: what it did, and the concurrency
 * limits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "negotiator/limit_plan.h"
#include "negotiator/negotiator.h"
#include "negotiator/significant_plan.h"
#include "store/store.h"
#include "wire/daemon_ad.h"
#include "wire/settings.h"
#include "wire/wire.h"

#define LIMITS_TOLD_MAX 200 /* concurrency limits in our ad */

static void ad_answered(void *arg, struct wire_reply *reply)
{
    const struct negotiator *negotiator = arg;
    if (reply->status != 0 && reply->status != -ECONNRESET) {
        log_debug(negotiator->env.log, "update.refused", reply->text);
    }
}

/* Sets ConcurrencyLimits: names in use or asked for that have a limit. */
static void write_limits(const struct limit_plan *limits, struct ad *ad)
{
    struct strbuf list;
    double used, max;
    size_t at = 0, count = 0;
    strbuf_init(&list, 0);
    const char *name;
    while (count < LIMITS_TOLD_MAX && (name = limit_plan_next(limits, &at, &used, &max)) != NULL) {
        if (max >= 0) {
            struct ad *one = ad_create();
            ad_set_string(one, "Name", name);
            ad_set_real(one, "Used", used);
            ad_set_real(one, "Max", max);
            strbuf_puts(&list, count++ > 0 ? ", " : "{ ");
            ad_print(one, &list);
            ad_destroy(one);
        }
    }
    strbuf_puts(&list, " }");
    if (count > 0 && !list.failed) {
        (void)ad_set_expr(ad, "ConcurrencyLimits", strbuf_text(&list), NULL); /* else: not told */
    }
    strbuf_fini(&list);
}

/* Sets HTCondor's figures of the last cycle, for `roost status -negotiator`. */
static void put_last_cycle(const struct negotiator *negotiator, struct ad *ad)
{
    struct strmap *submitters = strmap_create(STRMAP_CASE_SENSITIVE);
    struct strmap *schedds = strmap_create(STRMAP_CASE_SENSITIVE);
    int64_t idle = 0;
    size_t at = 0;
    void *value;
    while (strmap_next(negotiator->requests, &at, NULL, &value)) {
        const struct plan_request *facts = &((const struct pool_request *)value)->facts;
        idle += facts->count;
        (void)strmap_set(submitters, facts->user, ad); /* only presence counts */
        (void)strmap_set(schedds, facts->schedd, ad);  /* likewise */
    }
    ad_set_int(ad, "LastNegotiationCycleEnd0", negotiator->counts.last_cycle_s);
    ad_set_int(ad, "LastNegotiationCycleDuration0", negotiator->counts.last_duration_ms / 1000);
    ad_set_int(ad, "LastNegotiationCycleTotalSlots0", (int64_t)strmap_count(negotiator->slots));
    ad_set_int(ad, "LastNegotiationCycleActiveSubmitterCount0", (int64_t)strmap_count(submitters));
    ad_set_int(ad, "LastNegotiationCycleNumSchedulers0", (int64_t)strmap_count(schedds));
    ad_set_int(ad, "LastNegotiationCycleNumIdleJobs0", idle);
    ad_set_int(ad, "LastNegotiationCycleMatches0", negotiator->counts.last_matches);
    strmap_destroy(submitters, NULL);
    strmap_destroy(schedds, NULL);
}

void negotiator_ad_send(struct negotiator *negotiator)
{
    struct wire *wire = uplink_wire(negotiator->uplink);
    if (wire == NULL) {
        return;
    }
    struct ad *args = ad_create(), *ad = ad_create();
    ad_set_int(args, "Epoch", (int64_t)negotiator->epoch);
    ad_set_int(args, "Sequence", (int64_t)++negotiator->sequence);
    ad_set_bool(args, "Full", true);
    daemon_ad_put(ad, negotiator->env.os, "Negotiator", negotiator->name,
                  loop_wall_of_s(negotiator->env.loop, negotiator->started_ms));
    daemon_ad_put_store(ad, store_problem(negotiator->store),
                        store_damaged_rows(negotiator->store));
    settings_put(ad, negotiator->env.config);
    ad_set_int(ad, "MyCurrentTime", loop_wall_s(negotiator->env.loop));
    ad_set_int(ad, "TotalNegotiationCycles", negotiator->counts.cycles);
    ad_set_int(ad, "TotalMatches", negotiator->counts.matches);
    ad_set_int(ad, "TotalOfflineMatches", negotiator->counts.holds);
    ad_set_int(ad, "LastNegotiationCycleEnd", negotiator->counts.last_cycle_s);
    put_last_cycle(negotiator, ad);
    ad_set_int(ad, "LastNegotiationCycleDurationMs", negotiator->counts.last_duration_ms);
    ad_set_int(ad, "LastNegotiationCycleEvaluations", negotiator->counts.last_judged);
    ad_set_int(ad, "SlotKinds", negotiator->counts.slot_kinds);
    ad_set_int(ad, "RequestKinds", negotiator->counts.request_kinds);
    ad_set_int(ad, "TotalPreemptions", negotiator->counts.preemptions);
    prompt_put(negotiator, ad);
    significant_write(negotiator->significant, ad);
    write_limits(negotiator->limits, ad);
    const struct ad *ads[1] = {ad};
    const struct wire_body body = {.args = args, .ads = ads, .ad_count = 1};
    (void)wire_call(wire, VERB_UPDATE, &body, 0, ad_answered, negotiator); /* else: the next time */
    ad_destroy(args);
    ad_destroy(ad);
}
