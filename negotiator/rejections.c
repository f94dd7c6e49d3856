/* negotiator/rejections.c - tells schedds why their jobs got no slot.
 *
 * LastRejMatchReason has HTCondor's words.  A request is explained when its ad is new or changed
 * (but at most every EXPLAIN_GAP_MS, because the ads of a busy queue change all the time), and in
 * each full cycle; this bounds the cost.  Nothing depends on an explanation: it is sent once, and a
 * schedd that misses it gets the next.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <string.h>

#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "negotiator/limit_plan.h"
#include "negotiator/negotiator.h"
#include "wire/wire.h"

#define EXPLAIN_GAP_MS 2000
#define ADS_PER_CALL   500
/* most bytes of a reason, without the terminating zero; a longer list of limits is left out of the
 * reason */
#define TEXT_MAX 1000

static const char *const REASONS[PLAN_REASON_COUNT] = {
    [PLAN_CONCURRENCY_LIMIT] = "concurrency limit", /* which: see below */
    [PLAN_SUBMITTER_CEILING] = "submitter ceiling exceeded",
    [PLAN_GROUP_QUOTA] = "group quota exceeded",
    [PLAN_SUBMITTER_LIMIT] = "submitter limit exceeded",
    [PLAN_PREEMPTION_POLICY] = "PREEMPTION_REQUIREMENTS == False",
    [PLAN_PRIORITY] = "insufficient priority",
    [PLAN_NO_MATCH] = "no match found",
};

bool rejections_due(struct pool_request *request)
{
    return request->unexplained &&
           loop_now_ms(request->negotiator->env.loop) >= request->explain_ms;
}

static void write_reason(const struct negotiator *negotiator, const struct pool_request *request,
                         enum plan_reason reason, struct ad *ad)
{
    struct strbuf text;
    strbuf_init(&text, TEXT_MAX);
    if (reason == PLAN_CONCURRENCY_LIMIT) {
        strbuf_printf(&text, "%s ", REASONS[reason]);
        limit_plan_reached(negotiator->limits, request->limits, &text);
        strbuf_puts(&text, " reached");
    } else {
        strbuf_puts(&text, REASONS[reason]);
    }
    ad_set_int(ad, "AutoClusterId", request->facts.auto_cluster);
    ad_set_string(ad, "LastRejMatchReason",
                  text.failed ? "concurrency limit reached" : strbuf_text(&text));
    strbuf_fini(&text);
}

static void schedd_told(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* not heard: the next time */
}

static void tell_schedd(const struct negotiator *negotiator, struct wire *wire, const char *uplink,
                        const struct vec *ads)
{
    struct ad *args = ad_create();
    ad_set_string(args, "LastRejMatchNegotiator", negotiator->name);
    for (size_t at = 0; at < ads->count; at += ADS_PER_CALL) {
        const struct wire_body body = {.args = args,
                                       .ads = (const struct ad *const *)ads->items + at,
                                       .ad_count = ads->count - at < ADS_PER_CALL ? ads->count - at
                                                                                  : ADS_PER_CALL};
        (void)wire_relay(wire, uplink, VERB_NO_MATCH, &body, 0, schedd_told,
                         NULL); /* as schedd_told() says */
    }
    ad_destroy(args);
}

/* Adds an ad to those for the schedd of a request. */
static void add_ad(struct strmap *schedds, const struct pool_request *request, struct ad *ad)
{
    const char *uplink = ad_string_or(request->facts.ad, "ScheddUplink", "");
    struct vec *ads = strmap_get(schedds, uplink);
    if (ads == NULL) {
        ads = mem_zalloc(sizeof *ads);
        (void)strmap_set(schedds, uplink, ads); /* was absent */
    }
    vec_push(ads, ad);
}

/* Adds the requests that got no slot. */
static void add_reasons(struct negotiator *negotiator, const struct plan_output *plan,
                        struct strmap *schedds)
{
    for (size_t i = 0; i < plan->rejected_count; i++) {
        const struct plan_rejection *rejection = &plan->rejected[i];
        struct pool_request *request = negotiator->request_numbers.items.items[rejection->request];
        if (!rejections_due(request)) {
            continue; /* prompt.c asked */
        }
        struct ad *ad = ad_create();
        write_reason(negotiator, request, rejection->reason, ad);
        add_ad(schedds, request, ad);
        request->unexplained = false;
        request->rejected = true;
        request->explain_ms = loop_now_ms(negotiator->env.loop) + EXPLAIN_GAP_MS;
    }
}

/* Adds the requests of which the schedd knows a reason that does not hold any more: the plan was
 * asked about them, and had nothing to say. */
static void take_reasons_back(struct negotiator *negotiator, struct strmap *schedds)
{
    for (size_t i = 0; i < negotiator->request_numbers.items.count; i++) {
        struct pool_request *request = negotiator->request_numbers.items.items[i];
        if (request == NULL || !request->rejected || !request->facts.explain ||
            request->facts.resting || !rejections_due(request)) {
            continue;
        }
        struct ad *ad = ad_create();
        ad_set_int(ad, "AutoClusterId", request->facts.auto_cluster);
        ad_set_string(ad, "LastRejMatchReason", "");
        add_ad(schedds, request, ad);
        request->rejected = false;
    }
}

void rejections_anew(struct negotiator *negotiator)
{
    for (size_t i = 0; i < negotiator->request_numbers.items.count; i++) {
        struct pool_request *request = negotiator->request_numbers.items.items[i];
        if (request != NULL) {
            request->unexplained = true;
        }
    }
}

void rejections_tell(struct negotiator *negotiator, const struct plan_output *plan)
{
    struct wire *wire = uplink_wire(negotiator->uplink);
    if (wire == NULL) {
        return;
    }
    struct strmap *schedds = strmap_create(STRMAP_CASE_SENSITIVE);
    add_reasons(negotiator, plan, schedds);
    take_reasons_back(negotiator, schedds);
    size_t at = 0;
    const char *uplink;
    void *value;
    while (strmap_next(schedds, &at, &uplink, &value)) {
        tell_schedd(negotiator, wire, uplink, value);
        vec_fini(value, ad_destroy_item);
        mem_free(value);
    }
    strmap_destroy(schedds, NULL);
}
