/* schedd/claim/claim_accounts.h - how long runs of a job were, and how much of that counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_CLAIM_ACCOUNTS_H
#define SCHEDD_CLAIM_CLAIM_ACCOUNTS_H

struct job;
struct schedd;

/* What a run leaves in the job's ad when it ends: LastRemoteHost, RemoteWallClockTime ... */
void claim_run_ended(struct schedd *schedd, struct job *job);
/* What a second of the slot costs that the job has, or had last: its cpus. */
double claim_slot_weight(const struct job *job);
/* That run's result counts: CommittedTime, CommittedSlotTime. */
void claim_run_committed(struct job *job);

#endif
