/* startd/claim/activation.c - runs jobs on a claim: ACTIVATE, DEACTIVATE and RELEASE_CLAIM, which
 * come on the claim's connection.
 *
 * One job at a time.  An ACTIVATE that arrives while the starter of the last job is still cleaning
 * up waits for that: the schedd need not know when it is over.  The record of a run is committed
 * before its starter is started, and again with the starter's pid before the answer.  So a startd
 * that is started again finds the starter.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/claim/activation.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/config/config.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/claim/claim_record.h"
#include "startd/draining_facts.h"
#include "startd/sleep/going_down.h"
#include "startd/claim/job_ckpt.h"
#include "startd/owner/owner_plan.h"
#include "startd/claim/preempt.h"
#include "startd/slot/slot.h"
#include "startd/slot/slot_plan.h"
#include "startd/slot/slots.h"
#include "startd/startd_context.h"
#include "startd/startd_state.h"
#include "startd/starters.h"
#include "startd/claim/suspend.h"
#include "store/store.h"
#include "wire/job_record.h"
#include "wire/root_jobs.h"
#include "wire/wire.h"

static void begin_waiting(struct claim *claim);

static void answer_call(struct wire_request **request, int status, const char *text)
{
    struct wire_request *one = *request;
    *request = NULL;
    if (one == NULL) {
        return;
    }
    if (status == 0) {
        wire_reply_ok(one, NULL);
    } else {
        wire_reply_error(one, status, "%s", text);
    }
}

void activation_destroy(struct claim *claim)
{
    answer_call(&claim->calls.starting, -ESHUTDOWN, "the claim ended");
    answer_call(&claim->calls.activate, -ESHUTDOWN, "the claim ended");
    answer_call(&claim->calls.deactivate, -ESHUTDOWN, "the claim ended");
    answer_call(&claim->calls.release, 0, NULL);
}

/* The schedd has connected again after a lost connection: what it asked for on the old one is
 * void. */
static void forget_lost(struct claim *claim)
{
    if (claim->calls.activate != NULL && wire_request_wire(claim->calls.activate) == NULL) {
        answer_call(&claim->calls.activate, -ECONNRESET,
                    "the connection was lost"); /* nobody hears it */
    }
}

bool activation_waits(struct claim *claim)
{
    forget_lost(claim);
    return claim->calls.activate != NULL && claim->calls.release == NULL;
}

void activation_starter_gone(struct claim *claim)
{
    forget_lost(claim);
    answer_call(&claim->calls.deactivate, 0, NULL);
    /* A run may be over before its record was: it must not be begun a second time. */
    answer_call(&claim->calls.starting,
                claim->ending.machine_fault       ? -ENOMEM
                : claim->ending.starter_failed    ? -EIO
                : claim->ending.reason[0] != '\0' ? -ESHUTDOWN
                                                  : 0,
                claim->ending.reason);
    if (claim->ending.reason[0] != '\0') {
        answer_call(&claim->calls.activate, -ESHUTDOWN, claim->ending.reason);
    } else if (claim->calls.release != NULL) {
        claim_end(claim, "released", false);
    } else if (claim->calls.activate != NULL) {
        begin_waiting(claim);
    }
}

/* Returns whether the token of the schedd allows that the job runs in its owner's account, if this
 * machine has that account. */
static bool may_run_as_owner(const struct claim *claim)
{
    const struct startd *startd = claim->startd;
    const char *user = ad_string_or(claim->job.ad, "User", "");
    bool believed = owner_plan_is_believed(claim->schedd.uid_domain, claim->schedd.owners, user);
    if (!believed) {
        log_info(startd->env.log, "claim.owner_not_believed",
                 "the job will not run in its owner's account: the token of its schedd does not "
                 "name that owner",
                 LOG_TEXT("job", claim->job.id), LOG_TEXT("user", user),
                 LOG_TEXT("schedd", claim->schedd.name),
                 LOG_TEXT("uid_domain", claim->schedd.uid_domain),
                 LOG_TEXT("owners", claim->schedd.owners));
    }
    return believed;
}

