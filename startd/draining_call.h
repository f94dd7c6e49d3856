/* startd/draining_call.h - what an administrator says of draining, and what waits for it meanwhile.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_DRAINING_CALL_H
#define STARTD_DRAINING_CALL_H

struct startd;
struct wire_request;

void draining_call_open(struct startd *startd); /* before draining_open() */
void draining_call_request(struct startd *startd, struct wire_request *request);
/* DIAL_ME, RELEASE_CLAIM, POWER_DOWN from the uplink: now, or when the offer that stands is over.
 */
void draining_call_change(struct startd *startd, struct wire_request *request);

#endif
