/* startd/claim/activation.h - jobs on a claim, asked for on the claim's connection.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_ACTIVATION_H
#define STARTD_CLAIM_ACTIVATION_H

#include <stdbool.h>

struct claim;
struct wire_request;

/* Serves a call that came on the connection of the claim. */
void activation_request(void *claim, struct wire_request *request);
/* The claim has no starter any more: answers the calls that waited for that, and begins the job
 * that waits.  The claim may be gone afterwards. */
void activation_starter_gone(struct claim *claim);
/* Answers all calls of a claim that is being destroyed. */
void activation_destroy(struct claim *claim);
/* Does a job wait until the claim is idle? */
bool activation_waits(struct claim *claim);
/* Starts the starter of a run that is committed, unless the kept starter still has to end. */
void activation_start(struct claim *claim);

#endif
