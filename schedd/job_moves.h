/* schedd/job_moves.h - the operations hold, release, remove, requeue and vacate on a job, with all
 * that its ad says about them.
 *
 * Design.  Whoever decides about a job (a user's command, a policy, a shadow, an expired lease)
 * calls one of these functions.  Each moves the job to its new phase, updates HTCondor's attributes
 * (reasons, codes, counters, times), takes the job off its claim and tells its shadow, all within
 * the caller's change.  So each of these attributes has one writer.  After the commit the caller
 * calls claims_flush().
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

/* Values of HoldReasonCode, as in HTCondor; where HTCondor's name for a code differs, a comment
 * gives it. */
enum hold_code {
    HOLD_UNSPECIFIED = 0,
    HOLD_USER_REQUEST = 1,
    HOLD_JOB_POLICY = 3,
    HOLD_POLICY_UNDEFINED = 5, /* an expression of a policy cannot be evaluated */
    HOLD_NOT_STARTED = 6,      /* HTCondor's name: FailedToCreateProcess */
    HOLD_SUBMITTED_ON_HOLD = 15,
    HOLD_NO_ACCOUNT = 23, /* HTCondor's name: FailedToAccessUserAccount */
    HOLD_INVALID_CRON = 25,
    HOLD_SYSTEM_POLICY = 26,
    HOLD_JOB_DURATION = 46,
    HOLD_EXECUTE_DURATION = 47
};

/* Holds the job.  The job leaves its claim, and a result of that run is no longer accepted.  why,
 * code, subcode: HoldReason, HoldReasonCode (enum hold_code) and HoldReasonSubCode.  stop: tell the
 * starter to end the run; false when the run ends by itself.  For a job whose result is already
 * committed (JOB_PLACING) the result is kept, and is placed after a release. */
void moves_hold(struct change *change, struct job *job, const char *why, int code, int subcode,
                bool stop);
/* Holds a job whose run has ended and whose output is in its place.  After a release it runs
 * again. */
void moves_hold_after_exit(struct change *change, struct job *job, const char *why, int code,
                           int subcode);
/* Makes a job idle again whose run has ended and whose output is in its place, so that it runs
 * again.  A further result of the old run is not accepted. */
void moves_requeue(struct change *change, struct job *job, const char *why);
/* Releases a held job: it becomes idle, or, if its result is committed, its output is placed. */
void moves_release(struct change *change, struct job *job, const char *why);
/* Removes the job from the queue into the history, and frees it.  by_policy: a policy removes the
 * job, so no eviction is logged before the removal. */
void moves_remove(struct change *change, struct job *job, const char *why, bool by_policy);
/* Completes a job that is not to be run (IsNoopJob), as if its program had ended by this signal or,
 * when signal is 0, with this exit code.  Frees the job. */
void moves_end_noop(struct change *change, struct job *job, int64_t code, int64_t signal);
/* Takes the job off its slot and makes it idle again.  fast: kill the job at once, without time to
 * end by itself. */
void moves_vacate(struct change *change, struct job *job, const char *why, bool fast);
/* Notes what a startd reports about suspensions with each renewal of the claim: Suspended,
 * NumSuspensions, LastSuspensionTime, SuspendedSeconds (docs/protocol/claim.md).  Commits by
 * itself, and only when the job became suspended or continued. */
void moves_suspension(struct schedd *schedd, struct job *job, const struct ad *told);
/* Logs the eviction (event 004) that moves_vacate() put off: the event says whether the run left a
 * checkpoint, so it waits for the end of that run.  Does nothing if no eviction was put off for
 * this job. */
void moves_tell_eviction(struct change *change, struct job *job);
/* Returns true when moves_vacate() has put off the job's event 004 (evicted), and it is still to be
 * logged. */
bool moves_owe_eviction(const struct job *job);
/* Writes the attributes of a hold without moving the job: for a job that is submitted on hold. */
void moves_note_hold(struct job *job, const char *why, int code, int subcode);

#endif
