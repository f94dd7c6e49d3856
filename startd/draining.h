/* startd/draining.h - whole machine draining: its steps.  What it says of slots is in
 * draining_facts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_DRAINING_H
#define STARTD_DRAINING_H

#include <stdbool.h>

#include "drain/drain_plan.h"

struct err;
struct startd;

int draining_open(struct startd *startd, struct err *err); /* before the slots are made */
void draining_begin(struct startd *startd);                /* after the claims are restored */
void draining_close(struct startd *startd);

/* Takes the next steps.  True: the machine is drained, and the caller is to take it down now;
 * draining_reason() is the reason to give. */
bool draining_look(struct startd *startd);
#define DRAINING_REASON_MAX (DRAIN_ID_MAX + 40)
void draining_reason(const struct startd *startd, char ret[DRAINING_REASON_MAX]);
/* The machine is up although draining may have ordered it down.  retry: nothing was done to the
 * machine yet, and draining orders it down again later.  Without such an order: does nothing. */
void draining_stays(struct startd *startd, bool retry);
/* Gives drained pieces back to the slots that they were taken from. */
void draining_merge(struct startd *startd);
/* Writes estimates and totals into the ads that are to be sent, or into all ads. */
void draining_publish(struct startd *startd, bool all);

/* What the request would cost; request NULL: a request for the whole machine. */
void draining_estimate(const struct startd *startd, const struct drain_request *request,
                       struct drain_estimates *ret);
void draining_move(struct startd *startd, enum drain_phase phase, const char *why);
/* Counts again how many slots stand idle because of draining. */
void draining_count(struct startd *startd);
/* Ends draining: START counts again. */
void draining_finish(struct startd *startd, const char *why);
/* Frees the request; the phase must be DRAIN_NONE. */
void draining_forget(struct startd *startd);

#endif