/* Writes the record that the starter reads: everything it needs to run without us. */
static void write_record(struct claim *claim, const struct ad *args, const char *nonce)
{
    struct startd *startd = claim->startd;
    struct ad *record = ad_create();
    const struct wire_secret secrets[] = {{SECRET_CLAIM_ID, 0, claim->id},
                                          {SECRET_NONCE, 0, nonce}};
    static const char *const NAMES[] = {"JobId", "ClaimEpoch", "ShadowAddress", "ShadowRoute",
                                        "ShadowPin"};
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        (void)ad_copy_attr(record, NAMES[i], args, NAMES[i]); /* judged complete before */
    }
    ad_set_string(record, "SlotName", claim->slot_name);
    ad_set_string(record, "Machine", startd->name);
    ad_set_string(record, "BootId", startd->machine.boot_id);
    ad_set_int(record, "BootTime", startd->machine.boot_time_s);
    ad_set_int(record, "LeaseDuration", claim->lease.length_s);
    ad_set_int(record, "LeaseEndMs", (int64_t)claim->lease.end_ms);
    ad_set_bool(record, "MayRunAsOwner", may_run_as_owner(claim));
    ad_set_ad(record, "Job", ad_copy(claim->job.ad));
    ad_set_ad(record, "Slot", ad_copy(claim->slot->ad)); /* the job will read it */
    struct strbuf text;
    strbuf_init(&text, 0);
    job_record_write(record, secrets, ARRAY_COUNT(secrets), &text);
    mem_free(claim->run.record);
    claim->run.record = strbuf_take(&text);
    strbuf_fini(&text);
    ad_destroy(record);
}

static void spawn_recorded(void *arg)
{
    struct claim *claim = arg;
    if (claim->starter.pid != 0) { /* else that run was answered, and another is being committed */
        answer_call(&claim->calls.starting, 0, NULL);
    }
}

void activation_start(struct claim *claim)
{
    struct startd *startd = claim->startd;
    struct err err;
    if (claim->ending.reason[0] != '\0') { /* the claim ended meanwhile */
        claim_starter_gone(claim, claim->ending.reason);
        return;
    }
    if (claim->kept.pid > 0 && claim->kept.wire == NULL) {
        return; /* until it is gone: claim_kept_gone() */
    }
    bool kept = claim->kept.pid > 0;
    int rc = kept ? starters_hand_over(claim, &err) : starters_spawn(claim, &err);
    mem_free(claim->run.record); /* the starter's file has it */
    claim->run.record = NULL;
    loop_timer_set(startd->starters.trim_timer, STARTD_TRIM_MS);
    if (rc != 0) {
        log_error(startd->env.log, "starter.spawn", err.text, LOG_TEXT("job", claim->job.id));
        struct strbuf why;
        strbuf_init(&why, 0);
        strbuf_printf(&why, "the starter could not be started: %s", err.text);
        claim->starter.machine_fault = err_is_shortage(rc);
        answer_call(&claim->calls.starting, claim->starter.machine_fault ? -ENOMEM : -EIO,
                    strbuf_text(&why));
        claim_starter_gone(claim, strbuf_text(&why));
        strbuf_fini(&why);
        return;
    }
    claim_enter(claim, CLAIM_ACTIVE);
    slot_move(claim->slot, SLOT_CLAIMED, SLOT_BUSY);
    if (kept && claim->run.recorded_pid == claim->starter.pid) {
        answer_call(&claim->calls.starting, 0, NULL);
    } else {
        claim_commit(claim, spawn_recorded);
    }
    preempt_run_began(claim->slot);
}

static void run_recorded(void *arg)
{
    struct claim *claim = arg;
    claim_enter(claim, CLAIM_STARTING);
    activation_start(claim);
}

