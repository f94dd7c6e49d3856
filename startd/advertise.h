/* startd/advertise.h - our ads are sent up to the collector; when: advertise_due.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_ADVERTISE_H
#define STARTD_ADVERTISE_H

struct startd;
struct wire;
struct wire_reply;

void advertise_open(struct startd *startd);
void advertise_close(struct startd *startd);
void advertise_all(struct startd *startd, struct wire *wire); /* the uplink has come up */
/* Tells the collector at once which pieces are gone. */
void advertise_gone(struct startd *startd);
void advertise_complaint(void *startd, struct wire_reply *reply); /* the answer to a bad UPDATE */

#endif
