/* cli/drain_wait_plan.c - see drain_wait_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/drain_wait_plan.h"

#include <stddef.h>
#include <string.h>

#include "classad/ad.h"

int64_t drain_wait_cancel_s(const struct ad *slot)
{
    return slot != NULL ? ad_int_or(slot, "LastDrainCancelTime", 0) : 0;
}

/* A time that has changed, not one that has passed: it is of the machine's clock.  No time at all
 * is that of a startd that was started again. */
static bool was_cancelled_before_its_turn(const struct drain_watched *watched,
                                          const struct ad *slot)
{
    int64_t cancel_s = drain_wait_cancel_s(slot);
    return cancel_s != 0 && cancel_s != watched->cancel_s;
}

enum drain_progress drain_wait_judge(const struct drain_watched *watched, const struct ad *machine,
                                     const struct ad *slot)
{
    if (watched->id == NULL) {
        return was_cancelled_before_its_turn(watched, slot) ? DRAIN_WAS_CANCELLED : DRAIN_GOES_ON;
    }
    if (slot != NULL && strcmp(ad_string_or(slot, "LastDrainCancelledId", ""), watched->id) == 0) {
        return DRAIN_WAS_CANCELLED;
    }
    if (machine != NULL &&
        strcmp(ad_string_or(machine, "DrainingRequestId", ""), watched->id) == 0) {
        bool is_drained = strcmp(ad_string_or(machine, "DrainingState", ""), "Drained") == 0;
        return watched->stays && is_drained ? DRAIN_IS_DRAINED : DRAIN_GOES_ON;
    }
    return watched->was_seen || watched->is_late ? DRAIN_IS_OVER : DRAIN_GOES_ON;
}
