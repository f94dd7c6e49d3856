/* schedd/claim/job_match.c - the request MATCH: picks a job for the slot and asks the slot's startd
 * to connect.  Also NO_MATCH.
 *
 * Nothing here is durable: until the startd connects, the job is idle after a restart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/job_match.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/random.h"
#include "base/stream/stream.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/claim/claim_prompt.h"
#include "schedd/claim/job_claims.h"
#include "schedd/queue/job_queue.h"
#include "schedd/claim/machine_trouble.h"
#include "schedd/requests/request_news.h"
#include "schedd/schedd_plan.h"
#include "schedd/schedd_state.h"
#include "wire/door.h"
#include "wire/wire.h"

#define WAIT_MAX_S      ((int64_t)366 * 24 * 3600)
#define ASK_AGAIN_MAX_S 30
#define ASK_ANEW_MS     15000 /* then ask again: the collector or the startd's uplink was away */
#define ASK_STARTED_MS                                                                         \
    30000                 /* the same of a job that had started: its machine may have rebooted \
                           */
#define ASK_KNOWN_MS 2000 /* without a connection: ask the startd whether it has the claim */

struct dial_ref {
    struct schedd *schedd;
    char claim_id[CLAIM_ID_MAX + 1];
};

static uint64_t seconds_as_ms(const struct ad *args, const char *name, int64_t max_s)
{
    int64_t value_s = ad_int_or(args, name, 1);
    value_s = value_s < 1 ? 1 : value_s > max_s ? max_s : value_s;
    return (uint64_t)value_s * 1000;
}

/* ---- does the startd still have the claim?
 *
 * A startd that ends a claim says so (CLAIM_GONE), but it may be killed first, or this schedd was.
 * Without a question the job would wait for the whole timeout of the match, or for the lease.  A
 * startd that does not have the claim runs nothing for it: it records a run before it starts it,
 * and ends, when it starts, what no claim of its own knows.
 *
 * Only the machine's own word counts, signed with the token by which it agreed to the claim: the
 * hub may answer in its place.  A job that is known to have started may still run where the
 * startd's records were lost.  So only the word that the machine was booted since makes it idle,
 * else CLAIM_GONE, which a startd that has its records sends as soon as it can, or the end of the
 * lease; it is asked about less often. */

static bool is_started(const struct claim *claim)
{
    return claim->job != NULL && claim->job->phase == JOB_ACTIVE;
}

/* Returns whether the startd agreed to the claim, is not connected, and may have lost the claim. */
static bool is_being_asked_about(const struct claim *claim)
{
    if (claim->peer != NULL || claim->schedd->stopping) {
        return false;
    }
    return claim->state == CLAIM_EXPECTED || claim->state == CLAIM_COMMITTING ||
           claim->state == CLAIM_STARTING || claim->state == CLAIM_BUSY;
}

static void set_question(struct claim *claim, uint64_t delay_ms)
{
    if (claim->state == CLAIM_EXPECTED) {
        uint64_t now_ms = loop_now_ms(claim->schedd->loop);
        uint64_t left_ms = claim->wait_until_ms > now_ms ? claim->wait_until_ms - now_ms : 0;
        loop_timer_set(claim->timer, delay_ms < left_ms ? delay_ms : left_ms);
    } else {
        loop_timer_set(claim->question, delay_ms);
    }
}

/* Returns when to ask again.  Many claims are cut at once when a network or a schedd fails. */
static uint64_t pause_of(const struct claim *claim)
{
    return is_started(claim) ? rng_jitter(loop_rng(claim->schedd->loop), ASK_STARTED_MS, 25)
                             : ASK_ANEW_MS;
}

static void judge_known(struct claim *claim, const struct wire_reply *reply)
{
    if (schedd_plan_claim_is_gone(reply->status, reply->token_id, claim->machine_token,
                                  is_started(claim))) {
        log_info(claim->schedd->log, "match.forgotten", reply->text, LOG_TEXT("slot", claim->slot),
                 LOG_TEXT("job", claim->job_id), LOG_TEXT("state", claim_state_name(claim->state)));
        claim_lost(claim, reply->status == -ESTALE ? "the machine was restarted"
                                                   : "the startd does not have the claim any more");
    } else { /* the startd has the claim and will connect, or this is not the startd's answer */
        claim->silent = reply->token_id[0] == '\0' ||
                        (reply->args != NULL && ad_bool_or(reply->args, "Dialing", false));
        set_question(claim, pause_of(claim));
    }
}