static int judge_job(struct claim *claim, struct wire_request *request, struct err *err)
{
    static const char *const NEEDED[] = {"JobId", "ShadowAddress", "ShadowRoute", "ShadowPin"};
    const struct ad *args = wire_request_args(request);
    for (size_t i = 0; i < sizeof NEEDED / sizeof NEEDED[0]; i++) {
        if (ad_string_or(args, NEEDED[i], "")[0] == '\0') {
            return err_set(err, -EINVAL, "ACTIVATE needs %s", NEEDED[i]);
        }
    }
    if (wire_request_secret(request, SECRET_NONCE)[0] == '\0') {
        return err_set(err, -EINVAL, "ACTIVATE needs a nonce");
    }
    if (wire_request_ad_count(request) != 1) {
        return err_set(err, -EINVAL, "ACTIVATE needs one job ad");
    }
    if (!slot_plan_is_job_id(ad_string_or(args, "JobId", ""))) {
        return err_set(err, -EINVAL, "ACTIVATE: JobId '%.80s' is not CLUSTER.PROC",
                       ad_string_or(args, "JobId", ""));
    }
    int rc = root_jobs_judge(claim->startd->env.os, wire_request_ad(request, 0), err);
    if (rc != 0) {
        return rc;
    }
    if (claim->startd->stopping || going_down_takes_none(claim->startd) ||
        claim->startd->farewell.begun) {
        return err_set(err, -EAGAIN, "%s is going down", claim->startd->name);
    }
    if (store_full(claim->startd->store) != 0) { /* the run could not be recorded */
        return err_set(err, -ENOMEM, "%s: %s", claim->startd->name,
                       store_problem(claim->startd->store));
    }
    rc = slots_fit(claim->slot, wire_request_ad(request, 0), err);
    struct ad_context context = startd_context(claim->startd);
    return rc != 0 ? rc
                   : slot_plan_accepts(claim->slot->ad, wire_request_ad(request, 0), &context, err);
}

/* Sets up the new run; nothing of the last run is left in it. */
static void begin_run(struct claim *claim)
{
    mem_free(claim->run.record);
    mem_free(claim->run.directory);
    claim->run = (struct claim_run){.start_ms = (int64_t)loop_now_ms(claim->startd->env.loop),
                                    .recorded_pid = claim->kept.wire != NULL ? claim->kept.pid : 0};
    claim->suspension = (struct claim_suspension){.by = claim->suspension.by};
    claim->starter.pid = 0;
    claim->starter.start = 0;
    claim->starter.adopted = false;
}

/* The last starter is gone: checks the job that waits, and commits its run. */
static void begin_waiting(struct claim *claim)
{
    struct wire_request *request = claim->calls.activate;
    const struct ad *args = wire_request_args(request);
    struct err err;
    int rc = judge_job(claim, request, &err);
    if (rc != 0) {
        const struct wire_peer *peer = wire_request_peer(request);
        log_info(claim->startd->env.log, "claim.job.declined", err.text,
                 LOG_TEXT("slot", claim->slot_name), LOG_TEXT("identity", peer->identity),
                 LOG_TEXT("verb", wire_verb_name(wire_request_verb(request))),
                 LOG_TEXT("peer", peer->address));
        answer_call(&claim->calls.activate, rc, err.text);
        claim_is_idle(claim);
        return;
    }
    (void)snprintf(claim->job.id, sizeof claim->job.id, "%s", ad_string_or(args, "JobId", ""));
    claim->job.epoch = ad_int_or(args, "ClaimEpoch", 0);
    claim_set_job(claim, wire_request_ad(request, 0));
    begin_run(claim);
    write_record(claim, args, wire_request_secret(request, SECRET_NONCE));
    starters_name_directory(claim);
    claim->calls.starting = request;
    claim->calls.activate = NULL;
    claim_enter(claim, CLAIM_RECORDING);
    claim_commit(claim, run_recorded);
}

