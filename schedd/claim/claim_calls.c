/* schedd/claim/claim_calls.c - see claim_calls.h.
 *
 * An answer finds its claim again by claim id and epoch; a claim that has ended or has another job
 * by then is left alone.  A call without an answer, because the connection broke or the time ran
 * out, has an unknown outcome: the claim stays as it is until its startd comes back and reports, or
 * the lease expires.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/claim_calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "schedd/claim/claim_accounts.h"
#include "schedd/claim/claim_wire.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/claim/job_claims.h"
#include "schedd/submission/job_dollar.h"
#include "schedd/job_moves.h"
#include "schedd/claim/job_nonce.h"
#include "schedd/queue/job_queue.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadow_runs.h"
#include "wire/wire.h"

/* A graceful stop may take as long as the machine's policy grants the job. */
#define DEACTIVATE_MS ((uint64_t)24 * 3600 * 1000)

struct call_ref {
    struct schedd *schedd;
    int64_t epoch;
    char claim_id[CLAIM_ID_MAX + 1];
};

static struct call_ref *ref_create(const struct claim *claim)
{
    struct call_ref *ref = mem_zalloc(sizeof(*ref));
    ref->schedd = claim->schedd;
    ref->epoch = claim->epoch;
    (void)snprintf(ref->claim_id, sizeof(ref->claim_id), "%s", claim->id); /* bounded */
    return ref;
}

/* Returns the claim that the call was for, if it still has the same job; else NULL.  Frees ref. */
static struct claim *ref_resolve(struct call_ref *ref)
{
    struct claim *claim =
        ref->schedd->claimed.by_id != NULL ? claims_find(ref->schedd, ref->claim_id) : NULL;
    if (claim != NULL && claim->epoch != ref->epoch) {
        claim = NULL;
    }
    mem_free(ref);
    return claim;
}

static bool outcome_is_unknown(int status)
{
    return status == -ECONNRESET || status == -ETIMEDOUT;
}

/* Sends a request to the claim's startd, with the claim id as its proof unless body has secrets of
 * its own.  Returns the number of the call, or a negative errno. */
static int64_t call_startd(struct claim *claim, enum wire_verb verb, const struct wire_body *body,
                           uint64_t deadline_ms, wire_reply_f answered)
{
    const struct wire_secret id = {SECRET_CLAIM_ID, SECRET_OF_ARGS, claim->id};
    struct wire_body proved = *body;
    if (body->secret_count == 0) {
        proved.secrets = &id;
        proved.secret_count = 1;
    }
    struct wire *wire = claim_wire(claim);
    if (wire == NULL) {
        return -ENOTCONN;
    }
    struct call_ref *ref = ref_create(claim);
    int64_t sent = wire_call(wire, verb, &proved, deadline_ms, answered, ref);
    if (sent < 0) {
        mem_free(ref);
    }
    return sent;
}

/* ---- ACTIVATE -------------------------------------------------------------------------------- */

static void activate_answered(void *arg, struct wire_reply *reply)
{
    struct claim *claim = ref_resolve(arg);
    if (claim == NULL || claim->state != CLAIM_STARTING || claim->job == NULL) {
        return;
    }
    struct schedd *schedd = claim->schedd;
    if (reply->status == 0 || outcome_is_unknown(reply->status)) {
        claim->slot_idle = false;
        claim_move(claim, CLAIM_BUSY);
        return;
    }
    log_info(schedd->log, "claim.activation_refused", "the startd did not start the job",
             LOG_TEXT("slot", claim->slot), LOG_TEXT("job", claim->job_id),
             LOG_INT("status", reply->status), LOG_TEXT("why", reply->text));
    if (reply->status == -EBUSY) {
        claim->slot_idle = false;
        claim->start.await_idle = true;
        return;
    }
    if (reply->status == -EIO || reply->status == -ENOMEM) {
        claim_failed(claim, reply->text, reply->status == -ENOMEM);
        return;
    }
    /* The job is idle again; the claim is given up, so that the same job is not offered to the
     * same slot without end. */
    struct job *job = claim->job;
    struct change *change = change_begin(schedd);
    shadow_runs_forget(change, job, true, "the startd did not start the job");
    claim_detach(claim);
    claim_run_ended(schedd, job);
    queue_move(schedd, job, JOB_IDLE);
    change_job(change, job);
    change_commit(change, NULL, NULL, NULL);
    if (reply->status == -ENOKEY) {
        struct change *end = change_begin(schedd);
        claims_end(end, claim, "the startd does not know this claim");
        change_commit(end, NULL, NULL, NULL);
        return;
    }
    claim_move(claim, CLAIM_IDLE);
    claim_move(claim, CLAIM_RELEASING);
    claim_call_release(claim);
}

