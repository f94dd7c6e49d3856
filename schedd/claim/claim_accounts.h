/* schedd/claim/claim_accounts.h - counts how long the runs of a job were, and how much of that was
 * useful.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_CLAIM_ACCOUNTS_H
#define SCHEDD_CLAIM_CLAIM_ACCOUNTS_H

struct job;
struct schedd;

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
