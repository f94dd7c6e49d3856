/* schedd/claim/claim_calls.h - what the schedd asks of the startd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_CLAIM_CLAIM_CALLS_H
#define SCHEDD_CLAIM_CLAIM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct claim;
struct schedd;

/* Shadow, then startd.  The claim is in CLAIM_STARTING. */
void claim_start(struct claim *claim);
/* The shadow answered JOB_RUN of that run: pin, or NULL and why it cannot. */
void claims_shadow_answered(struct schedd *schedd, const char *job_id, int64_t epoch,
                            const char *pin, const char *why);
/* Its job is to stand still, or to go on, when the startd can be asked; ALIVE says when it is so.
 */
void claim_call_suspend(struct claim *claim, bool suspended);
void claim_call_deactivate(struct claim *claim);
void claim_call_release(struct claim *claim);

#endif
