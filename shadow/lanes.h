/* shadow/lanes.h - chooses the lane (a worker thread's queue) on which the files of a job are read
 * and written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SHADOW_LANES_H
#define SHADOW_LANES_H

struct ad;
struct loop_lane;
struct shadow;

/* Returns the lane for the job with this id: always the same one, so that works of its runs follow
 * one another. */
struct loop_lane *lanes_of(const struct shadow *shadow, const char *id);
/* Returns a copy that shares no memory with ad, so that a lane can use it.  Owned by the caller. */
struct ad *lanes_copy_ad(const struct ad *ad);

#endif