static void take_activate(struct claim *claim, struct wire_request *request)
{
    forget_lost(claim);
    if (claim->calls.activate != NULL) {
        wire_reply_error(request, -EBUSY, "another ACTIVATE of this claim is waiting");
        return;
    }
    claim->calls.activate = request;
    if (claim->stage == CLAIM_HELD) {
        begin_waiting(claim);
    } /* else the end of the last starter, or the commit of the claim, comes first */
}

static void take_deactivate(struct claim *claim, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    bool same = strcmp(claim->job.id, ad_string_or(args, "JobId", "")) == 0 &&
                claim->job.epoch == ad_int_or(args, "ClaimEpoch", -1);
    if (!claim_plan_has_run(claim->stage) || !same) {
        wire_reply_ok(request, NULL); /* it does not run here: what was asked for is so */
        return;
    }
    answer_call(&claim->calls.deactivate, 0, NULL); /* asked twice: the later one waits */
    claim->calls.deactivate = request;
    (void)snprintf(claim->stop.kind, sizeof claim->stop.kind, "%s",
                   ad_string_or(args, "Kind", "")); /* an unknown word, or half of one, is none */
    starters_stop(claim, ad_bool_or(args, "Fast", false));
}

/* The job's owner wants the job to stand still, or to continue.  The request is answered when that
 * is begun; ALIVE reports when it is done. */
static void suspend_claim(struct claim *claim, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    bool wanted = ad_bool_or(args, "Suspended", false);
    bool same = strcmp(claim->job.id, ad_string_or(args, "JobId", "")) == 0 &&
                claim->job.epoch == ad_int_or(args, "ClaimEpoch", -1);
    if (!claim_plan_has_run(claim->stage) || !same || claim->starter.pid == 0 ||
        claim->stop.how != CLAIM_STOP_NOT) {
        wire_reply_error(request, -ESTALE, "that job is not running here, or is being ended");
        return;
    }
    if (wanted && !claim_is_suspended(claim)) {
        claim_suspend(claim, SUSPENDED_BY_USER);
    } else if (wanted) {
        claim->suspension.by = SUSPENDED_BY_USER;
    } else if (claim_is_suspended(claim)) {
        claim_continue(claim);
    }
    wire_reply_ok(request, NULL);
}

static void release_claim(struct claim *claim, struct wire_request *request)
{
    answer_call(&claim->calls.release, 0, NULL);
    claim->calls.release = request;
    if (claim_plan_has_run(claim->stage)) {
        starters_stop(claim, false); /* activation_starter_gone() ends the claim */
    } else {
        claim_end(claim, "released", false);
    }
}

void activation_request(void *arg, struct wire_request *request)
{
    struct claim *claim = arg;
    const char *id = wire_request_secret(request, SECRET_CLAIM_ID);
    enum wire_verb verb = wire_request_verb(request);
    if (verb == VERB_PING) {
        wire_reply_ok(request, NULL);
        return;
    }
    if (strlen(id) != strlen(claim->id) || !text_equal_secret(id, claim->id, strlen(id))) {
        wire_reply_error(request, -ENOKEY, "%s: the claim id does not belong to this connection",
                         claim->startd->name);
        return;
    }
    if (claim->stage == CLAIM_OVER || claim->ending.reason[0] != '\0') {
        wire_reply_error(request, -ESHUTDOWN, "the claim has ended: %s", claim->ending.reason);
        return;
    }
    if (draining_keeps(claim->startd, request, true)) {
        return;
    }
    if (verb == VERB_ACTIVATE) {
        take_activate(claim, request);
    } else if (verb == VERB_DEACTIVATE) {
        take_deactivate(claim, request);
    } else if (verb == VERB_SUSPEND_CLAIM) {
        suspend_claim(claim, request);
    } else if (verb == VERB_CHECKPOINT_CLAIM) {
        job_ckpt_asked(claim, request);
    } else if (verb == VERB_RELEASE_CLAIM) {
        release_claim(claim, request);
    } else {
        wire_reply_error(request, -ENOSYS, "a startd does not support %s", wire_verb_name(verb));
    }
}