/* ---- DIAL_ME */

static void dial_answered(void *arg, struct wire_reply *reply)
{
    struct dial_ref *ref = arg;
    struct schedd *schedd = ref->schedd;
    struct claim *claim = schedd->claimed.by_id != NULL ? claims_find(schedd, ref->claim_id) : NULL;
    mem_free(ref);
    if (claim != NULL) {
        claim->asked_ms = 0;
    }
    if (claim != NULL && is_being_asked_about(claim)) {
        judge_known(claim, reply);
        return;
    }
    if (claim == NULL || (claim->state != CLAIM_ASKED && claim->state != CLAIM_WAITING)) {
        return; /* it waits no more, or has dialled since an earlier answer */
    }
    const char *digest = reply->args != NULL ? ad_string_or(reply->args, "NonceDigest", "") : "";
    int status = reply->status;
    const char *why = reply->text;
    if (status == 0 && digest[0] == '\0') {
        status = -EPROTO;
        why = "the startd's answer lacks NonceDigest, by which the machine proves its identity";
    } else if (status == 0) {
        claim_set_machine(claim, reply->token_id, digest);
    }
    bool waits = reply->args != NULL && ad_bool_or(reply->args, "Waits", false);
    uint64_t timeout_ms = schedd->settings.match_timeout_ms;
    switch (schedd_plan_dialled(status, waits, claim->state == CLAIM_WAITING)) {
    case DIALLED_EXPECT:
        if (reply->args != NULL) { /* a startd may say no more than that it is well */
            claim_set_slot(claim, ad_string_or(reply->args, "SlotName", ""), NULL);
        }
        claim_move(claim, CLAIM_EXPECTED);
        claim->wait_until_ms = loop_now_ms(schedd->loop) + timeout_ms;
        loop_timer_set(claim->timer, timeout_ms < ASK_KNOWN_MS ? timeout_ms : ASK_KNOWN_MS);
        break;
    case DIALLED_WAIT: {
        uint64_t max_ms = seconds_as_ms(reply->args, "WaitMax", WAIT_MAX_S);
        if (claim->state == CLAIM_ASKED) {
            log_info(schedd->log, "match.waits", "another claim must end first",
                     LOG_TEXT("slot", claim->slot), LOG_TEXT("job", claim->job_id),
                     LOG_INT("at_most_s", max_ms / 1000));
            claim_move(claim, CLAIM_WAITING);
        }
        claim->wait_until_ms = loop_now_ms(schedd->loop) + max_ms + timeout_ms;
        loop_timer_set(claim->timer, seconds_as_ms(reply->args, "AskAgain", ASK_AGAIN_MAX_S));
        if (claim->job == NULL) { /* taken off meanwhile */
            claim_ask_again(claim);
        }
        break;
    }
    case DIALLED_ASK_AGAIN:
        loop_timer_set(claim->timer, ASK_ANEW_MS);
        break;
    case DIALLED_LOST:
    default:
        log_info(schedd->log, "match.refused", "the startd rejected the job",
                 LOG_TEXT("slot", claim->slot), LOG_TEXT("job", claim->job_id),
                 LOG_TEXT("why", why));
        claim_lost(claim, "the startd rejected the job");
        break;
    }
}

