/* negotiator/prompt.c - watches, on the negotiator's side, the promise that jobs start in time
 * (wire/start_promise.h).
 *
 * A look each LOOK_MS, as long as some request has idle jobs.
 *
 * - Slots.  A slot whose ad says Unclaimed, but whose claim ids were all given out, is lost to the
 *   pool until something happens: the match came to nothing, and nobody said so.
 * - Requests.  While some slot is free, the plan is asked why requests get nothing (as for
 *   NO_MATCH), REQUESTS_MAX at each look, in turn.  "The user has his share" with a free slot that
 *   matches excuses nothing: shares divide what several want, they do not keep slots free.  That no
 *   free slot matches needs no excuse.
 *
 * The slot of a machine that has just been cut off looks free until the collector knows.  So what
 * is late is judged when the collector would know (wire/start_promise.h).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/config/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/strmap.h"
#include "negotiator/negotiator.h"
#include "offline_ads/offline_ads.h"
#include "wire/wire.h"

#define LOOK_MS      1000
#define REQUESTS_MAX 100 /* bounds the cost of a look: each is compared with all kinds of slots */

static const enum start_reason REASONS[PLAN_REASON_COUNT] = {
    [PLAN_CONCURRENCY_LIMIT] = START_CONCURRENCY_LIMIT,
    [PLAN_SUBMITTER_CEILING] = START_SUBMITTER_CEILING,
    [PLAN_GROUP_QUOTA] = START_GROUP_QUOTA,
    [PLAN_SUBMITTER_LIMIT] = START_LATE,
    [PLAN_PREEMPTION_POLICY] = START_KEPT,
    [PLAN_PRIORITY] = START_KEPT,
    [PLAN_NO_MATCH] = START_KEPT,
};

static uint64_t promise_ms(const struct negotiator *negotiator)
{
    return (uint64_t)config_duration_ms(negotiator->env.config, "JOB_START_PROMISE");
}

static bool is_connected(const struct negotiator *negotiator)
{
    return negotiator->lease.leads && uplink_wire(negotiator->uplink) != NULL;
}

static void note_request(struct pool_request *request, enum start_reason reason)
{
    struct negotiator *negotiator = request->negotiator;
    start_watch_note(&request->start, &negotiator->start.counts, reason,
                     loop_now_ms(negotiator->env.loop), promise_ms(negotiator));
}

static void note_slot(struct pool_slot *slot, enum start_reason reason)
{
    struct negotiator *negotiator = slot->negotiator;
    start_watch_note(&slot->start, &negotiator->start.counts, reason,
                     loop_now_ms(negotiator->env.loop), promise_ms(negotiator));
}

/* ---- judgements, when silence would be known */

/* Returns after how long the collector would have told of any silence.  It attends to one
 * connection a machine, thus to no more than there are slots, and to one a schedd. */
static uint64_t silence_ms(const struct negotiator *negotiator)
{
    return wire_silence_ms(strmap_count(negotiator->slots) + strmap_count(negotiator->requests));
}

static enum start_peers peers_by(const struct negotiator *negotiator, const struct ad *ad)
{
    return offline_ads_is(ad) || offline_ads_is_silent(ad) ? START_PEERS_SILENT
           : is_connected(negotiator)                      ? START_PEERS_HEARD
                                                           : START_PEERS_UNKNOWN;
}

static void judge_request(struct pool_request *request, enum start_peers peers, uint64_t known_ms)
{
    struct negotiator *negotiator = request->negotiator;
    uint64_t waited_ms = start_watch_judge(&request->start, &negotiator->start.counts, peers,
                                           loop_now_ms(negotiator->env.loop), known_ms);
    if (waited_ms > 0) {
        log_error(negotiator->env.log, "promise.broken",
                  "an idle job and a free slot matched, no limit forbade it, and no match was made "
                  "in time",
                  LOG_TEXT("user", request->facts.user), LOG_TEXT("schedd", request->facts.schedd),
                  LOG_INT("autocluster", request->facts.auto_cluster),
                  LOG_INT("waited_ms", (int64_t)waited_ms));
    }
}

static void judge_slot(struct pool_slot *slot, enum start_peers peers, uint64_t known_ms)
{
    struct negotiator *negotiator = slot->negotiator;
    uint64_t waited_ms = start_watch_judge(&slot->start, &negotiator->start.counts, peers,
                                           loop_now_ms(negotiator->env.loop), known_ms);
    if (waited_ms > 0) {
        log_error(negotiator->env.log, "promise.broken",
                  "the slot was matched, stayed free, and had no claim id left for another match",
                  LOG_TEXT("slot", slot->name), LOG_INT("waited_ms", (int64_t)waited_ms));
    }
}

