/* schedd/claim/job_claims.c - see job_claims.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/job_claims.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/checkpoint_plan.h"
#include "schedd/claim/claim_accounts.h"
#include "schedd/claim/claim_calls.h"
#include "schedd/claim/claim_prompt.h"
#include "schedd/claim/claim_wire.h"
#include "schedd/queue/job_ad.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/queue/job_change.h"
#include "schedd/job_events.h"
#include "schedd/job_moves.h"
#include "schedd/submission/job_dollar.h"
#include "schedd/claim/job_match.h"
#include "schedd/claim/job_nonce.h"
#include "schedd/queue/job_queue.h"
#include "schedd/job_suspensions.h"
#include "schedd/schedd_plan.h"
#include "schedd/claim/machine_attrs.h"
#include "schedd/claim/machine_trouble.h"
#include "schedd/queue/queue_table.h"
#include "schedd/requests/request_news.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadow_runs.h"
#include "store/store.h"
#include "wire/remote_attrs.h"

#define KEEP_MAX_S ((int64_t)24 * 3600) /* limit for KeepClaimIdle */

static const char *const STATE_NAMES[CLAIM_STATES] = {
    "asked",    "waiting", "expected", "committing", "idle",
    "starting", "busy",    "stopping", "releasing",
};

#define TO(state) (1U << (state))
static const unsigned MOVES[CLAIM_STATES] = {
    [CLAIM_ASKED] = TO(CLAIM_WAITING) | TO(CLAIM_EXPECTED) | TO(CLAIM_COMMITTING),
    [CLAIM_WAITING] = TO(CLAIM_EXPECTED) | TO(CLAIM_COMMITTING),
    [CLAIM_EXPECTED] = TO(CLAIM_COMMITTING),
    [CLAIM_COMMITTING] = TO(CLAIM_STARTING) | TO(CLAIM_IDLE),
    [CLAIM_IDLE] = TO(CLAIM_STARTING) | TO(CLAIM_RELEASING),
    [CLAIM_STARTING] = TO(CLAIM_STARTING) | TO(CLAIM_BUSY) | TO(CLAIM_IDLE) | TO(CLAIM_STOPPING),
    [CLAIM_BUSY] = TO(CLAIM_IDLE) | TO(CLAIM_STARTING) | TO(CLAIM_STOPPING),
    [CLAIM_STOPPING] = TO(CLAIM_IDLE),
    [CLAIM_RELEASING] = 0,
};

const char *claim_state_name(enum claim_state state)
{
    return STATE_NAMES[state];
}

/* To be called when the run that the claim was ending has ended, or nothing more can be done about
 * it: the job may get a slot again. */
static void run_has_ended(struct claim *claim)
{
    struct job *job = claim->stop.ends_run ? queue_job_by_id(claim->schedd, claim->job_id) : NULL;
    claim->stop.ends_run = false;
    if (claim->stop.keeps_run) {
        claim->stop.keeps_run = false;
        shadow_runs_ended(claim->autocluster->owner, claim->job_id, claim->epoch);
    }
    if (job != NULL) { /* else it was removed */
        queue_left(claim->schedd, job);
    }
    if (job != NULL && job->leaving == 0 && moves_owe_eviction(job)) {
        struct change *change = change_begin(claim->schedd);
        moves_tell_eviction(change, job);
        change_commit(change, NULL, NULL, NULL);
    }
}

void claim_count_waiting(struct claim *claim)
{
    bool waits = claim->state == CLAIM_WAITING && claim->autocluster != NULL;
    struct job *job = waits ? claim->job : NULL;
    if (claim->waiting != NULL && claim->waiting != job) {
        autocluster_waits(claim->schedd, claim->autocluster, claim->waiting, false);
    }
    if (job != NULL && claim->waiting != job) {
        autocluster_waits(claim->schedd, claim->autocluster, job, true);
    }
    claim->waiting = job;
}