/* Sends DIAL_ME, which asks the startd to connect.  Returns false when it could not be sent. */
static bool ask_to_dial(struct claim *claim, bool again)
{
    struct schedd *schedd = claim->schedd;
    struct wire *wire = uplink_wire(schedd->uplink);
    if (wire == NULL) {
        return false;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "ScheddAddress", schedd->self.address);
    ad_set_string(args, "ScheddName", schedd->self.name);
    ad_set_string(args, "ScheddPin", tls_identity_pin(door_identity(schedd->door)));
    ad_set_int(args, "LeaseDuration", (int64_t)(claim->lease_ms / 1000));
    ad_set_string(args, "JobId", claim->job_id);
    if (claim->preemption[0] != '\0') {
        ad_set_string(args, "Preemption", claim->preemption);
    }
    if (again) {
        ad_set_bool(args, "Again", true);
        ad_set_string(args, "BootId", claim->boot_id);
    }
    struct ad *job = job_flat(schedd, claim->job);
    const struct ad *ads[] = {job};
    const struct wire_secret id = {SECRET_CLAIM_ID, SECRET_OF_ARGS, claim->id};
    const struct wire_body body = {
        .args = args, .ads = ads, .ad_count = 1, .secrets = &id, .secret_count = 1};
    struct dial_ref *ref = mem_zalloc(sizeof(*ref));
    ref->schedd = schedd;
    (void)snprintf(ref->claim_id, sizeof(ref->claim_id), "%s", claim->id); /* bounded */
    int64_t sent = wire_relay(wire, claim->uplink, VERB_DIAL_ME, &body, 0, dial_answered, ref);
    if (sent < 0) {
        mem_free(ref);
    } else if (claim->asked_ms == 0) {
        claim->asked_ms = loop_now_ms(schedd->loop);
    }
    ad_destroy(job);
    ad_destroy(args);
    return sent >= 0;
}

void claim_question_due(struct claim *claim)
{
    if (is_being_asked_about(claim) && !PLANTED(claim_unsaid)) {
        set_question(claim, pause_of(claim)); /* if no answer comes */
        if (claim->job != NULL) {
            (void)ask_to_dial(claim, true);
        }
    }
}

void claim_ask_whether_known(struct claim *claim)
{
    set_question(claim, is_started(claim) ? pause_of(claim) : ASK_KNOWN_MS);
}

/* Gives the job to the claim; the job is JOB_MATCHED until the startd connects. */
static void bind_job(struct claim *claim, struct job *job)
{
    claim->job = job;
    job->claim = claim;
    job_id(job, claim->job_id);
    queue_move(claim->schedd, job, JOB_MATCHED);
    claim_prompt_soon(claim->schedd);
    claim_count_waiting(claim);
}

void claim_ask_again(struct claim *claim)
{
    struct job *other = claim->job == NULL ? autocluster_best(claim->autocluster) : NULL;
    if (other != NULL) { /* its job was removed or held; the slot is as good for this one */
        bind_job(claim, other);
    }
    if (claim->job == NULL) {
        claim_cancel(claim);
        claim_lost(claim, "the job was removed or held, and no other job waits");
        return;
    }
    loop_timer_set(claim->timer, ASK_ANEW_MS); /* if no answer comes */
    (void)ask_to_dial(claim, true);            /* not sent: the timer */
}

static void cancel_answered(void *arg, struct wire_reply *reply)
{
    (void)arg;
    (void)reply; /* if this was lost: the startd forgets a schedd that does not ask again */
}

void claim_cancel(const struct claim *claim)
{
    struct wire *wire = uplink_wire(claim->schedd->uplink);
    if (wire == NULL) {
        return;
    }
    const struct wire_secret id = {SECRET_CLAIM_ID, SECRET_OF_ARGS, claim->id};
    const struct wire_body body = {.secrets = &id, .secret_count = 1};
    (void)wire_relay(wire, claim->uplink, VERB_RELEASE_CLAIM, &body, 0, cancel_answered, NULL);
}

static int check_match(struct schedd *schedd, const struct ad *args, const char *id,
                       struct autocluster **autocluster)
{
    if (id[0] == '\0' || strlen(id) > CLAIM_ID_MAX ||
        ad_string_or(args, "StartdUplink", "")[0] == '\0' ||
        ad_string_or(args, "SlotName", "")[0] == '\0') {
        return -EINVAL;
    }
    if (claims_find(schedd, id) != NULL) {
        return -EEXIST;
    }
    *autocluster = autocluster_find(schedd, ad_int_or(args, "AutoClusterId", 0));
    bool preempts = ad_string_or(args, "Preemption", "")[0] != '\0';
    if (*autocluster == NULL || (autocluster_best(*autocluster) == NULL &&
                                 (preempts || (*autocluster)->waiting.count == 0))) {
        return -ENOENT;
    }
    if (schedd->settings.running_max > 0 &&
        (int64_t)strmap_count(schedd->claimed.by_id) >= schedd->settings.running_max) {
        return -EDQUOT;
    }
    if (trouble_is_avoided(schedd, ad_string_or(args, "Machine", ""))) {
        return -EAGAIN;
    }
    return schedd->stopping ? -ESHUTDOWN : 0;
}

