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
/* Looks from now on every few seconds whether there is room, logs each change (spool.low,
 * spool.room), and has the ads sent again that tell of it. */
void spool_room_start(struct schedd *schedd);
void spool_room_stop(struct schedd *schedd);
/* Returns 0 if there is room for new jobs; or, with the disk's name in err, -ENOSPC or -EROFS. */
int spool_room_check(const struct schedd *schedd, struct err *err);

#endif
