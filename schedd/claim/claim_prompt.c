/* schedd/claim/claim_prompt.c - see claim_prompt.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/claim_prompt.h"

#include <stdio.h>

#include "base/config/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "schedd/claim/claim_wire.h"
#include "schedd/claim/job_claims.h"
#include "schedd/schedd_state.h"
#include "wire/wire.h"

#define LOOK_MS 1000

static uint64_t promise_ms(const struct schedd *schedd)
{
    return (uint64_t)config_duration_ms(schedd->config, "JOB_START_PROMISE");
}

/* Returns whether the claim has a job that is yet to be started. */
static bool is_to_start(const struct claim *claim)
{
    return claim->job != NULL &&
           (claim->state == CLAIM_ASKED || claim->state == CLAIM_WAITING ||
            claim->state == CLAIM_EXPECTED || claim->state == CLAIM_COMMITTING ||
            claim->state == CLAIM_STARTING);
}

/* Returns whether the startd is known not to answer. */
static bool is_silent(const struct claim *claim)
{
    return claim->peer != NULL ? claim->peer->silent || claim->pinged
                               : claim->state == CLAIM_ASKED || claim->silent;
}

static enum start_reason reason_of(const struct claim *claim)
{
    if (!is_to_start(claim)) {
        return START_KEPT;
    }
    if (claim->state == CLAIM_WAITING || claim->start.await_idle) {
        return START_SLOT_IN_USE;
    }
    if (claim->start.waits) {
        return START_DELAYED;
    }
    return is_silent(claim) || uplink_wire(claim->schedd->uplink) == NULL ? START_MACHINE_SILENT
                                                                          : START_LATE;
}

static void note_claim(struct claim *claim, enum start_reason reason)
{
    struct schedd *schedd = claim->schedd;
    struct start_counts *counts = &schedd->claimed.start_counts;
    uint64_t now_ms = loop_now_ms(schedd->loop);
    bool was_unjudged = claim->prompt.over_ms != 0;
    start_watch_note(&claim->prompt, counts, reason, now_ms, promise_ms(schedd));
    if (claim->prompt.over_ms != 0 && !was_unjudged) {
        claim->late.state = claim->state;
        (void)snprintf(claim->late.job_id, sizeof claim->late.job_id, "%s", claim->job_id);
    }
}

/* What is known of the startd, after a promise was not kept. */
static enum start_peers peers_of(const struct claim *claim)
{
    if (claim->peer != NULL) {
        return claim->peer->silent ? START_PEERS_SILENT : START_PEERS_HEARD;
    }
    if (claim->state != CLAIM_EXPECTED) { /* it was connected */
        return START_PEERS_SILENT;
    }
    uint64_t now_ms = loop_now_ms(claim->schedd->loop);
    bool does_not_answer = claim->asked_ms != 0 && now_ms - claim->asked_ms > WIRE_ANSWER_MS;
    return claim->silent || does_not_answer             ? START_PEERS_SILENT
           : uplink_wire(claim->schedd->uplink) == NULL ? START_PEERS_UNKNOWN
                                                        : START_PEERS_HEARD;
}

static void judge_claim(struct claim *claim, uint64_t silence_ms)
{
    struct schedd *schedd = claim->schedd;
    enum claim_state state = claim->late.state;
    uint64_t waited_ms = start_watch_judge(&claim->prompt, &schedd->claimed.start_counts,
                                           peers_of(claim), loop_now_ms(schedd->loop), silence_ms);
    if (waited_ms > 0) {
        log_error(schedd->log, "promise.broken",
                  "the job was matched and the machine agreed, and the job did not run in time",
                  LOG_TEXT("job", claim->late.job_id), LOG_TEXT("slot", claim->slot),
                  LOG_TEXT("waits_for", state == CLAIM_EXPECTED     ? "connection"
                                        : state == CLAIM_COMMITTING ? "disk"
                                                                    : "start"),
                  LOG_INT("waited_ms", (int64_t)waited_ms));
    }
}

/* ---- is the machine there?
 *
 * A connection over a link that is cut looks well for seconds.  So a startd that is connected, and
 * is late, is asked at each look; one that has not answered by the next look excuses the wait. */

struct ping_ref {
    struct schedd *schedd;
    char claim_id[CLAIM_ID_MAX + 1];
};

static void ping_answered(void *arg, struct wire_reply *reply)
{
    (void)reply; /* also that the connection was lost */
    struct ping_ref *ref = arg;
    struct schedd *schedd = ref->schedd;
    struct claim *claim =
        schedd->claimed.by_id != NULL ? strmap_get(schedd->claimed.by_id, ref->claim_id) : NULL;
    if (claim != NULL) {
        claim->pinged = false;
    }
    mem_free(ref);
}

static void ping(struct claim *claim)
{
    if (claim->peer == NULL || claim->pinged) {
        return;
    }
    struct ping_ref *ref = mem_zalloc(sizeof *ref);
    ref->schedd = claim->schedd;
    (void)snprintf(ref->claim_id, sizeof ref->claim_id, "%s", claim->id); /* bounded */
    if (wire_call(claim->peer->wire, VERB_PING, NULL, 0, ping_answered, ref) > 0) {
        claim->pinged = true;
    } else {
        mem_free(ref);
    }
}

static void look_at_claims(void *arg)
{
    struct schedd *schedd = arg;
    bool more = false;
    size_t at = 0;
    void *value = NULL;
    uint64_t silence_ms = wire_silence_ms(strmap_count(schedd->claimed.by_id));
    while (strmap_next(schedd->claimed.by_id, &at, NULL, &value)) {
        struct claim *claim = value;
        enum start_reason reason = reason_of(claim);
        note_claim(claim, reason);
        if (reason == START_LATE) {
            ping(claim);
        }
        judge_claim(claim, silence_ms);
        more = more || is_to_start(claim) || claim->prompt.over_ms != 0;
    }
    if (more) {
        claim_prompt_soon(schedd);
    }
}

void claim_prompt_init(struct schedd *schedd)
{
    schedd->claimed.start_timer = loop_timer_create(schedd->loop, look_at_claims, schedd);
}

void claim_prompt_fini(struct schedd *schedd)
{
    loop_timer_destroy(schedd->claimed.start_timer);
    schedd->claimed.start_timer = NULL;
}

void claim_prompt_soon(struct schedd *schedd)
{
    if (schedd->claimed.start_timer != NULL && !loop_timer_is_set(schedd->claimed.start_timer)) {
        loop_timer_set(schedd->claimed.start_timer, LOOK_MS);
    }
}

void claim_prompt_gone(struct claim *claim)
{
    note_claim(claim, START_KEPT);
    judge_claim(claim, 0); /* now, or never */
}

void claim_prompt_put(const struct schedd *schedd, struct ad *ad)
{
    start_counts_put(&schedd->claimed.start_counts, promise_ms(schedd), ad);
}
