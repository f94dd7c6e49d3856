/* startd/advertise.h - sends the machine's ads to the collector. advertise_due.h decides when.
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
/* Called when a connection to the collector (wire) has been made: builds the ads of all slots again
 * and sends them. */
void advertise_all(struct startd *startd, struct wire *wire);
/* Tells the collector at once which dynamic slots have been removed, so that it removes their
 * ads. */
void advertise_gone(struct startd *startd);
/* Called with the collector's reply to an UPDATE that the collector refused or in which it found
 * errors (other UPDATEs get no reply): logs the reply, and if another UPDATE can help, makes the
 * startd send its ads again. */
void advertise_complaint(void *startd, struct wire_reply *reply);

#endif