void claim_move(struct claim *claim, enum claim_state state)
{
    CHECK((MOVES[claim->state] & TO(state)) != 0);
    run_has_ended(claim);
    log_debug(claim->schedd->log, "claim.moved", "the claim went from one of its states to another",
              LOG_TEXT("slot", claim->slot), LOG_TEXT("job", claim->job_id),
              LOG_TEXT("from", STATE_NAMES[claim->state]), LOG_TEXT("to", STATE_NAMES[state]));
    claim->state = state;
    claim_count_waiting(claim);
    claim->start.waits = false;
    loop_timer_stop(claim->wait);
    if (state == CLAIM_IDLE) {
        claim->idle_since_ms = loop_now_ms(claim->schedd->loop);
    }
}

struct claim *claims_find(const struct schedd *schedd, const char *id)
{
    return strmap_get(schedd->claimed.by_id, id);
}

/* ---- timers ---------------------------------------------------------------------------------- */

static void set_lease_timer(struct claim *claim)
{
    uint64_t now_ms = loop_now_ms(claim->schedd->loop);
    uint64_t end_ms = schedd_plan_lease_end(claim->renewed_ms, claim->lease_ms,
                                            claim->schedd->settings.lease_margin_ms);
    loop_timer_set(claim->timer, end_ms > now_ms ? end_ms - now_ms : 0);
}

/* Returns whether the claim exists in memory only. */
static bool is_only_matched(const struct claim *claim)
{
    return claim->state == CLAIM_ASKED || claim->state == CLAIM_WAITING ||
           claim->state == CLAIM_EXPECTED;
}

static void timer_fired(void *arg)
{
    struct claim *claim = arg;
    const struct schedd_settings *settings = &claim->schedd->settings;
    bool waits_on = loop_now_ms(claim->schedd->loop) < claim->wait_until_ms;
    if (claim->state == CLAIM_WAITING && waits_on) {
        claim_ask_again(claim);
        return;
    }
    if (claim->state == CLAIM_EXPECTED && waits_on) {
        claim_question_due(claim);
        return;
    }
    if (is_only_matched(claim)) {
        claim_cancel(claim);
        claim_lost(claim, "the startd did not connect in time");
        return;
    }
    uint64_t end_ms =
        schedd_plan_lease_end(claim->renewed_ms, claim->lease_ms, settings->lease_margin_ms);
    if (schedd_plan_lease_is_over(end_ms, loop_now_ms(claim->schedd->loop))) {
        claim_lost(claim, "the claim's lease has expired");
    } else {
        set_lease_timer(claim);
    }
}

/* Ends a claim whose job could not be started in CLAIM_START_MS, and says who was not there. */
static void start_is_late(struct claim *claim)
{
    char why[600];
    const struct owner *owner = claim->job != NULL ? claim->job->cluster->owner : NULL;
    const char *error = owner != NULL && !claim->start.is_served ? owner->shadow_error : NULL;
    (void)snprintf(why, sizeof why, "%s%s%s", schedd_plan_start_late(claim->start.is_served),
                   error != NULL ? ": " : "", error != NULL ? error : ""); /* cut if long */
    claim_lost(claim, why);
}

static void wait_fired(void *arg)
{
    struct claim *claim = arg;
    if (claim->state == CLAIM_IDLE) {
        claim_next(claim);
    } else if (claim->state == CLAIM_STARTING && claim->start.waits) {
        claim->start.waits = false;
        claim_start(claim);
    } else if (claim->state == CLAIM_STARTING && !claim->start.activated) {
        start_is_late(claim);
    }
}

static void question_due(void *arg)
{
    claim_question_due(arg);
}

void claim_renewed(struct claim *claim)
{
    claim->renewed_ms = loop_now_ms(claim->schedd->loop);
    set_lease_timer(claim);
}

/* ---- making and ending ----------------------------------------------------------------------- */

