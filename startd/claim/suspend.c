/* startd/claim/suspend.c - see suspend.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */

#include "startd/claim/suspend.h"

#include "base/loop.h"
#include "startd/claim/claim.h"
#include "startd/claim/claim_facts.h"
#include "startd/claim/claim_record.h"
#include "startd/claim/preempt.h"
#include "startd/slot/slot.h"
#include "startd/startd_state.h"
#include "startd/starters.h"

static void suspension_recorded(void *arg)
{
    claim_say_alive(arg); /* the schedd is told */
}

void claim_suspend(struct claim *claim, enum suspended_by by)
{
    claim->suspension.by = by;
    claim->suspension.at_ms = (int64_t)loop_now_ms(claim->startd->env.loop);
    claim->suspension.count++;
    loop_timer_stop(claim->retirement.timer); /* time does not count while it stands still */
    starters_suspend(claim);
    slot_move(claim->slot, SLOT_CLAIMED, SLOT_SUSPENDED);
    claim_commit(claim, suspension_recorded);
}

void claim_continue(struct claim *claim)
{
    claim->suspension.total_s = claim_suspended_s(claim);
    claim->suspension.by = SUSPENDED_BY_NONE;
    starters_suspend(claim);
    slot_move(claim->slot, SLOT_CLAIMED, SLOT_BUSY);
    claim_commit(claim, suspension_recorded);
    preempt_run_began(claim->slot); /* last: it goes on retiring if it has to go */
}
