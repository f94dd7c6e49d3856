/* factory/shrink_plan.c - see shrink_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "factory/shrink_plan.h"

#include "base/plant.h"

enum turn { TURN_WAITS, TURN_STARTED, TURN_IDLE, TURN_CLAIMED, TURN_NEVER };

static enum turn turn_of(const struct shrink_item *item)
{
    if (item->is_going) {
        return TURN_NEVER;
    }
    switch (item->state) {
    case GLIDEIN_QUEUED:
    case GLIDEIN_HELD:
        return TURN_WAITS;
    case GLIDEIN_STARTED:
        return item->is_claimed ? TURN_CLAIMED : TURN_STARTED;
    case GLIDEIN_JOINED:
        return item->is_claimed ? TURN_CLAIMED : TURN_IDLE;
    case GLIDEIN_INTENDED: /* perhaps the site is being asked for it */
    case GLIDEIN_LEFT:     /* it goes already */
    case GLIDEIN_STATES:
        break;
    }
    return TURN_NEVER;
}

size_t shrink_plan_choose(const struct shrink_item *items, size_t n, size_t count, bool force,
                          size_t *ret)
{
    size_t chosen = 0;
    for (enum turn turn = TURN_WAITS; turn < (force ? TURN_NEVER : TURN_CLAIMED); turn++) {
        for (size_t i = 0; i < n && chosen < count; i++) {
            size_t at = turn == TURN_WAITS ? n - 1 - i : i;
            if (turn_of(&items[at]) == turn) {
                ret[chosen++] = at;
            }
        }
    }
    return chosen;
}

size_t shrink_plan_share(size_t total)
{
    return PLANTED(removal_of_all) ? total : (total + SHRINK_SHARE - 1) / SHRINK_SHARE;
}

size_t shrink_plan_times(size_t total, size_t removals)
{
    size_t times = 0;
    while (removals > 0 && total > 0) {
        size_t share = shrink_plan_share(total);
        share = share < removals ? share : removals;
        total -= share;
        removals -= share;
        times++;
    }
    return times;
}
