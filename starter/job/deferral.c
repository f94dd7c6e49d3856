/* starter/job/deferral.c - a job with a start time waits for it here, with its files in place and
 * nothing of it running.
 *
 * DeferralTime is evaluated once, when the job could begin.  The wall clock is read again and
 * again, because it may be set, and the loop's clock does not follow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/job/deferral.h"

#include <stdio.h>

#include "base/log.h"
#include "base/loop.h"
#include "classad/ad.h"
#include "starter/job_run.h"
#include "starter/starter.h"
#include "starter/starter_plan.h"

#define HOLD_MISSED  20 /* HTCondor's number: MissedDeferredExecutionTime */
#define LOOK_AGAIN_S 30 /* the longest between two looks at the clock */

void deferral_tick(void *arg)
{
    struct starter *starter = arg;
    if (starter->run.phase == STARTER_RUN && starter->run.process.pid == 0) {
        job_run_wake(starter, WAKE_GO);
    }
}

bool deferral_holds_back(struct starter *starter)
{
    int64_t now_s = loop_wall_s(starter->env.loop);
    if (starter->run.deferred.over) {
        return false;
    }
    if (!starter->run.deferred.known) {
        starter->run.deferred.known = true;
        starter->run.deferred.kind =
            starter_plan_deferral_read(starter->run.job, now_s, &starter->run.deferred.begin_s,
                                       &starter->run.deferred.until_s);
        if (starter->run.deferred.kind == DEFERRAL_WAITS) {
            log_info(starter->env.log, "job.deferred", "the job waits for its start time",
                     LOG_TEXT("job", starter->run.job_id),
                     LOG_INT("seconds", starter->run.deferred.begin_s - now_s));
        }
    }
    if (starter->run.deferred.kind == DEFERRAL_INVALID) {
        job_run_hold(starter, HOLD_MISSED, 0,
                     "DeferralTime is not a time: it must be a number of seconds since 1970");
        return true;
    }
    if (starter->run.deferred.kind == DEFERRAL_NONE || now_s >= starter->run.deferred.begin_s) {
        /* One that waited may be woken a little late; a machine that slept meanwhile is too late.
         */
        int64_t late_s = now_s - (starter->run.deferred.waited ? LOOK_AGAIN_S : 0);
        if (starter->run.deferred.kind != DEFERRAL_NONE && late_s > starter->run.deferred.until_s) {
            job_run_hold(starter, HOLD_MISSED, 0, "Job missed deferred execution time");
            return true;
        }
        starter->run.deferred.over = true;
        return false;
    }
    int64_t wait_s = starter->run.deferred.begin_s - now_s;
    int64_t look_s = wait_s < LOOK_AGAIN_S ? wait_s : LOOK_AGAIN_S;
    uint64_t wait_ms = (uint64_t)look_s * 1000;
    if (look_s == wait_s) { /* to the second, not up to one later */
        wait_ms -= (uint64_t)(loop_wall_ms(starter->env.loop) % 1000);
    }
    starter->run.deferred.waited = true;
    loop_timer_set(starter->timers[TIMER_DEFERRAL], wait_ms);
    return true;
}
