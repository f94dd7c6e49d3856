/* startd/claim/offer.h - DIAL_ME: a schedd asks for a slot.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_OFFER_H
#define STARTD_CLAIM_OFFER_H

struct startd;
struct wire_request;

void offer_dial_me(struct startd *startd, struct wire_request *request);
/* RELEASE_CLAIM: the schedd wants a claim no more that waits or was only offered. */
void offer_release(struct startd *startd, struct wire_request *request);

#endif
