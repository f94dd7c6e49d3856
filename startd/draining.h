/* startd/draining.h - takes the steps of draining this machine. draining_facts.h has the state of
 * draining, for other files.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTD_DRAINING_H
#define STARTD_DRAINING_H

#include <stdbool.h>

#include "drain/drain_plan.h"

struct err;
struct startd;

/* Restores a request to drain from the store.  Must be called before the slots are made.  Returns 0
 * or -errno. */
int draining_open(struct startd *startd, struct err *err);
/* continues draining after a restart; to be called after the claims were restored */
void draining_begin(struct startd *startd);
void draining_close(struct startd *startd);

/* Takes the steps of draining that are due.  Returns true if the machine is drained and the caller
 * must put it to sleep or switch it off now, with draining_reason() as the reason. */
bool draining_look(struct startd *startd);
/* most bytes of a reason, with the terminating zero */
#define DRAINING_REASON_MAX (DRAIN_ID_MAX + 40)
void draining_reason(const struct startd *startd, char ret[DRAINING_REASON_MAX]);
/* Called when the machine stays up or is up again.  If draining had ordered it to sleep or off:
 * with retry, the order is repeated a minute later, because it was not carried out; otherwise
 * draining ends.  Does nothing without such an order. */
void draining_stays(struct startd *startd, bool retry);
/* Removes drained dynamic slots: their resources return to the partitionable slots from which they
 * were taken. */
void draining_merge(struct startd *startd);
/* Writes into the ads of all slots the estimated cost of draining the whole machine now, and the
 * totals of what draining has cost so far. all false: writes only into ads that are about to be
 * sent. */
void draining_publish(struct startd *startd, bool all);

/* Estimates what draining by this request would cost; request NULL: draining of the whole
 * machine. */
void draining_estimate(const struct startd *startd, const struct drain_request *request,
                       struct drain_estimates *ret);
/* Moves draining to another phase and logs that with the reason, `why`; ends the process if
 * drain_plan.h does not allow the move. */
void draining_move(struct startd *startd, enum drain_phase phase, const char *why);
/* Counts the slots that have no job because of draining.  If their number has changed, enters the
 * new number in startd->draining.totals, which sum up the idle time of such slots, and saves the
 * totals. */
void draining_count(struct startd *startd);
/* Ends draining: drained slots are free again, and START is evaluated again. why: the reason, for
 * the log. */
void draining_finish(struct startd *startd, const char *why);
/* Frees the request to drain, and stops the timers of draining.  The phase must be DRAIN_NONE. */
void draining_forget(struct startd *startd);

#endif
