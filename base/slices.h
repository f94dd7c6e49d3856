/* base/slices.h - divides long work into slices: one slice in each pass of the event loop, one
 * caller after another.
 *
 * Design note: work for others (a query over a long queue, the constraint of a command) is done in
 * slices, each far shorter than the loop's budget.  With one timer for each work, all of them would
 * run a slice in every pass of the loop, and a hundred heavy queries would make a pass as long as a
 * hundred slices.  Here only one slice runs in a pass.  Callers take turns, and the works of one
 * caller take turns among themselves: a caller with a hundred requests gets as many slices as a
 * caller with one.  The work itself decides how long a slice is, by counting steps
 * (classad/ad_limits.h, AD_SLICE_STEPS).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_SLICES_H
#define BASE_SLICES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/loop.h"

struct slices;     /* a set of works, and the order in which their slices run */
struct slice_work; /* one long work, done slice by slice */

struct slices *slices_create(struct loop *loop);
/* Frees the set.  All works in it must have been destroyed before.  NULL is allowed. */
void slices_destroy(struct slices *slices);

/* Makes a work, which runs when slice_work_want() asks for it. slice(arg) must do one slice of the
 * work. caller (copied) names who wants the work: callers get slices one after another, however
 * many works each of them has. */
struct slice_work *slice_work_create(struct slices *slices, const char *caller, loop_f slice,
                                     void *arg);
/* NULL is allowed; so is a call from the work's own slice(). */
void slice_work_destroy(struct slice_work *work);

/* Asks for one slice, after the works that wait already.  Asking again before the slice has run
 * changes nothing.  The slice is called from the loop, never inside this call.  A slice that has
 * more to do calls this again. */
void slice_work_want(struct slice_work *work);
void slice_work_stop(struct slice_work *work); /* withdraws the request of slice_work_want() */
/* Returns whether a slice was asked for and has not begun. */
bool slice_work_waits(const struct slice_work *work);

/* Limits how many works of one caller hold memory at a time; a query, for example, holds memory
 * until the caller has read the whole reply.  Returns true when fewer than `most` works of this
 * caller hold memory: this work then counts until slice_work_leave().  Returns false when the limit
 * is reached: slice() must return now, and is called again after slice_work_leave() for another
 * work of the same caller. */
bool slice_work_enter(struct slice_work *work, size_t most);
/* Ends what slice_work_enter() has allowed: the work no longer counts as holding memory.  Does
 * nothing if slice_work_enter() has not returned true before. */
void slice_work_leave(struct slice_work *work);
/* Returns how many works this caller has. */
size_t slice_caller_works(const struct slices *slices, const char *caller);

#endif
