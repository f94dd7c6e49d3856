/* base/wall_offset.h - what the wall clock is ahead of the clock that never jumps.
 *
 * Problem.  A daemon notes moments on CLOCK_BOOTTIME (loop_now_ms()), because the wall clock may be
 * set at any time, by years.  Others see these moments as wall times.  The two clocks cannot be
 * read in one instant, so a difference that is computed anew each time changes by a millisecond now
 * and then, and with it, sometimes, a stamp in whole seconds: an ad would be sent again for
 * nothing. So a process keeps the difference that it found first, and takes a new one only when the
 * wall clock was set.  Pure.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_WALL_OFFSET_H
#define BASE_WALL_OFFSET_H

#include <stdbool.h>
#include <stdint.h>

#define WALL_OFFSET_NONE INT64_MIN /* no difference is known yet */
/* milliseconds by which a known difference may be too small before it counts as wrong */
#define WALL_OFFSET_SLACK_MS 1000

/* Returns the difference to use from now on, in milliseconds: known_ms, unless it is
 * WALL_OFFSET_NONE, is larger than what both clocks show now, or is too small by more than
 * WALL_OFFSET_SLACK_MS.  A new difference is 2 ms too small, so that no stamp lies in the future.
 */
int64_t wall_offset_ms(int64_t known_ms, int64_t wall_ms, uint64_t now_ms);

/* Returns the moment of loop_now_ms(), perhaps below 0, of something of which only the wall time
 * then_s is known.  earlier: it was in an earlier boot for certain.  The wall clock may have been
 * set since, so it is taken at its word only where that is plausible: then_s is not in the future,
 * not within this boot if `earlier`, and not more than plausible_s seconds before this boot.
 * Otherwise as much has passed as is certain: the moment is the start of this boot if `earlier`,
 * else the present one. */
int64_t wall_offset_earlier_ms(int64_t then_s, int64_t wall_s, uint64_t now_ms, bool earlier,
                               int64_t plausible_s);

#endif
