/* schedd/shadows/job_results.c - see job_results.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/shadows/job_results.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "classad/ad.h"
#include "schedd/checkpoint_plan.h"
#include "schedd/claim/claim_accounts.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/job_checkpoints.h"
#include "schedd/claim/job_claims.h"
#include "schedd/job_events.h"
#include "schedd/questions/job_history.h"
#include "schedd/job_moves.h"
#include "schedd/policy/job_policy.h"
#include "schedd/queue/job_queue.h"
#include "schedd/submission/job_spool.h"
#include "schedd/claim/machine_trouble.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_plan.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadow_runs.h"
#include "schedd/shadows/transfer_turns.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

/* Attributes that a run may report about itself. */
static const char *const USAGE[] = {
    "RemoteUserCpu",      "RemoteSysCpu",        "MemoryUsage",
    "ResidentSetSize",    "ImageSize",           "DiskUsage",
    "BytesSent",          "BytesRecvd",          "NumPids",
    "CpusUsage",          "ScratchDirFileCount", "TransferDoneBytes",
    "TransferTotalBytes", "NetworkInputMb",      "NetworkOutputMb",
    "RemoteEnergyUsed",
};
static const char *const EXIT[] = {
    "ExitCode", "ExitSignal", "ExitBySignal", "JobCoreDumped", "ExitReason",
};

static void copy_some(struct ad *to, const struct ad *from, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct ad_expr *expr = ad_lookup(from, names[i]);
        if (expr != NULL && ad_expr_is_literal(expr)) {
            (void)ad_copy_attr(to, names[i], from, names[i]); /* it is there */
        }
    }
}

/* ---- answering after the commit -------------------------------------------------------------- */

struct pending {
    struct schedd *schedd;
    struct wire_request *request;
    bool placed;
    char id[JOB_ID_SIZE]; /* job of a result, logged when it is durable; empty: not a result */
    int64_t epoch, exit_code;
};

