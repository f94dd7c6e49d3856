/* startd/draining_call.h - an administrator's requests to drain the machine, and calls that wait
 * while such a request is being offered.
 *
 * A request is first an offer with estimates; until it is committed or cancelled, nothing of the
 * slots may change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_DRAINING_CALL_H
#define STARTD_DRAINING_CALL_H

struct startd;
struct wire_request;

/* makes the timers of draining; to be called before draining_open() */
void draining_call_open(struct startd *startd);
/* Handles START_DRAINING, COMMIT_DRAINING or CANCEL_DRAINING; the answer may come later. */
void draining_call_request(struct startd *startd, struct wire_request *request);
/* Handles a DIAL_ME, RELEASE_CLAIM or POWER_DOWN that the collector relayed: at once, or, while a
 * drain request is offered, after its commit or cancellation. */
void draining_call_change(struct startd *startd, struct wire_request *request);

#endif
