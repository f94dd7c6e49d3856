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

/* Takes and answers a request that came on the claim's connection. */
void activation_request(void *claim, struct wire_request *request);
/* Called when the claim's starter has ended: answers the requests that waited for its end, and
 * begins the job that waits, if any.  The claim may have been freed when this returns. */
void activation_starter_gone(struct claim *claim);
/* Answers all requests of a claim that is being destroyed. */
void activation_destroy(struct claim *claim);
/* Returns whether the schedd has already asked to run another job (ACTIVATE), which begins when the
 * present one has ended. */
bool activation_waits(struct claim *claim);
/* Starts a starter for the claim's new job, or gives the job to the starter that was kept from the
 * job before.  The record of the run must be durable.  If a kept starter has lost its connection,
 * this waits until its process has ended (claim_kept_gone()). */
void activation_start(struct claim *claim);

#endif