static void send_activate(struct claim *claim, const char *pin)
{
    struct schedd *schedd = claim->schedd;
    const struct job *job = claim->job;
    char route[OWNER_NAME_MAX + 16];
    (void)snprintf(route, sizeof(route), "shadow/%s", job->cluster->owner->name); /* fits */
    struct ad *args = ad_create();
    ad_set_string(args, "JobId", claim->job_id);
    ad_set_int(args, "ClaimEpoch", claim->epoch);
    ad_set_string(args, "ShadowAddress", schedd->self.address);
    ad_set_string(args, "ShadowRoute", route);
    ad_set_string(args, "ShadowPin", pin);
    const struct wire_secret secrets[] = {{SECRET_CLAIM_ID, SECRET_OF_ARGS, claim->id},
                                          {SECRET_NONCE, SECRET_OF_ARGS, job_nonce(job)}};
    struct ad *flat = job_run_ad(schedd, job);
    const struct ad *ads[] = {flat};
    const struct wire_body body = {.args = args,
                                   .ads = ads,
                                   .ad_count = 1,
                                   .secrets = secrets,
                                   .secret_count = ARRAY_COUNT(secrets)};
    if (call_startd(claim, VERB_ACTIVATE, &body, 0, activate_answered) > 0) {
        claim->start.activated = true;
        loop_timer_stop(claim->wait);
    } /* else the connection is gone: when the startd is back it says that it has no starter */
    ad_destroy(flat);
    ad_destroy(args);
}

static void flush_after_commit(void *arg)
{
    claims_flush(arg);
}

/* The job has a $$() that cannot be expanded on this slot: gives up the claim, or holds the job. */
static void refuse_job(struct claim *claim)
{
    struct schedd *schedd = claim->schedd;
    if (!claim->start.cannot_ever) {
        claim_lost(claim, claim->start.cannot);
        return;
    }
    struct change *change = change_begin(schedd);
    log_info(schedd->log, "job.held", claim->start.cannot, LOG_TEXT("job", claim->job_id));
    moves_hold(change, claim->job, claim->start.cannot, HOLD_UNSPECIFIED, 0, true);
    change_commit(change, flush_after_commit, NULL, schedd);
}

/* Returns whether the job's start has to wait because the job that was started last asked for a
 * delay (NextJobStartDelay), whoever owns it: what the jobs share, such as a licence server, is to
 * have its time with each.  Else notes the delay that this job asks for. */
static bool has_to_wait(struct claim *claim)
{
    struct schedd *schedd = claim->schedd;
    uint64_t now_ms = loop_now_ms(schedd->loop);
    if (now_ms < schedd->claimed.next_start_ms) {
        claim->start.waits = true;
        loop_timer_set(claim->wait, schedd->claimed.next_start_ms - now_ms);
        log_info(schedd->log, "job.start_waits",
                 "waiting because the previous job requested a delay (NextJobStartDelay)",
                 LOG_TEXT("job", claim->job_id),
                 LOG_INT("ms", schedd->claimed.next_start_ms - now_ms));
        return true;
    }
    int64_t delay_s = job_int(claim->job, "NextJobStartDelay", 0);
    int64_t max_s = schedd->settings.start_delay_max_s;
    schedd->claimed.next_start_ms =
        delay_s > 0 ? now_ms + (uint64_t)(delay_s < max_s ? delay_s : max_s) * 1000 : 0;
    return false;
}

void claim_start(struct claim *claim)
{
    if (claim->start.cannot != NULL) {
        refuse_job(claim);
        return;
    }
    if (has_to_wait(claim)) {
        return; /* comes back here */
    }
    loop_timer_set(claim->wait, CLAIM_START_MS);
    shadow_runs_start(claim->schedd, claim->job);
}

