/* startd/claim/offer.h - a schedd asks for a slot: the request DIAL_ME.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_OFFER_H
#define STARTD_CLAIM_OFFER_H

struct startd;
struct wire_request;

/* Takes and answers DIAL_ME: makes a claim if the slot accepts the job. */
void offer_dial_me(struct startd *startd, struct wire_request *request);
/* Takes and answers RELEASE_CLAIM: the schedd does not want a claim that waits or was only
 * offered. */
void offer_release(struct startd *startd, struct wire_request *request);

#endif