/* A slot is free, and no job is idle: takes a job that waits until another job has left its slot.
 */
static void stop_waiting(struct autocluster *autocluster)
{
    struct claim *claim = ((const struct job *)autocluster->waiting.items[0])->claim;
    claim_cancel(claim);
    claim_lost(claim, "a free slot was found for the job that waited");
}

void claims_match(struct schedd *schedd, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *id = wire_request_secret(request, SECRET_CLAIM_ID);
    struct autocluster *autocluster = NULL;
    switch (check_match(schedd, args, id, &autocluster)) {
    case 0:
        break;
    case -EINVAL:
        wire_reply_error(request, -EINVAL, "MATCH needs a claim id, SlotName and StartdUplink");
        return;
    case -EEXIST:
        wire_reply_error(request, -EEXIST, "this claim id was used before");
        return;
    case -EDQUOT:
        wire_reply_error(request, -EDQUOT, "MAX_JOBS_RUNNING is reached");
        return;
    case -ESHUTDOWN:
        wire_reply_error(request, -ESHUTDOWN, "the schedd is stopping");
        return;
    case -EAGAIN:
        /* -ENOENT: the claim id was not used, and may be given to another */
        wire_reply_error(request, -ENOENT,
                         "starters failed on this machine; it gets no job for a while");
        return;
    default:
        wire_reply_error(request, -ENOENT, "no idle job left in autocluster %lld",
                         (long long)ad_int_or(args, "AutoClusterId", 0));
        return;
    }
    autocluster_hold(autocluster); /* else the end of a claim may free it */
    if (autocluster_best(autocluster) == NULL) {
        stop_waiting(autocluster);
    }
    struct job *job = autocluster_best(autocluster);
    if (job == NULL) { /* the job that waited was edited, or is leaving the queue */
        wire_reply_error(request, -ENOENT, "no idle job left in autocluster %lld",
                         (long long)ad_int_or(args, "AutoClusterId", 0));
        autocluster_release(schedd, autocluster);
        return;
    }
    struct claim *claim = claim_create(schedd, id, ad_string_or(args, "SlotName", ""),
                                       ad_string_or(args, "Machine", ""),
                                       ad_string_or(args, "StartdUplink", ""), autocluster);
    autocluster_release(schedd, autocluster); /* the claim holds it */
    const char *word = ad_string_or(args, "Preemption", "");
    claim->preemption = strcmp(word, "Rank") == 0       ? "Rank"
                        : strcmp(word, "Priority") == 0 ? "Priority"
                                                        : "";
    bind_job(claim, job);
    log_info(schedd->log, "job.matched", "found a slot for the job", LOG_TEXT("job", claim->job_id),
             LOG_TEXT("slot", claim->slot));
    loop_timer_set(claim->timer, schedd->settings.match_timeout_ms);
    if (!ask_to_dial(claim, false)) {
        claim_lost(claim, "no connection to the collector");
        wire_reply_error(request, -ENOTCONN, "no connection to the collector");
        return;
    }
    struct ad *answer = ad_create();
    ad_set_bool(answer, "Accepted", true);
    ad_set_string(answer, "JobId", claim->job_id);
    ad_set_int(answer, "JobCount", request_news_wanted(schedd, autocluster));
    ad_set_int(answer, "JobsWaiting", (int64_t)autocluster->waiting.count);
    const struct wire_body body = {.args = answer};
    wire_reply_ok(request, &body);
    ad_destroy(answer);
}

void claims_no_match(struct schedd *schedd, struct wire_request *request)
{
    const char *by = ad_string_or(wire_request_args(request), "LastRejMatchNegotiator", "");
    for (size_t i = 0; i < wire_request_ad_count(request); i++) {
        const struct ad *ad = wire_request_ad(request, i);
        const char *why = ad_string_or(ad, "LastRejMatchReason", "");
        struct autocluster *autocluster =
            autocluster_find(schedd, ad_int_or(ad, "AutoClusterId", 0));
        if (autocluster != NULL) {
            autocluster_rejected(schedd, autocluster, why, by);
        }
    }
    wire_reply_ok(request, NULL);
}