static void answer_ok(struct wire_request *request, bool placed)
{
    struct ad *args = ad_create();
    ad_set_bool(args, "Placed", placed);
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

static void answer_after_commit(void *arg)
{
    struct pending *pending = arg;
    if (pending->id[0] != '\0') {
        log_info(pending->schedd->log, "job.result", "the result of the job is committed",
                 LOG_TEXT("job", pending->id), LOG_INT("epoch", pending->epoch),
                 LOG_INT("exit_code", pending->exit_code));
    }
    answer_ok(pending->request, pending->placed);
    claims_flush(pending->schedd);
    mem_free(pending);
}

static void report_dropped(void *arg)
{
    struct pending *pending = arg;
    wire_reply_error(pending->request, -ESHUTDOWN, "the schedd is stopping");
    mem_free(pending);
}

static void commit_and_answer(struct change *change, struct schedd *schedd,
                              struct wire_request *request, bool placed)
{
    struct pending *pending = mem_alloc(sizeof(*pending));
    *pending = (struct pending){.schedd = schedd, .request = request, .placed = placed};
    change_commit(change, answer_after_commit, report_dropped, pending);
}

/* ---- a job that is no longer in the queue ---------------------------------------------------- */

struct lookup {
    struct wire_request *request;
    int64_t epoch;
    char job_id[JOB_ID_SIZE];
    char owner[OWNER_NAME_MAX + 1]; /* owner whose shadow asks */
};

static void found_finished(void *arg, int64_t finished_epoch, const char *owner)
{
    struct lookup *lookup = arg;
    const struct plan_result facts = {
        .epoch = lookup->epoch,
        .finished = finished_epoch >= 0,
        .finished_epoch = finished_epoch,
    };
    if (finished_epoch >= 0 && strcmp(owner, lookup->owner) != 0 && owner[0] != '\0') {
        wire_reply_error(lookup->request, -EPERM, "job %s does not belong to %s", lookup->job_id,
                         lookup->owner);
    } else if (schedd_plan_result(&facts) == RESULT_DONE && owner[0] != '\0') {
        answer_ok(lookup->request, true);
    } else {
        wire_reply_error(lookup->request, -ESTALE,
                         "this run of the job has been replaced or has ended");
    }
    mem_free(lookup);
}

static void ask_history(struct schedd *schedd, const struct owner *owner, const char *id,
                        int64_t epoch, struct wire_request *request)
{
    int64_t cluster = 0;
    int64_t proc = -1;
    if (!job_id_parse(id, &cluster, &proc) || proc < 0) {
        wire_reply_error(request, -EINVAL, "'%s' is not a job id", id);
        return;
    }
    struct lookup *lookup = mem_alloc(sizeof(*lookup));
    *lookup = (struct lookup){.request = request, .epoch = epoch};
    (void)snprintf(lookup->owner, sizeof lookup->owner, "%s", owner->name); /* fits */
    (void)snprintf(lookup->job_id, sizeof lookup->job_id, "%" PRId64 ".%" PRId64, cluster, proc);
    history_epoch(schedd, cluster, proc, found_finished, lookup);
}

/* ---- reports --------------------------------------------------------------------------------- */

/* Logs the start and the end of a transfer, which are reported together. */
static void note_transfer(struct change *change, struct job *job, const struct ad *args,
                          enum event_transfer started)
{
    bool in = started == TRANSFER_IN_STARTED;
    int64_t began_ms = ad_int_or(args, in ? "InputStarted" : "OutputStarted", 0);
    int64_t ended_ms = ad_int_or(args, in ? "InputFinished" : "OutputFinished", 0);
    if (began_ms > 0 && ended_ms >= began_ms) {
        events_transfer(change, job, started, began_ms);
        events_transfer(change, job, (enum event_transfer)(started + 1), ended_ms);
    }
}

/* Notes that the job's program has started, or had started. */
static void begin_run(struct change *change, struct job *job, const struct ad *args)
{
    struct schedd *schedd = change_schedd(change);
    struct ad *own = job_own(job);
    turns_clear(own);
    queue_move(schedd, job, JOB_ACTIVE);
    ad_set_int(own, "NumJobStarts", job_int(job, "NumJobStarts", 0) + 1);
    claim_run_began(schedd, job);
    const char *boot_id = ad_string_or(args, "BootId", "");
    if (boot_id[0] != '\0') {
        ad_set_string(own, "RemoteBootId", boot_id);
    }
    note_transfer(change, job, args, TRANSFER_IN_STARTED);
    events_executing(change, job, args);
    change_job(change, job);
    char id[JOB_ID_SIZE];
    job_id(job, id);
    log_info(schedd->log, "job.started", "the job is running", LOG_TEXT("job", id),
             LOG_TEXT("slot", ad_string_or(own, "RemoteHost", "")));
}

static void handle_started(struct schedd *schedd, struct job *job, struct wire_request *request)
{
    struct change *change = change_begin(schedd);
    if (job->phase == JOB_CLAIMED) {
        const struct ad *args = wire_request_args(request);
        checkpoint_plan_resumed(job_own(job), ad_int_or(args, CKPT_SEQUENCE, 0));
        begin_run(change, job, args);
    } /* else said again: the answer was lost */
    commit_and_answer(change, schedd, request, false);
}

static void handle_hold(struct schedd *schedd, struct job *job, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct change *change = change_begin(schedd);
    const char *why = ad_string_or(args, "HoldReason", "held by its shadow");
    char id[JOB_ID_SIZE];
    job_id(job, id);
    log_info(schedd->log, "job.held", why, LOG_TEXT("job", id));
    ad_set_int(job_own(job), "NumSystemHolds", job_int(job, "NumSystemHolds", 0) + 1);
    moves_hold(change, job, why, (int)ad_int_or(args, "HoldReasonCode", 0),
               (int)ad_int_or(args, "HoldReasonSubCode", 0), false);
    commit_and_answer(change, schedd, request, false);
}

/* The job was evicted, and its shadow keeps the files that it had made for its next run. */
static void handle_evicted(struct schedd *schedd, struct job *job, int64_t epoch,
                           struct wire_request *request)
{
    struct change *change = change_begin(schedd);
    ad_set_int(job_own(job), "SpooledEpoch", epoch);
    change_job(change, job);
    commit_and_answer(change, schedd, request, false);
}

/* The shadow has kept a checkpoint, or a checkpoint could not be resumed. */
static void handle_checkpoint(struct schedd *schedd, struct job *job, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct change *change = change_begin(schedd);
    if (strcmp(ad_string_or(args, "Event", ""), CKPT_EVENT_TAKEN) == 0) {
        copy_some(job_own(job), args, USAGE, ARRAY_COUNT(USAGE));
        checkpoints_taken(change, job, args);
    } else {
        checkpoints_refused(change, job, args);
    }
    commit_and_answer(change, schedd, request, false);
}

static bool is_of_checkpoints(const char *event)
{
    return strcmp(event, CKPT_EVENT_TAKEN) == 0 || strcmp(event, CKPT_EVENT_REFUSED) == 0;
}

static void handle_usage(struct schedd *schedd, struct job *job, const struct ad *args)
{
    /* Before its start is told nothing is told of its size. */
    bool news = job->phase == JOB_ACTIVE && events_usage_is_news(schedd, job, args);
    struct change *change = news ? change_begin(schedd) : NULL;
    if (change != NULL) {
        events_usage(change, job, args);
    }
    /* Else in memory only: it goes to disk with the next change of the job. */
    copy_some(job_own(job), args, USAGE, ARRAY_COUNT(USAGE));
    if (change != NULL) {
        change_job(change, job);
        change_commit(change, NULL, NULL, NULL);
    }
}

static void handle_status(struct schedd *schedd, struct job *job, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *event = ad_string_or(args, "Event", "");
    bool runs = job->phase == JOB_CLAIMED || job->phase == JOB_ACTIVE;
    if (strcmp(event, "Ask") == 0 && job->phase == JOB_COMPLETED) {
        commit_and_answer(change_begin(schedd), schedd, request, true);
    } else if (strcmp(event, "Ask") == 0) {
        wire_reply_error(request, -EAGAIN,
                         "this is the job's current run, and its result is not committed yet");
    } else if (strcmp(event, "Usage") == 0) {
        handle_usage(schedd, job, args);
        wire_reply_ok(request, NULL);
    } else if (strcmp(event, "Started") == 0 && runs) {
        handle_started(schedd, job, request);
    } else if (strcmp(event, "Evicted") == 0 && runs) {
        handle_evicted(schedd, job, job->epoch, request);
    } else if (is_of_checkpoints(event) &&
               (runs || job->phase == JOB_IDLE || job->phase == JOB_MATCHED)) {
        handle_checkpoint(schedd, job, request);
    } else if (strcmp(event, "Hold") == 0 && (runs || job->phase == JOB_PLACING)) {
        handle_hold(schedd, job, request);
    } else {
        wire_reply_error(request, -ESTALE, "JOB_STATUS %s does not fit the state of the job",
                         event);
    }
}

/* Handles a report of a run that was told to end (vacated, held): files that it has left are
 * accepted, its result is not. */
static void last_words(struct schedd *schedd, struct job *job, int64_t epoch,
                       struct wire_request *request)
{
    const char *event = ad_string_or(wire_request_args(request), "Event", "");
    bool is_status = wire_request_verb(request) == VERB_JOB_STATUS;
    if (is_status && strcmp(event, "Ask") == 0) {
        wire_reply_error(request, -EAGAIN, "this run is being ended");
    } else if (is_status && strcmp(event, "Evicted") == 0) {
        handle_evicted(schedd, job, epoch, request);
    } else if (is_status && strcmp(event, CKPT_EVENT_TAKEN) == 0 &&
               checkpoints_take_late(job, epoch)) {
        handle_checkpoint(schedd, job, request);
    } else {
        wire_reply_error(request, -ESTALE, "this run was told to end; its result does not count");
    }
}

/* Notes the exit of a run: removes what an earlier run has left about the other kind of exit (code
 * or signal), and counts the completion. */
static void note_exit(struct job *job)
{
    struct ad *own = job_own(job);
    if (ad_bool_or(own, "ExitBySignal", false)) {
        ad_remove(own, "ExitCode");
    } else {
        ad_remove(own, "ExitSignal");
        if (ad_has(own, "ExitCode")) {
            (void)ad_copy_attr(own, "ExitStatus", own, "ExitCode"); /* it is there */
        }
    }
    ad_set_int(own, "NumJobCompletions", job_int(job, "NumJobCompletions", 0) + 1);
}

static void commit_result(struct schedd *schedd, struct job *job, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct change *change = change_begin(schedd);
    struct ad *own = job_own(job);
    if (ad_bool_or(args, "DataflowJobSkipped", false)) { /* nothing ran */
        ad_set_bool(own, "DataflowJobSkipped", true);
    } else if (job->phase == JOB_CLAIMED) { /* so short that its end is told before its start */
        begin_run(change, job, args);
    } else if (job->phase != JOB_ACTIVE) { /* it started, but that is not true any more */
        note_transfer(change, job, args, TRANSFER_IN_STARTED);
        events_executing(change, job, args);
    }
    if (!ad_bool_or(args, "DataflowJobSkipped", false)) {
        events_usage(change, job, args);
        note_transfer(change, job, args, TRANSFER_OUT_STARTED);
    }
    copy_some(own, args, USAGE, ARRAY_COUNT(USAGE));
    copy_some(own, args, EXIT, ARRAY_COUNT(EXIT));
    turns_clear(own);
    note_exit(job);
    policy_judge_exit(schedd, job);
    if (ad_int_or(args, "HoldReasonCode", 0) > 0) { /* output that it names is missing */
        policy_hold_on_exit(job, (int)ad_int_or(args, "HoldReasonCode", 0),
                            (int)ad_int_or(args, "HoldReasonSubCode", 0),
                            ad_string_or(args, "HoldReason", "held by its starter"));
    }
    struct claim *claim = job->claim;
    if (claim != NULL && job->phase != JOB_MATCHED) {
        trouble_passed(schedd, claim->machine);
    }
    if (claim != NULL && job->phase == JOB_MATCHED) {
        claim_detach(claim); /* the match is for whoever is next */
    } else {
        claims_take_job(job, false, false);
    }
    claim_run_ended(schedd, job);
    claim_run_committed(job);
    queue_move(schedd, job, JOB_PLACING);
    bool placed = !ad_bool_or(args, "Staged", true);
    struct pending *pending = mem_alloc(sizeof(*pending));
    *pending = (struct pending){.schedd = schedd,
                                .request = request,
                                .placed = placed,
                                .epoch = job->epoch,
                                .exit_code = ad_int_or(own, "ExitCode", -1)};
    job_id(job, pending->id);
    if (placed) { /* there is nothing to be placed: its end is committed with it */
        policy_act_on_exit(change, job);
    } else {
        shadow_runs_expect_placing(change, job);
        change_job(change, job);
    }
    change_commit(change, answer_after_commit, report_dropped, pending);
    if (claim != NULL) {
        claim_next_with_result(claim);
    }
}

static void handle_result(struct schedd *schedd, struct job *job, int64_t epoch,
                          struct wire_request *request)
{
    const struct plan_result facts = {
        .in_queue = true,
        .runs = job->phase == JOB_IDLE || job->phase == JOB_MATCHED || job->phase == JOB_CLAIMED ||
                job->phase == JOB_ACTIVE,
        .placing = job->phase == JOB_PLACING || (job->phase == JOB_HELD && job->staged),
        .completed = job->phase == JOB_COMPLETED,
        .job_epoch = job->epoch,
        .epoch = epoch,
    };
    switch (schedd_plan_result(&facts)) {
    case RESULT_COMMIT:
        commit_result(schedd, job, request);
        break;
    case RESULT_AGAIN: /* committed, and durable when what was committed before is */
        commit_and_answer(change_begin(schedd), schedd, request, false);
        break;
    case RESULT_DONE:
        commit_and_answer(change_begin(schedd), schedd, request, true);
        break;
    case RESULT_STALE:
    default:
        wire_reply_error(request, -ESTALE, "this run of the job has been replaced or has ended");
        break;
    }
}

static void handle_placed(struct schedd *schedd, struct job *job, struct wire_request *request)
{
    if (job->phase == JOB_COMPLETED) { /* said again: the answer was lost */
        commit_and_answer(change_begin(schedd), schedd, request, true);
        return;
    }
    if (job->phase != JOB_PLACING && !(job->phase == JOB_HELD && job->staged)) {
        wire_reply_error(request, -ESTALE, "this job has no result to store");
        return;
    }
    struct change *change = change_begin(schedd);
    policy_act_on_exit(change, job);
    commit_and_answer(change, schedd, request, true);
}

void results_handle(struct schedd *schedd, struct owner *owner, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    const char *id = ad_string_or(args, "JobId", "");
    int64_t epoch = ad_int_or(args, "ClaimEpoch", 0);
    if (spool_handle(schedd, owner, request)) {
        return;
    }
    struct job *job = queue_job_by_id(schedd, id);
    if (job == NULL) {
        ask_history(schedd, owner, id, epoch, request);
        return;
    }
    if (job->cluster->owner != owner) {
        wire_reply_error(request, -EPERM, "job %s does not belong to %s", id, owner->name);
        return;
    }
    if (job->epoch != epoch && (claims_keep_run(schedd, job, epoch) ||
                                (is_of_checkpoints(ad_string_or(args, "Event", "")) &&
                                 checkpoints_take_late(job, epoch)))) {
        last_words(schedd, job, epoch, request);
        return;
    }
    if (job->epoch != epoch) {
        wire_reply_error(request, -ESTALE, "this run of the job has been replaced");
        return;
    }
    switch (wire_request_verb(request)) {
    case VERB_JOB_STATUS:
        handle_status(schedd, job, request);
        break;
    case VERB_JOB_RESULT:
        handle_result(schedd, job, epoch, request);
        break;
    case VERB_JOB_PLACED:
        handle_placed(schedd, job, request);
        break;
    default:
        wire_reply_error(request, -ENOSYS, "a shadow may not send this request to the schedd");
        break;
    }
}
