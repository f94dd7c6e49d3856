/* schedd/queue/slice_commits.h - commits the slices of one long command, such as the removal of a
 * million jobs.
 *
 * Design note: a slice is quickly made, but its rows wait in memory until the disk has them.  So at
 * most SLICE_COMMITS_MAX slices of a command wait for the disk, and the next one is made when one
 * of them is durable.  After each SLICE_COMMITS_TELL durable slices the caller gets an empty part
 * of the answer.  A part begins the deadline of the request anew, so a command may take as long as
 * it needs, and a schedd that stands still is noticed all the same.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_QUEUE_SLICE_COMMITS_H
#define SCHEDD_QUEUE_SLICE_COMMITS_H

#define SLICE_COMMITS_MAX  16 /* slices of one command that are not durable yet */
#define SLICE_COMMITS_TELL 32 /* durable slices between two parts of the answer */

struct change;
struct schedd;
struct slice_commits;
struct slice_work;
struct wire_request;

/* turn is the work whose slices are committed.  turn and request must stay valid until
 * slice_commits_end(). */
struct slice_commits *slice_commits_create(struct schedd *schedd, struct wire_request *request,
                                           struct slice_work *turn);
/* Commits the change of a slice that is not the last one, and calls slice_work_want() for the next
 * slice: now, or when a slice is durable.  After each commit claims_flush() is called. */
void slice_commits_add(struct slice_commits *commits, struct change *change);
/* To be called before the turn or the request ends.  Slices that are not durable yet are committed
 * all the same.  NULL is allowed. */
void slice_commits_end(struct slice_commits *commits);

#endif
