/* startd/draining.h - draining of the whole machine: the steps. draining_facts.h has what others
 * look up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_DRAINING_H
#define STARTD_DRAINING_H

#include <stdbool.h>

#include "drain/drain_plan.h"

struct err;
struct startd;

/* Restores a request from the store, before the slots are made.  0 or -errno. */
int draining_open(struct startd *startd, struct err *err);
void draining_begin(struct startd *startd); /* called when the claims have been restored */
void draining_close(struct startd *startd);

/* Takes the steps that are due.  True: the machine is drained and the caller must take it down now,
 * with draining_reason() as the reason. */
bool draining_look(struct startd *startd);
#define DRAINING_REASON_MAX (DRAIN_ID_MAX + 40)
void draining_reason(const struct startd *startd, char ret[DRAINING_REASON_MAX]);
/* Called when the machine is up although draining may have ordered it down; does nothing without
 * such an order. retry: nothing was done to the machine yet, so draining will order it down again
 * later. */
void draining_stays(struct startd *startd, bool retry);
/* Returns drained dynamic slots to the partitionable slots from which they were taken. */
void draining_merge(struct startd *startd);
/* Writes estimates and totals into the ads that are about to be sent (or into all). */
void draining_publish(struct startd *startd, bool all);

/* Estimates what a request would cost; request NULL: one for the whole machine. */
void draining_estimate(const struct startd *startd, const struct drain_request *request,
                       struct drain_estimates *ret);
/* A legal move, which is logged. */
void draining_move(struct startd *startd, enum drain_phase phase, const char *why);
/* Counts again how many slots are idle because of draining. */
void draining_count(struct startd *startd);
/* Ends draining: START is used again. */
void draining_finish(struct startd *startd, const char *why);
/* Frees the request; the phase must be DRAIN_NONE. */
void draining_forget(struct startd *startd);

#endif
