/* base/slices.h - long works in slices: one slice in a turn of the event loop, and callers in turn.
 *
 * Design.  Work for others (a query over a long queue, the constraint of a command) is done in
 * slices, each far shorter than the loop's budget, and the loop turns between two of them.  With a
 * timer for each work all of them would run a slice in every turn, and a hundred heavy queries make
 * a turn as long as a hundred slices.  Here one slice runs in a turn, whoever waits.  Whose it is:
 * callers have their turns one after the other, and so have the works of one caller among
 * themselves; whoever asks for a hundred things at once gets as many slices as whoever asks for
 * one.  How long a slice is the work itself decides, by counting (classad/ad_limits.h,
 * AD_SLICE_STEPS).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_SLICES_H
#define BASE_SLICES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/loop.h"

struct slices;     /* those who wait for their turn */
struct slice_work; /* what is done in slices */

struct slices *slices_create(struct loop *loop);
/* NULL is allowed; every work is destroyed before. */
void slices_destroy(struct slices *slices);

/* slice(arg) is one slice.  caller (copied): works of the same caller share one place in the row.
 */
struct slice_work *slice_work_create(struct slices *slices, const char *caller, loop_f slice,
                                     void *arg);
void slice_work_destroy(struct slice_work *work); /* NULL is allowed; allowed in its own slice */

/* Asks for one slice, behind those who wait already; asking twice is asking once.  It is called
 * from the loop, never in here; allowed in its own slice, which then asks for the next one. */
void slice_work_want(struct slice_work *work);
void slice_work_stop(struct slice_work *work); /* asks for none any more */
bool slice_work_waits(const struct slice_work *work);

/* Works that hold memory until somebody takes their result: of one caller only so many at a time.
 * True: it is one of them (from now on, until it leaves).  False: its slice is called again once
 * there is a place; it is to return then. */
bool slice_work_enter(struct slice_work *work, size_t most);
void slice_work_leave(struct slice_work *work); /* allowed when it has not entered */
size_t slice_caller_works(const struct slices *slices, const char *caller); /* of that caller */

#endif
