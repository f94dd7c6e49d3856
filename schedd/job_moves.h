/* schedd/job_moves.h - what a job's ad says after each turn of its life: hold, release, removal,
 * eviction, start, end of a run.
 *
 * Design.  Whoever decides (a user's ACT, a policy, a shadow, a lease) calls one of these; each
 * moves the job, keeps HTCondor's attributes about it (reasons, codes, counters, times), takes it
 * off its claim and tells its shadow, all in the caller's change.  So each of these attributes has
 * one writer.  After the commit the caller flushes the claims (claims_flush()).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_JOB_MOVES_H
#define SCHEDD_JOB_MOVES_H

#include <stdbool.h>
#include <stdint.h>

struct change;
struct ad;
struct job;
struct schedd;

/* HTCondor's HoldReasonCode. */
enum hold_code {
    HOLD_UNSPECIFIED = 0,
    HOLD_USER_REQUEST = 1,
    HOLD_JOB_POLICY = 3,
    HOLD_POLICY_UNDEFINED = 5, /* an expression of a policy cannot be evaluated */
    HOLD_NOT_STARTED = 6,      /* FailedToCreateProcess */
    HOLD_SUBMITTED_ON_HOLD = 15,
    HOLD_NO_ACCOUNT = 23, /* FailedToAccessUserAccount */
    HOLD_INVALID_CRON = 25,
    HOLD_SYSTEM_POLICY = 26,
    HOLD_JOB_DURATION = 46,
    HOLD_EXECUTE_DURATION = 47
};

/* Held.  A job with a claim leaves it, and no result of that run counts any more; stop: its starter
 * is told to end, else it ends by itself.  A job whose result is committed (JOB_PLACING) keeps it:
 * released, it is placed. */
void moves_hold(struct change *change, struct job *job, const char *why, int code, int subcode,
                bool stop);
/* The same for a job whose output is in its place: it runs anew after a release. */
void moves_hold_after_exit(struct change *change, struct job *job, const char *why, int code,
                           int subcode);
/* A job whose output is in its place is idle again; no further result of that run counts. */
void moves_requeue(struct change *change, struct job *job, const char *why);
/* A held job is idle again, or its committed result is placed. */
void moves_release(struct change *change, struct job *job, const char *why);
/* Out of the queue, into the history; frees job.  by_policy: nobody took it off its slot first. */
void moves_remove(struct change *change, struct job *job, const char *why, bool by_policy);
/* Nothing of it is run: it completes as it says (noop_job); frees job. */
void moves_end_noop(struct change *change, struct job *job, int64_t code, int64_t signal);
/* Off its slot, idle again. */
void moves_vacate(struct change *change, struct job *job, const char *why, bool fast);
/* What a startd says of the run with each renewal: Suspended, NumSuspensions, LastSuspensionTime,
 * SuspendedSeconds (docs/protocol/claim.md).  Commits by itself, and only what is news. */
void moves_suspension(struct schedd *schedd, struct job *job, const struct ad *told);
/* A run that was to leave a checkpoint when it was vacated has ended: 004 says now whether it has.
 * For other jobs nothing. */
void moves_tell_eviction(struct change *change, struct job *job);
bool moves_owe_eviction(const struct job *job);
/* What a hold that did not come about by a move writes: a job submitted on hold. */
void moves_note_hold(struct job *job, const char *why, int code, int subcode);

#endif
