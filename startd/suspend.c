/* startd/suspend.c - see suspend.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "startd/suspend.h"

#include "base/loop.h"
#include "startd/claim_facts.h"
#include "startd/claim_record.h"
#include "startd/startd.h"

static void recorded(void *arg)
{
    claim_say_alive(arg); /* the schedd is told */
}

void claim_suspend(struct claim *claim)
{
    claim->suspended = true;
    claim->suspended_at_s = loop_wall_s(claim->startd->env.loop);
    claim->suspensions++;
    loop_timer_stop(claim->retire_timer); /* time does not count while it stands still */
    starters_suspend(claim);
    slot_move(claim->slot, SLOT_CLAIMED, SLOT_SUSPENDED);
    claim_commit(claim, recorded);
}

void claim_continue(struct claim *claim)
{
    claim->suspended_s = claim_suspended_s(claim);
    claim->suspended = claim->by_user = false;
    starters_suspend(claim);
    slot_move(claim->slot, SLOT_CLAIMED, SLOT_BUSY);
    claim_commit(claim, recorded);
    preempt_run_began(claim->slot); /* last: it goes on retiring if it has to go */
}
