/* schedd/claim/claim_prompt.c - see claim_prompt.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/claim_prompt.h"

#include "base/config/config.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/strmap.h"
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
    bool is_silent = claim->peer == NULL && (claim->state == CLAIM_ASKED || claim->silent);
    return is_silent || uplink_wire(claim->schedd->uplink) == NULL ? START_MACHINE_SILENT
                                                                   : START_LATE;
}

static void note_claim(struct claim *claim, enum start_reason reason)
{
    struct schedd *schedd = claim->schedd;
    uint64_t now_ms = loop_now_ms(schedd->loop);
    if (start_watch_note(&claim->prompt, &schedd->claimed.start_counts, reason, now_ms,
                         promise_ms(schedd))) {
        log_error(schedd->log, "promise.broken",
                  "the job was matched and the machine agreed, and the job does not run",
                  LOG_TEXT("job", claim->job_id), LOG_TEXT("slot", claim->slot),
                  LOG_TEXT("waits_for", claim->state == CLAIM_EXPECTED     ? "connection"
                                        : claim->state == CLAIM_COMMITTING ? "disk"
                                                                           : "start"),
                  LOG_INT("waited_ms", (int64_t)(now_ms - claim->prompt.since_ms)));
    }
}

static void look_at_claims(void *arg)
{
    struct schedd *schedd = arg;
    bool more = false;
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->claimed.by_id, &at, NULL, &value)) {
        struct claim *claim = value;
        note_claim(claim, reason_of(claim));
        more = more || is_to_start(claim);
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
}

void claim_prompt_put(const struct schedd *schedd, struct ad *ad)
{
    start_counts_put(&schedd->claimed.start_counts, promise_ms(schedd), ad);
}
