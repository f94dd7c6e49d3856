/* startd/draining.h - whole machine draining: its steps.  What it says of slots is in
 * draining_facts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_DRAINING_H
#define STARTD_DRAINING_H

#include <stdbool.h>

#include "drain/drain_plan.h"

struct drain_request;
struct err;
struct startd;

int draining_open(struct startd *startd, struct err *err); /* before slots: START may be false */
void draining_begin(struct startd *startd);                /* after claims: goes on */
void draining_close(struct startd *startd);
void draining_merge(struct startd *startd); /* drained pieces go back to their slots */
/* Estimates and totals, in ads to be sent, or in all. */
void draining_publish(struct startd *startd, bool all);
/* hibernate.c: the machine did not go down as was ordered when it was drained; retry: nothing was
 * done to it yet.  No matter when it was not draining that ordered it. */
void draining_stays(struct startd *startd, bool retry);

/* For draining_call.c.  request NULL: all of the machine. */
void draining_estimate(const struct startd *startd, const struct drain_request *request,
                       struct drain_estimates *ret);
void draining_move(struct startd *startd, enum drain_phase phase, const char *why);
void draining_count(struct startd *startd); /* the slots whose time counts may be others now */
/* Takes the next steps.  True: the machine is drained, and is to go down now. */
bool draining_look(struct startd *startd);
#define DRAINING_REASON_MAX (DRAIN_ID_MAX + 40)
void draining_reason(const struct startd *startd, char ret[DRAINING_REASON_MAX]); /* for that */
void draining_finish(struct startd *startd, const char *why); /* START counts again */
void draining_forget(struct startd *startd);                  /* the request, in phase NONE */

#endif
