/* startd/claim/activation.h - runs jobs on a claim: the requests ACTIVATE and DEACTIVATE of its
 * schedd.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_ACTIVATION_H
#define STARTD_CLAIM_ACTIVATION_H

#include <stdbool.h>

struct claim;
struct wire_request;

/* Handles a request of the schedd (ACTIVATE, DEACTIVATE, SUSPEND_CLAIM ...) that came on the
 * connection of `claim`, a struct claim; the answer may come later. */
void activation_request(void *claim, struct wire_request *request);
/* Called when the claim's starter has ended: answers the requests that waited for its end, and
 * begins the job that waits, if any.  The claim may have been freed when this returns. */
void activation_starter_gone(struct claim *claim);
/* Answers all requests of the schedd that are still unanswered (claim->calls), because the claim is
 * being destroyed. */
void activation_destroy(struct claim *claim);
/* Returns whether the schedd has already asked to run another job (ACTIVATE), which begins when the
 * present one has ended. */
bool activation_waits(struct claim *claim);
/* Starts a starter for the claim's new job, or gives the job to the starter that was kept from the
 * job before.  The record of the run must be durable.  Does nothing if a kept starter has lost its
 * connection: claim_kept_gone() calls this function again when the process of that starter has
 * ended. */
void activation_start(struct claim *claim);

#endif