struct claim *claim_create(struct schedd *schedd, const char *id, const char *slot,
                           const char *machine, const char *uplink, struct autocluster *autocluster)
{
    struct claim *claim = mem_zalloc(sizeof(*claim));
    claim->schedd = schedd;
    claim->id = mem_strdup(id);
    claim->slot = mem_strdup(slot);
    claim->machine = mem_strdup(machine);
    claim->uplink = mem_strdup(uplink);
    claim->machine_token = mem_strdup("");
    claim->autocluster = autocluster;
    if (autocluster != NULL) {
        autocluster_hold(autocluster);
    }
    claim->state = CLAIM_ASKED;
    claim->preemption = "";
    claim->lease_ms = schedd->settings.claim_lease_ms;
    claim->timer = loop_timer_create(schedd->loop, timer_fired, claim);
    claim->wait = loop_timer_create(schedd->loop, wait_fired, claim);
    claim->question = loop_timer_create(schedd->loop, question_due, claim);
    CHECK(strmap_set(schedd->claimed.by_id, id, claim) == NULL);
    request_news_room(schedd);
    return claim;
}

static void claim_destroy(void *value)
{
    struct claim *claim = value;
    loop_timer_destroy(claim->timer);
    loop_timer_destroy(claim->wait);
    loop_timer_destroy(claim->question);
    mem_free(claim->id);
    mem_free(claim->slot);
    mem_free(claim->machine);
    mem_free(claim->uplink);
    mem_free(claim->machine_token);
    ad_destroy(claim->provisioned);
    ad_destroy(claim->slot_ad);
    mem_free(claim->start.cannot);
    mem_free(claim);
}

void claims_end(struct change *change, struct claim *claim, const char *why)
{
    struct schedd *schedd = claim->schedd;
    CHECK(claim->job == NULL);
    run_has_ended(claim);
    log_info(schedd->log, "claim.ended", why, LOG_TEXT("slot", claim->slot),
             LOG_TEXT("job", claim->job_id), LOG_TEXT("state", STATE_NAMES[claim->state]));
    if (change != NULL) {
        change_delete(change, "claims", claim->id);
    }
    claim_wire_close(claim);
    claim_prompt_gone(claim);
    if (claim->autocluster != NULL) {
        autocluster_release(schedd, claim->autocluster);
    }
    (void)strmap_remove(schedd->claimed.by_id, claim->id); /* it is there */
    claim_destroy(claim);
    request_news_room(schedd);
}

static void write_claim(struct change *change, const struct claim *claim)
{
    struct ad *row = ad_create();
    ad_set_string(row, "SlotName", claim->slot);
    ad_set_string(row, "Machine", claim->machine);
    ad_set_string(row, "StartdUplink", claim->uplink);
    ad_set_string(row, "MachineToken", claim->machine_token);
    ad_set_string(row, "NonceDigest", claim->nonce_digest);
    ad_set_string(row, "BootId", claim->boot_id);
    ad_set_string(row, "JobId", claim->job_id);
    ad_set_int(row, "ClaimEpoch", claim->epoch);
    ad_set_int(row, "LeaseMs", (int64_t)claim->lease_ms);
    if (claim->provisioned != NULL) {
        ad_set_ad(row, "Provisioned", ad_copy(claim->provisioned));
    }
    change_put(change, "claims", claim->id, row);
    ad_destroy(row);
}

void claim_set_machine(struct claim *claim, const char *token_id, const char *nonce_digest)
{
    mem_free(claim->machine_token);
    claim->machine_token = mem_strdup(token_id);
    (void)snprintf(claim->nonce_digest, sizeof(claim->nonce_digest), "%s",
                   nonce_digest); /* what is too long fits no nonce */
}

void claim_set_slot(struct claim *claim, const char *name, const struct ad *slot)
{
    if (name[0] != '\0' && strcmp(name, claim->slot) != 0) { /* a piece has a name of its own */
        mem_free(claim->slot);
        claim->slot = mem_strdup(name);
    }
    if (slot == NULL) {
        return;
    }
    ad_destroy(claim->slot_ad);
    const char *const *machine_attrs = claim->schedd->settings.machine_attrs;
    bool wanted = claim->schedd->wants_slots || (machine_attrs != NULL && machine_attrs[0] != NULL);
    claim->slot_ad = wanted ? ad_copy_public(slot) : NULL;
    struct ad *provisioned = ad_create();
    const char *at = ad_string_or(slot, "MachineResources", "Cpus Memory Disk");
    while (*at != '\0') {
        char kind[64], attribute[96];
        size_t length = strcspn(at, " ");
        if (length > 0 && length < sizeof(kind)) {
            memcpy(kind, at, length);
            kind[length] = '\0';
            (void)snprintf(attribute, sizeof(attribute), "%sProvisioned", kind); /* fits */
            int64_t amount = ad_int_or(slot, kind, -1);
            if (amount >= 0 && ad_name_is_valid(attribute)) {
                ad_set_int(provisioned, attribute, amount);
            }
        }
        at += length + (at[length] != '\0' ? 1 : 0);
    }
    ad_destroy(claim->provisioned);
    claim->provisioned = provisioned;
}