void claims_shadow_answered(struct schedd *schedd, const char *job_id_text, int64_t epoch,
                            const char *pin, const char *why)
{
    const struct job *job = queue_job_by_id(schedd, job_id_text);
    struct claim *claim = job != NULL ? job->claim : NULL;
    if (claim == NULL || claim->state != CLAIM_STARTING || claim->epoch != epoch ||
        claim->start.activated) {
        return; /* told again, after it or we came back */
    }
    if (pin != NULL) {
        claim->start.is_served = true;
        send_activate(claim, pin);
    } else {
        claim_lost(claim, why);
    }
}

/* ---- DEACTIVATE ------------------------------------------------------------------------------ */

static void end_claim(struct claim *claim, const char *why)
{
    struct change *change = change_begin(claim->schedd);
    claims_end(change, claim, why);
    change_commit(change, NULL, NULL, NULL);
}

static void deactivate_answered(void *arg, struct wire_reply *reply)
{
    struct claim *claim = ref_resolve(arg);
    if (claim == NULL || claim->state != CLAIM_STOPPING) {
        return;
    }
    if (outcome_is_unknown(reply->status) || reply->status == -ENOKEY) {
        /* A startd that comes back with it is told that it is over, and stops the starter. */
        end_claim(claim, "the startd did not confirm that the job was stopped");
        return;
    }
    claim->slot_idle = true;
    claim_move(claim, CLAIM_IDLE);
    claim_next(claim);
}

void claim_call_deactivate(struct claim *claim)
{
    struct ad *args = ad_create();
    ad_set_string(args, "JobId", claim->job_id);
    ad_set_int(args, "ClaimEpoch", claim->epoch);
    ad_set_bool(args, "Fast", claim->stop.fast);
    if (claim->stop.kind != NULL) {
        ad_set_string(args, "Kind", claim->stop.kind);
    }
    const struct wire_body body = {.args = args};
    int64_t sent = call_startd(claim, VERB_DEACTIVATE, &body, DEACTIVATE_MS, deactivate_answered);
    ad_destroy(args);
    claim->stop.told = true;
    if (sent < 0) {
        end_claim(claim, "the job's run was to be stopped, and the startd is not connected");
    }
}

/* ---- SUSPEND_CLAIM --------------------------------------------------------------------------- */

static void suspend_answered(void *arg, struct wire_reply *reply)
{
    struct claim *claim = ref_resolve(arg);
    if (claim != NULL && reply->status != 0) {
        claim->switching = SWITCH_NONE;
        log_info(claim->schedd->log, "claim.not_suspended", reply->text,
                 LOG_TEXT("job", claim->job_id), LOG_INT("status", reply->status));
    }
}

void claim_call_suspend(struct claim *claim, bool suspended)
{
    if (claim == NULL || claim->state != CLAIM_BUSY) {
        return; /* a run that is being begun, or that has ended */
    }
    struct ad *args = ad_create();
    ad_set_string(args, "JobId", claim->job_id);
    ad_set_int(args, "ClaimEpoch", claim->epoch);
    ad_set_bool(args, "Suspended", suspended);
    const struct wire_body body = {.args = args};
    claim->switching = suspended ? SWITCH_TO_SUSPENDED : SWITCH_TO_RUNNING;
    if (call_startd(claim, VERB_SUSPEND_CLAIM, &body, 0, suspend_answered) < 0) {
        claim->switching = SWITCH_NONE;
        log_info(claim->schedd->log, "claim.not_suspended", "the startd is not connected",
                 LOG_TEXT("job", claim->job_id));
    }
    ad_destroy(args);
}

/* ---- RELEASE_CLAIM --------------------------------------------------------------------------- */

static void release_answered(void *arg, struct wire_reply *reply)
{
    (void)reply; /* the slot is free now, or will be when the startd asks to resume */
    struct claim *claim = ref_resolve(arg);
    if (claim != NULL && claim->state == CLAIM_RELEASING) {
        end_claim(claim, "released");
    }
}

void claim_call_release(struct claim *claim)
{
    const struct wire_body body = {.args = NULL};
    int64_t sent = call_startd(claim, VERB_RELEASE_CLAIM, &body, 0, release_answered);
    if (sent < 0) {
        end_claim(claim, "the claim was released while the startd was not connected");
    }
}