static void judge_all(struct negotiator *negotiator)
{
    if (negotiator->start.counts.unjudged == 0) {
        return;
    }
    uint64_t known_ms = silence_ms(negotiator);
    for (size_t i = 0; i < negotiator->slot_numbers.items.count; i++) {
        struct pool_slot *slot = negotiator->slot_numbers.items.items[i];
        if (slot != NULL && slot->start.over_ms != 0) {
            judge_slot(slot, peers_by(negotiator, slot->facts.ad), known_ms);
        }
    }
    for (size_t i = 0; i < negotiator->request_numbers.items.count; i++) {
        struct pool_request *request = negotiator->request_numbers.items.items[i];
        if (request != NULL && request->start.over_ms != 0) {
            judge_request(request, peers_by(negotiator, request->facts.ad), known_ms);
        }
    }
}

/* ---- looks */

/* Notes which slots are free but cannot be given out.  Returns whether a free slot can be. */
static bool look_at_slots(struct negotiator *negotiator, bool wanted)
{
    bool any = false;
    for (size_t i = 0; i < negotiator->slot_numbers.items.count; i++) {
        struct pool_slot *slot = negotiator->slot_numbers.items.items[i];
        if (slot == NULL || slot->as_if != NULL || slot->facts.offline) {
            continue;
        }
        bool is_free = slot->facts.use == PLAN_USE_FREE && slot->id_count > 0;
        bool can_be_given = is_free && given_count_free(slot) > 0;
        any = any || can_be_given;
        enum start_reason lost = given_awaits_word(slot) ? START_MATCH_DECLINED : START_LATE;
        note_slot(slot, wanted && is_free && !can_be_given ? lost : START_KEPT);
    }
    return any;
}

/* Asks the plan why requests with idle jobs get nothing. */
static void ask_about_requests(struct negotiator *negotiator, bool any_free)
{
    size_t count = negotiator->request_numbers.items.count, asked = 0;
    size_t first = count > 0 ? negotiator->start.next % count : 0;
    for (size_t i = 0; i < count; i++) {
        size_t at = (first + i) % count;
        struct pool_request *request = negotiator->request_numbers.items.items[at];
        bool waits = request != NULL && request->facts.count > 0 && any_free;
        if (request != NULL && !waits) {
            note_request(request, START_KEPT);
        } else if (waits && asked < REQUESTS_MAX) {
            asked++;
            negotiator->start.next = at + 1;
            request->watched = true;
        }
    }
    if (asked > 0) {
        negotiator_cycle_soon(negotiator);
    }
}

/* Jobs of a schedd that is not heard of want nothing. */
static bool some_job_waits(const struct negotiator *negotiator)
{
    for (size_t i = 0; i < negotiator->request_numbers.items.count; i++) {
        const struct pool_request *request = negotiator->request_numbers.items.items[i];
        if (request != NULL && request->facts.count > 0 &&
            !offline_ads_is_silent(request->facts.ad)) {
            return true;
        }
    }
    return false;
}

void prompt_look(void *arg)
{
    struct negotiator *negotiator = arg;
    bool wanted =
        some_job_waits(negotiator) && is_connected(negotiator) && promise_ms(negotiator) > 0;
    ask_about_requests(negotiator, look_at_slots(negotiator, wanted) && wanted);
    judge_all(negotiator);
    if (wanted || negotiator->start.counts.unjudged > 0) {
        loop_timer_set(negotiator->start.timer, LOOK_MS);
    }
}

void prompt_cycle_done(struct negotiator *negotiator, const struct plan_output *plan)
{
    for (size_t i = 0; i < plan->rejected_count; i++) {
        struct pool_request *request =
            negotiator->request_numbers.items.items[plan->rejected[i].request];
        note_request(request, REASONS[plan->rejected[i].reason]);
        request->watched = false;
    }
    for (size_t i = 0; i < negotiator->request_numbers.items.count; i++) {
        struct pool_request *request = negotiator->request_numbers.items.items[i];
        if (request != NULL && request->watched) { /* no reason: it rests, or got what it wants */
            request->watched = false;
            note_request(request, request->facts.resting || request->facts.in_flight > 0
                                      ? START_MATCH_DECLINED
                                      : START_KEPT);
        }
    }
    if (!loop_timer_is_set(negotiator->start.timer) && some_job_waits(negotiator)) {
        loop_timer_set(negotiator->start.timer, LOOK_MS);
    }
}

void prompt_request_gone(struct pool_request *request)
{
    note_request(request, START_KEPT);
    judge_request(request, START_PEERS_HEARD, 0); /* its schedd has said so */
}

void prompt_slot_gone(struct pool_slot *slot)
{
    note_slot(slot, START_KEPT);
    judge_slot(slot, START_PEERS_HEARD, 0); /* its startd has said so */
}

void prompt_put(const struct negotiator *negotiator, struct ad *ad)
{
    start_counts_put(&negotiator->start.counts, promise_ms(negotiator), ad);
}