/* Expands $$() in the job.  An error is kept in claim->start and acted on when the rows that
 * claim_assign() writes are committed. */
static void expand_dollars(struct claim *claim, struct job *job)
{
    struct err err = {{0}};
    int result = dollar_expand(claim->schedd, job, claim->slot_ad, &err);
    mem_free(claim->start.cannot);
    claim->start.cannot = result != 0 ? mem_strdup(err.text) : NULL;
    claim->start.cannot_ever = result == -EINVAL;
}

void claim_assign(struct change *change, struct claim *claim, struct job *job)
{
    struct schedd *schedd = claim->schedd;
    job->epoch++;
    queue_move(schedd, job, JOB_CLAIMED);
    job->claim = claim;
    struct ad *own = job_own(job);
    ad_set_string(own, "RemoteHost", claim->slot);
    if (job_has(job, REMOTE_WANTED) && !ad_has(own, REMOTE_BEGAN)) {
        ad_set_int(own, REMOTE_BEGAN,
                   loop_wall_ms(schedd->loop)); /* what is older it did not make */
    }
    claim_run_given(schedd, job);
    ad_set_int(own, "NumShadowStarts", job_int(job, "NumShadowStarts", 0) + 1);
    ad_remove(own, "LastRemoteWallClockTime");
    suspensions_forget(job, false);
    checkpoint_plan_run_begins(own);
    if (claim->provisioned != NULL) {
        ad_merge(own, claim->provisioned);
    }
    expand_dollars(claim, job);
    machine_attrs_note(schedd, job, claim->slot_ad);
    claim->job = job;
    claim_prompt_soon(schedd);
    job_id(job, claim->job_id);
    claim->epoch = job->epoch;
    claim->start.activated = claim->start.is_served = false;
    claim->switching = SWITCH_NONE;
    claim->start.await_idle = false;
    int64_t job_lease_s = job_int(job, "JobLeaseDuration", schedd->settings.job_lease_s);
    uint64_t lease_ms = job_lease_s > 0 ? (uint64_t)job_lease_s * 1000 : 0;
    claim->lease_ms = schedd->settings.claim_lease_ms;
    if (lease_ms > 0 && lease_ms < claim->lease_ms) {
        claim->lease_ms = lease_ms;
    }
    write_claim(change, claim);
    nonce_make(change, job);
    change_job(change, job);
}

void claim_detach(struct claim *claim)
{
    if (claim->job != NULL) {
        CHECK(claim->job->claim == claim);
        claim->job->claim = NULL;
        claim->job = NULL;
        claim_count_waiting(claim);
    }
}

static void flush_after_commit(void *arg)
{
    claims_flush(arg);
}

/* Counts an eviction in the ad of a job that ran. */
static void count_vacate(struct schedd *schedd, struct job *job, bool preempted)
{
    struct ad *own = job_own(job);
    ad_set_int(own, "LastVacateTime", loop_wall_s(schedd->loop));
    ad_set_int(own, "NumVacates", job_int(job, "NumVacates", 0) + 1);
    if (preempted) {
        ad_set_int(own, "NumPreemptions", job_int(job, "NumPreemptions", 0) + 1);
    }
}

enum loss { LOST, PREEMPTED, FAILED, MACHINE_FAILED };

