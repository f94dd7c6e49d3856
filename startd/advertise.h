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
/* The connection to the collector is there again: makes all ads anew and sends them. */
void advertise_all(struct startd *startd, struct wire *wire);
/* Tells the collector at once which dynamic slots have been removed. */
void advertise_gone(struct startd *startd);
/* Callback: the answer to an UPDATE that the collector refused or that had errors. */
void advertise_complaint(void *startd, struct wire_reply *reply);

#endif
