/* schedd/job_moves.c - see job_moves.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_moves.h"

#include <string.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/text.h"
#include "classad/ad.h"
#include "schedd/claim/claim_accounts.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/job_checkpoints.h"
#include "schedd/claim/job_claims.h"
#include "schedd/policy/job_cron.h"
#include "schedd/job_events.h"
#include "schedd/queue/job_queue.h"
#include "schedd/job_suspensions.h"
#include "schedd/queue/queue_finish.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadow_runs.h"

/* Returns the label of a hold code in NumHoldsByReason, such as "UserRequest"; "Unspecified" for an
 * unknown code. */
static const char *hold_code_name(int code)
{
    static const struct {
        int code;
        const char *name;
    } NAMES[] = {
        {1, "UserRequest"},
        {3, "JobPolicy"},
        {4, "CorruptedCredential"},
        {5, "JobPolicyUndefined"},
        {6, "FailedToCreateProcess"},
        {7, "UnableToOpenOutput"},
        {8, "UnableToOpenInput"},
        {9, "UnableToOpenOutputStream"},
        {10, "UnableToOpenInputStream"},
        {11, "InvalidTransferAck"},
        {12, "TransferOutputError"},
        {13, "TransferInputError"},
        {14, "IwdError"},
        {15, "SubmittedOnHold"},
        {16, "SpoolingInput"},
        {18, "InvalidTransferGoAhead"},
        {19, "HookPrepareJobFailure"},
        {20, "MissedDeferredExecutionTime"},
        {21, "StartdHeldJob"},
        {22, "UnableToInitUserLog"},
        {23, "FailedToAccessUserAccount"},
        {24, "NoCompatibleShadow"},
        {25, "InvalidCronSettings"},
        {26, "SystemPolicy"},
        {27, "SystemPolicyUndefined"},
        {32, "MaxTransferInputSizeExceeded"},
        {33, "MaxTransferOutputSizeExceeded"},
        {34, "JobOutOfResources"},
        {36, "FailedToCheckpoint"},
        {43, "PreScriptFailed"},
        {44, "PostScriptFailed"},
        {46, "JobDurationExceeded"},
        {47, "JobExecuteExceeded"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(NAMES); i++) {
        if (NAMES[i].code == code) {
            return NAMES[i].name;
        }
    }
    return "Unspecified";
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void increment_count(struct job *job, const char *name)
{
    ad_set_int(job_own(job), name, job_int(job, name, 0) + 1);
}

/* Counts a hold in an attribute such as NumHoldsByReason = [ UserRequest = 2 ]. */
static void count_by_reason(struct ad *own, const char *attribute, const char *label)
{
    const struct ad *before = NULL;
    struct ad *counts = ad_get_ad(own, attribute, &before) == 0 ? ad_copy(before) : ad_create();
    ad_set_int(counts, label, ad_int_or(counts, label, 0) + 1);
    ad_set_ad(own, attribute, counts);
}

void moves_note_hold(struct job *job, const char *why, int code, int subcode)
{
    struct ad *own = job_own(job);
    ad_set_string(own, "HoldReason", why);
    ad_set_int(own, "HoldReasonCode", code);
    ad_set_int(own, "HoldReasonSubCode", subcode);
    ad_remove(own, "ReleaseReason");
    increment_count(job, "NumHolds");
    count_by_reason(own, "NumHoldsByReason", hold_code_name(code));
}

void moves_suspension(struct schedd *schedd, struct job *job, const struct ad *told)
{
    bool suspended = false;
    if (job->phase != JOB_ACTIVE || ad_get_bool(told, "Suspended", &suspended) != 0) {
        return;
    }
    suspensions_note(job, told);
    claim_run_told(schedd, job, ad_int_or(told, "RunSeconds", -1));
    if (job->claim != NULL &&
        job->claim->switching == (suspended ? SWITCH_TO_SUSPENDED : SWITCH_TO_RUNNING)) {
        job->claim->switching = SWITCH_NONE;
    }
    if (suspended == job->suspended) {
        return; /* what is above goes to disk with the next change of the job */
    }
    struct change *change = change_begin(schedd);
    queue_suspend(schedd, job, suspended);
    if (suspended) {
        events_suspended(change, job, job_int(job, "NumPids", 1));
    } else {
        events_unsuspended(change, job);
    }
    change_job(change, job);
    change_commit(change, NULL, NULL, NULL);
}

static void move_reason(struct ad *own, const char *from, const char *to)
{
    if (ad_has(own, from)) {
        (void)ad_copy_attr(own, to, own, from); /* it is there */
        ad_remove(own, from);
    }
}

/* ---- moves ----------------------------------------------------------------------------------- */

static bool has_run(const struct job *job)
{
    return job->phase == JOB_CLAIMED || job->phase == JOB_ACTIVE;
}

/* Returns whether the job's program gets time for a soft end when it is removed or held: yes,
 * unless WantGracefulRemoval is false. */
static bool may_end_itself(struct schedd *schedd, struct job *job)
{
    if (!has_run(job) || !job_has(job, "WantGracefulRemoval")) {
        return true;
    }
    const struct ad_context context = {.now_s = loop_wall_s(schedd->loop)};
    struct ad *view = job_view(schedd, job);
    bool graceful =
        ad_eval_bool(ad_lookup(view, "WantGracefulRemoval"), view, NULL, &context) != AD_FALSE;
    ad_destroy(view);
    return graceful;
}

/* Returns whether files that the job leaves when it is told to end are kept for its next run. */
static bool leaves_something(const struct job *job)
{
    return checkpoints_wanted(job) ||
           text_equal_nocase(job_string(job, "WhenToTransferOutput", ""), "ON_EXIT_OR_EVICT");
}

/* Takes a job off its slot or its match; afterwards no result of that run is accepted.  kind: the
 * reason that its starter is told.  A run that gets time for a soft end may still leave files for
 * the next run. */
static void stop_run(struct change *change, struct job *job, bool stop, bool fast, const char *kind,
                     const char *why)
{
    struct claim *claim = job->claim;
    bool removed = kind != NULL && strcmp(kind, "Remove") == 0;
    if (claim != NULL) {
        claim->stop.kind = kind;
    }
    if (has_run(job)) {
        claims_take_job(job, stop, fast);
        if (claim != NULL && claim->stop.ends_run && claim->autocluster != NULL && !fast &&
            !removed && leaves_something(job)) {
            claim->stop.keeps_run = true; /* its shadow forgets it when it has ended */
        } else {
            shadow_runs_forget(change, job, stop, why);
        }
        claim_run_ended(change_schedd(change), job);
        job->epoch++;
    } else {
        claims_take_job(job, stop, fast); /* matched, at most */
    }
}

void moves_hold(struct change *change, struct job *job, const char *why, int code, int subcode,
                bool stop)
{
    bool staged = job->phase == JOB_PLACING;
    moves_tell_eviction(change, job);
    if (job->phase == JOB_ACTIVE && code == HOLD_USER_REQUEST) {
        events_evicted(change, job, code, subcode, why);
    }
    if (staged) {
        shadow_runs_forget(change, job, false, "held");
    } else {
        stop_run(change, job, stop, !may_end_itself(change_schedd(change), job), "Hold", why);
    }
    moves_note_hold(job, why, code, subcode);
    events_held(change, job);
    queue_move(change_schedd(change), job, JOB_HELD);
    job->staged = staged;
    change_job(change, job);
}

/* Ends the run of a job whose output is in its place.  The new epoch refuses further reports of its
 * shadow about that run. */
static void end_placed_run(struct change *change, struct job *job)
{
    CHECK(job->phase == JOB_PLACING);
    shadow_runs_forget(change, job, false, "placed");
    job->epoch++;
}

void moves_hold_after_exit(struct change *change, struct job *job, const char *why, int code,
                           int subcode)
{
    end_placed_run(change, job);
    moves_note_hold(job, why, code, subcode);
    events_held(change, job);
    queue_move(change_schedd(change), job, JOB_HELD);
    change_job(change, job);
}

void moves_requeue(struct change *change, struct job *job, const char *why)
{
    events_requeued(change, job, why);
    end_placed_run(change, job);
    cron_ran(job);
    queue_move(change_schedd(change), job, JOB_IDLE);
    change_job(change, job);
}

void moves_release(struct change *change, struct job *job, const char *why)
{
    struct ad *own = job_own(job);
    bool staged = job->staged;
    move_reason(own, "HoldReason", "LastHoldReason");
    move_reason(own, "HoldReasonCode", "LastHoldReasonCode");
    move_reason(own, "HoldReasonSubCode", "LastHoldReasonSubCode");
    ad_set_string(own, "ReleaseReason", why);
    events_released(change, job, why);
    queue_move(change_schedd(change), job, staged ? JOB_PLACING : JOB_IDLE);
    if (staged) {
        shadow_runs_place(change_schedd(change), job);
    }
    change_job(change, job);
}

void moves_remove(struct change *change, struct job *job, const char *why, bool by_policy)
{
    moves_tell_eviction(change, job);
    if (job->phase == JOB_PLACING || job->staged) {
        shadow_runs_forget(change, job, true, why);
    }
    if (job->phase == JOB_ACTIVE && !by_policy) {
        events_evicted(change, job, EVICTED_BY_REMOVE, 0, why);
    }
    if (job->phase != JOB_COMPLETED) {
        events_aborted(change, job, why);
    }
    stop_run(change, job, true, !may_end_itself(change_schedd(change), job), "Remove", why);
    ad_set_string(job_own(job), "RemoveReason", why);
    /* One that had its end and only stayed in the queue did complete. */
    queue_finish(change, job, job->phase == JOB_COMPLETED ? STATUS_COMPLETED : STATUS_REMOVED);
}

void moves_end_noop(struct change *change, struct job *job, int64_t code, int64_t signal)
{
    struct ad *own = job_own(job);
    moves_tell_eviction(change, job);
    ad_set_bool(own, "ExitBySignal", signal != 0);
    ad_set_int(own, signal != 0 ? "ExitSignal" : "ExitCode", signal != 0 ? signal : code);
    ad_set_int(own, "ExitStatus", signal != 0 ? 0 : code);
    ad_set_int(own, "CompletionDate", loop_wall_s(change_schedd(change)->loop));
    increment_count(job, "NumJobCompletions");
    events_terminated(change, job);
    stop_run(change, job, true, true, "Remove",
             "the job is completed without a run, because IsNoopJob is set");
    queue_finish(change, job, STATUS_COMPLETED);
}

/* Private attribute: event 004 is still to be logged, when the run that may leave a checkpoint has
 * ended. */
#define OWED "EvictionUntold"

bool moves_owe_eviction(const struct job *job)
{
    return job->own != NULL && ad_has(job->own, OWED);
}

void moves_tell_eviction(struct change *change, struct job *job)
{
    if (moves_owe_eviction(job)) {
        ad_remove(job->own, OWED);
        events_evicted(change, job, EVICTED_BY_VACATE, 0, "Job vacated by schedd");
        change_job(change, job);
    }
}

void moves_vacate(struct change *change, struct job *job, const char *why, bool fast)
{
    const struct claim *claim = job->claim;
    bool ran = job->phase == JOB_ACTIVE;
    stop_run(change, job, true, fast, NULL, why);
    if (ran) {
        ad_set_bool(job_own(job), OWED, true);
    }
    if (claim == NULL || !claim->stop.keeps_run || !checkpoints_wanted(job)) {
        moves_tell_eviction(change, job); /* nothing more is to come */
    }
    ad_set_string(job_own(job), "VacateReason", why);
    queue_move(change_schedd(change), job, JOB_IDLE);
    change_job(change, job);
}