static void tell_loss(struct change *change, struct job *job, const char *why, enum loss loss)
{
    bool ran = job->phase == JOB_ACTIVE;
    if (ran && ad_has(job_own(job), "JobDisconnectedDate")) {
        events_lost(change, job, why);
    } else if ((loss == FAILED || loss == MACHINE_FAILED) && (ran || job->phase == JOB_CLAIMED)) {
        events_starter_failed(change, job, why);
    } else if (ran) {
        events_evicted(change, job, 0, 0, why);
    }
}

/* Counts a failed starter in the job's ad.  Returns true when the job was held because of too many
 * failures. */
static bool hold_for_failures(struct change *change, struct claim *claim, struct job *job,
                              const char *why)
{
    struct schedd *schedd = claim->schedd;
    struct ad *own = job_own(job);
    int64_t failures = job_int(job, "NumStarterFailures", 0) + 1;
    ad_set_int(own, "NumStarterFailures", failures);
    if (!schedd_plan_failures_hold(failures, schedd->settings.starter_failures_max)) {
        return false;
    }
    char text[512];
    (void)snprintf(text, sizeof(text), "Error from %s: %s (the job could not be run %lld times)",
                   claim->slot, why, (long long)failures); /* cut if long */
    ad_set_int(own, "NumSystemHolds", job_int(job, "NumSystemHolds", 0) + 1);
    moves_hold(change, job, text, HOLD_NOT_STARTED, 0, true);
    return true;
}

static void lose_claim(struct claim *claim, const char *why, enum loss loss)
{
    struct schedd *schedd = claim->schedd;
    struct job *job = claim->job;
    bool durable = !is_only_matched(claim);
    bool held = false;
    struct change *change = change_begin(schedd);
    if (loss == FAILED || loss == MACHINE_FAILED) {
        trouble_note(schedd, claim->machine, claim->claimed_ms, loss == MACHINE_FAILED);
    }
    if (job != NULL) {
        char id[JOB_ID_SIZE];
        job_id(job, id);
        log_info(schedd->log, "job.evicted", why, LOG_TEXT("job", id),
                 LOG_TEXT("slot", claim->slot));
        claim_detach(claim);
        if (durable) {
            tell_loss(change, job, why, loss);
            if (PLANTED(checkpoint_forgotten)) {
                (void)checkpoint_plan_forget(job_own(job));
            }
            if (job->phase == JOB_ACTIVE) {
                count_vacate(schedd, job, loss == PREEMPTED);
            }
            ad_set_string(job_own(job), "VacateReason", why);
            held = loss == FAILED && hold_for_failures(change, claim, job, why);
        }
        if (durable && !held) {
            claim_run_ended(schedd, job);
            shadow_runs_forget(change, job, true, why);
        }
        if (!held) {
            queue_move(schedd, job, JOB_IDLE);
        }
        if (durable && !held) {
            change_job(change, job);
        }
    }
    claims_end(durable ? change : NULL, claim, why);
    change_commit(change, flush_after_commit, NULL, schedd);
}

void claim_lost(struct claim *claim, const char *why)
{
    lose_claim(claim, why, LOST);
}

void claim_preempted(struct claim *claim, const char *why)
{
    lose_claim(claim, why, PREEMPTED);
}

void claim_failed(struct claim *claim, const char *why, bool machine_fault)
{
    lose_claim(claim, why, machine_fault ? MACHINE_FAILED : FAILED);
}

/* ---- what an idle claim does ----------------------------------------------------------------- */

struct claim_ref {
    struct schedd *schedd;
    int64_t epoch;
    char id[CLAIM_ID_MAX + 1];
};

static struct claim_ref *ref_create(const struct claim *claim)
{
    struct claim_ref *ref = mem_zalloc(sizeof(*ref));
    ref->schedd = claim->schedd;
    ref->epoch = claim->epoch;
    (void)snprintf(ref->id, sizeof(ref->id), "%s", claim->id); /* bounded at creation */
    return ref;
}

static void start_after_commit(void *arg)
{
    struct claim_ref *ref = arg;
    struct claim *claim = claims_find(ref->schedd, ref->id);
    if (claim != NULL && claim->state == CLAIM_STARTING && claim->epoch == ref->epoch &&
        claim->job != NULL) {
        claim_start(claim);
    }
    mem_free(ref);
}

