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

void draining_call_open(struct startd *startd); /* makes the timers, before draining_open() */
/* Takes and answers START_DRAINING, COMMIT_DRAINING or CANCEL_DRAINING. */
void draining_call_request(struct startd *startd, struct wire_request *request);
/* Takes a DIAL_ME, RELEASE_CLAIM or POWER_DOWN from the collector: serves it now, or when the
 * present offer is over. */
void draining_call_change(struct startd *startd, struct wire_request *request);

#endif
