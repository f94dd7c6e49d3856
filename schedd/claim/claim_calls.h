/* schedd/claim/claim_calls.h - the calls that the schedd makes to a startd about a claim: start a
 * run, suspend it, end it, release the claim.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_CLAIM_CALLS_H
#define SCHEDD_CLAIM_CLAIM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct claim;
struct schedd;

/* Starts the run of the claim's job: first asks the owner's shadow to expect the starter, then
 * sends ACTIVATE to the startd.  If the job started last has a NextJobStartDelay, the start waits
 * for that time.  The claim must be in CLAIM_STARTING. */
void claim_start(struct claim *claim);
/* Takes the shadow's answer to JOB_RUN, the request by which the schedd tells the shadow to expect
 * the starter of the run with this job and epoch.  pin: fingerprint of the shadow's
 * certificate; the claim goes on to start the job.  NULL: the shadow cannot take the run, for the
 * reason `why`. */
void claims_shadow_answered(struct schedd *schedd, const char *job_id, int64_t epoch,
                            const char *pin, const char *why);
/* Orders the startd to suspend (suspended: true) or continue (false) the claim's job.  The startd
 * reports the change later with an ALIVE.  Does nothing when the claim (may be NULL) is not busy.
 */
void claim_call_suspend(struct claim *claim, bool suspended);
/* Sends DEACTIVATE: the startd is to end the run that claim->stop describes. */
void claim_call_deactivate(struct claim *claim);
/* Sends RELEASE_CLAIM, which gives the slot back.  The claim ends when the startd's answer
 * arrives. */
void claim_call_release(struct claim *claim);

#endif
