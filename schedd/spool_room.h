/* schedd/spool_room.h - whether the disk of the queue has room for new jobs.
 *
 * SPOOL_RESERVE of the disk is kept for the jobs that are in the queue already: their changes go on
 * while new jobs are refused.  What the store itself keeps (store_keep_reserve()) is part of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SPOOL_ROOM_H
#define SCHEDD_SPOOL_ROOM_H

struct err;
struct schedd;

/* To be called when the store is open: takes the store's part of the reserve. */
void spool_room_init(struct schedd *schedd);
/* From now on the disk is looked at every few seconds. */
void spool_room_start(struct schedd *schedd);
void spool_room_stop(struct schedd *schedd);
/* Looks at the disk.  A change is logged (spool.low, spool.room), and the ads that tell of it are
 * sent again.  Returns 0 if there is room for new jobs; or, with the disk's name in err, -ENOSPC or
 * -EROFS. */
int spool_room_check(struct schedd *schedd, struct err *err);
/* Returns what the last look found: why no new jobs are taken, or "". */
const char *spool_room_problem(const struct schedd *schedd);

#endif