static void give_job(struct change *change, struct claim *claim, struct job *job)
{
    claim_assign(change, claim, job);
    claim_move(claim, CLAIM_STARTING);
    change_commit(change, start_after_commit, mem_free, ref_create(claim));
}

void claim_restart(struct claim *claim)
{
    struct job *job = claim->job;
    bool was_busy = claim->state == CLAIM_STARTING && claim->start.await_idle;
    CHECK(job != NULL);
    if (++claim->start.restarts > CLAIM_RESTARTS_MAX) {
        claim_failed(claim,
                     was_busy ? "the slot was not idle repeatedly when the job was to start"
                              : "the startd lost the job repeatedly",
                     true);
        return;
    }
    struct change *change = change_begin(claim->schedd);
    shadow_runs_forget(change, job, true,
                       was_busy ? "the slot was not idle yet" : "the startd lost the job");
    claim_run_ended(claim->schedd, job);
    claim_detach(claim);
    give_job(change, claim, job);
}

static int64_t claims_with_jobs(const struct schedd *schedd)
{
    int64_t count = 0;
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->claimed.by_id, &at, NULL, &value)) {
        count += ((const struct claim *)value)->job != NULL ? 1 : 0;
    }
    return count;
}

static enum plan_next judge_next(const struct claim *claim, bool job_waits, uint64_t *wait_ms)
{
    const struct schedd *schedd = claim->schedd;
    struct plan_claim facts = {
        .job_waits = job_waits,
        .may_run_more = schedd->settings.running_max <= 0 ||
                        claims_with_jobs(schedd) < schedd->settings.running_max,
        .stopping = schedd->stopping,
        .now_ms = loop_now_ms(schedd->loop),
        .claimed_ms = claim->claimed_ms,
        .idle_ms = claim->idle_since_ms,
        .worklife_ms = schedd->settings.claim_worklife_ms,
        .linger_ms = claim->keep_ms > schedd->settings.claim_idle_ms
                         ? claim->keep_ms
                         : schedd->settings.claim_idle_ms,
    };
    return schedd_plan_next(&facts, wait_ms);
}

static struct job *best_for(const struct claim *claim)
{
    return claim->autocluster != NULL ? autocluster_best(claim->autocluster) : NULL;
}

static void give_next(struct claim *claim, struct job *job)
{
    claim->start.restarts = 0;
    give_job(change_begin(claim->schedd), claim, job);
}

void claim_next_with_result(struct claim *claim)
{
    uint64_t wait_ms = 0;
    struct job *job = claim->state == CLAIM_IDLE && claim->slot_idle ? best_for(claim) : NULL;
    if (job != NULL && judge_next(claim, true, &wait_ms) == NEXT_ACTIVATE) {
        give_next(claim, job);
    } /* else claims_flush() sees to it when the result is committed */
}

void claim_next(struct claim *claim)
{
    CHECK(claim->state == CLAIM_IDLE && claim->job == NULL);
    if (!claim->slot_idle) {
        return; /* the ALIVE that says so comes */
    }
    struct job *job = best_for(claim);
    uint64_t wait_ms = 0;
    switch (judge_next(claim, job != NULL, &wait_ms)) {
    case NEXT_ACTIVATE:
        give_next(claim, job);
        break;
    case NEXT_WAIT:
        loop_timer_set(claim->wait, wait_ms);
        break;
    case NEXT_RELEASE:
    default:
        claim_move(claim, CLAIM_RELEASING);
        claim_call_release(claim);
        break;
    }
}

static void each_claim(struct schedd *schedd, bool (*wanted)(const struct claim *claim),
                       void (*act)(struct claim *claim))
{
    struct vec found = {0};
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->claimed.by_id, &at, NULL, &value)) {
        if (wanted(value)) {
            vec_push(&found, value);
        }
    }
    for (size_t i = 0; i < found.count; i++) {
        act(found.items[i]); /* may end that claim, but no other */
    }
    vec_fini(&found, NULL);
}

