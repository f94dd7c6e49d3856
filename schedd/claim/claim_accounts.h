/* schedd/claim/claim_accounts.h - counts how long the runs of a job were, and how much of that was
 * useful.
 *
 * Design.  The length of a run is counted by notes of moments in the job's own ad
 * (schedd/moments.h), which no setting of the wall clock changes.  ShadowBday, JobCurrentStartDate
 * and JobCurrentStartExecutingDate are wall times for others; while the run lasts, they are moved
 * with the wall clock (claim_stamps_follow()), because policies and `roost q` subtract them from
 * the present time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_CLAIM_ACCOUNTS_H
#define SCHEDD_CLAIM_CLAIM_ACCOUNTS_H

#include <stdint.h>

struct job;
struct schedd;

/* To be called when the job gets its claim, and when its program has started: note when. */
void claim_run_given(struct schedd *schedd, struct job *job);
void claim_run_began(struct schedd *schedd, struct job *job);
/* The startd says that the job's run has lasted run_s seconds so far (below 0: it says nothing).
 * Counts only when this machine was booted since the run began: then the schedd itself does not
 * know how long this was. */
void claim_run_told(struct schedd *schedd, struct job *job, int64_t run_s);
/* Return the seconds since claim_run_given() and claim_run_began() of the job's present or last
 * run; 0 when there was none. */
int64_t claim_given_s(const struct schedd *schedd, const struct job *job);
int64_t claim_ran_s(const struct schedd *schedd, const struct job *job);
/* Returns for how many seconds an idle job that has run before waits for its next run. */
int64_t claim_idle_s(const struct schedd *schedd, const struct job *job);
/* To be called before the stamps of runs are looked at: moves them when the wall clock was set,
 * also while the schedd was down.  Costs nothing otherwise. */
void claim_stamps_follow(struct schedd *schedd);

/* To be called when a run ends, with or without a result, before the job is moved to its next
 * phase: sets RemoteWallClockTime, CumulativeSlotTime, LastRemoteHost and others in the job's
 * ad. */
void claim_run_ended(struct schedd *schedd, struct job *job);
/* Returns the cpus of the slot that the job has or had last, at least 1: the factor from run time
 * to slot time. */
double claim_slot_weight(const struct job *job);
/* To be called after claim_run_ended() when the run's result counts: adds the part of the run that
 * was not yet counted to CommittedTime, CommittedSlotTime and CommittedSuspensionTime. */
void claim_run_committed(struct job *job);

#endif
