/* base/wall_offset.c - see wall_offset.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/wall_offset.h"

#define BEHIND_MS 2

int64_t wall_offset_ms(int64_t known_ms, int64_t wall_ms, uint64_t now_ms)
{
    int64_t found_ms = wall_ms - (int64_t)now_ms;
    if (known_ms == WALL_OFFSET_NONE || known_ms > found_ms ||
        found_ms - known_ms > WALL_OFFSET_SLACK_MS) {
        return found_ms - BEHIND_MS;
    }
    return known_ms;
}

int64_t wall_offset_earlier_ms(int64_t then_s, int64_t wall_s, uint64_t now_ms, bool earlier,
                               int64_t plausible_s)
{
    int64_t least_s = earlier ? (int64_t)(now_ms / 1000) : 0, age_s = 0;
    if (__builtin_sub_overflow(wall_s, then_s, &age_s) || age_s < least_s ||
        age_s - least_s > plausible_s) {
        return earlier ? 0 : (int64_t)now_ms;
    }
    return (int64_t)now_ms - age_s * 1000;
}