static bool can_take_a_job(const struct claim *claim)
{
    return claim->state == CLAIM_IDLE && claim->slot_idle && claim->autocluster != NULL &&
           claim->autocluster->idle_count > 0;
}

/* Gives idle jobs to claims that wait for one. */
static void claims_offer(struct schedd *schedd)
{
    each_claim(schedd, can_take_a_job, claim_next);
}

static bool is_to_be_stopped(const struct claim *claim)
{
    return claim->state == CLAIM_STOPPING && !claim->stop.told;
}

/* Returns true for a claim that waits for another to end and has no job any more: it gets another
 * job, or no job need be preempted for it. */
static bool is_waiting_for_nobody(const struct claim *claim)
{
    return claim->state == CLAIM_WAITING && claim->job == NULL;
}

/* Returns true for a claim without a job whose startd is about to connect, and that no other job
 * could use. */
static bool is_in_vain(const struct claim *claim)
{
    return claim->state == CLAIM_EXPECTED && claim->job == NULL &&
           (claim->autocluster == NULL || autocluster_best(claim->autocluster) == NULL);
}

static void give_up(struct claim *claim)
{
    claim_cancel(claim);
    claim_lost(claim, "the job was removed or held, and no other job waits");
}

static bool is_at_rest(const struct claim *claim)
{
    return claim->state == CLAIM_IDLE && claim->slot_idle && !loop_timer_is_set(claim->wait);
}

void claims_flush(struct schedd *schedd)
{
    each_claim(schedd, is_to_be_stopped, claim_call_deactivate);
    each_claim(schedd, is_waiting_for_nobody, claim_ask_again);
    each_claim(schedd, is_in_vain, give_up);
    each_claim(schedd, is_at_rest, claim_next);
    claims_offer(schedd);
}

void claims_take_job(struct job *job, bool stop, bool fast)
{
    struct claim *claim = job->claim;
    if (claim == NULL) {
        return;
    }
    claim_detach(claim);
    int64_t keep_s = stop ? 0 : job_int(job, "KeepClaimIdle", 0);
    claim->keep_ms = keep_s > 0 ? (uint64_t)(keep_s < KEEP_MAX_S ? keep_s : KEEP_MAX_S) * 1000 : 0;
    switch (claim->state) {
    case CLAIM_ASKED:
    case CLAIM_WAITING:
    case CLAIM_EXPECTED:
    case CLAIM_COMMITTING:
        break; /* another job takes its place when the startd dials */
    case CLAIM_STARTING:
    case CLAIM_BUSY:
        if (!stop) {
            /* The starter is about to end; the startd lets the next ACTIVATE wait for that. */
            claim->slot_idle = true;
            claim_move(claim, CLAIM_IDLE); /* claims_flush() goes on with it */
        } else if (claim->start.activated) {
            claim_move(claim, CLAIM_STOPPING);
            claim->stop.ends_run = true;
            queue_leaves(job);
            claim->stop.told = false;
            claim->stop.fast = fast;
        } else {
            claim_move(claim, CLAIM_IDLE); /* claims_flush() goes on with it */
            claim->slot_idle = true;
            claim->stop.told = false;
        }
        break;
    default:
        CHECK(claim->state == CLAIM_BUSY); /* in the others a claim has no job */
    }
}

bool claims_keep_run(const struct schedd *schedd, const struct job *job, int64_t epoch)
{
    char id[JOB_ID_SIZE];
    size_t at = 0;
    void *value = NULL;
    job_id(job, id);
    while (job->leaving > 0 && strmap_next(schedd->claimed.by_id, &at, NULL, &value)) {
        const struct claim *claim = value;
        if (claim->stop.keeps_run && claim->epoch == epoch && strcmp(claim->job_id, id) == 0) {
            return true;
        }
    }
    return false;
}

void claims_init(struct schedd *schedd)
{
    schedd->claimed.by_id = strmap_create(STRMAP_CASE_SENSITIVE);
    claim_prompt_init(schedd);
}

void claims_fini(struct schedd *schedd)
{
    strmap_destroy(schedd->claimed.by_id, claim_destroy);
    schedd->claimed.by_id = NULL;
    claim_prompt_fini(schedd);
}
