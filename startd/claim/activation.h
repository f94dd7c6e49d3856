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
/* The claim has no starter any more: answers the requests that waited for that, and begins the job
 * that waits.  The claim may be gone afterwards. */
void activation_starter_gone(struct claim *claim);
/* Answers all requests of a claim that is being destroyed. */
void activation_destroy(struct claim *claim);
/* Returns whether a job waits until the claim is idle. */
bool activation_waits(struct claim *claim);
/* Starts the starter of a run whose record is durable, unless the kept starter must end first. */
void activation_start(struct claim *claim);

#endif
