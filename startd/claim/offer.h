/* startd/claim/offer.h - a schedd asks for a slot: the request DIAL_ME.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_CLAIM_OFFER_H
#define STARTD_CLAIM_OFFER_H

struct startd;
struct wire_request;

/* Answers a DIAL_ME, by which a schedd asks for a slot: makes a claim if the slot accepts the
 * job. */
void offer_dial_me(struct startd *startd, struct wire_request *request);
/* Answers a RELEASE_CLAIM that came by the collector: the schedd gives up a claim that it has not
 * confirmed yet. */
void offer_release(struct startd *startd, struct wire_request *request);

#endif
