/* starter/job/job_end.c - makes sure that nothing of the job is left that could write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/job/job_end.h"

#include "base/loop.h"
#include "base/os/os.h"
#include "base/plant.h"
#include "starter/job/cage.h"
#include "starter/job/watch.h"
#include "starter/job_run.h"
#include "starter/peek.h"
#include "starter/starter.h"

void job_end_still(struct starter *starter)
{
    cage_empty(starter);
    peek_over(starter);
}

void job_end_held(struct starter *starter)
{
    starter->run.process.pid = -1;
    job_end_still(starter);
    job_run_enter(starter, STARTER_REPORT);
    job_run_wake(starter, WAKE_GO);
}

bool job_end_is_machines(struct starter *starter, const struct os_exit *how)
{
    bool lease_over = loop_now_ms(starter->env.loop) >= starter->run.lease.end_ms;
    if (starter->run.stop.how != RUNS_ON || starter->run.end.hold != NULL) {
        return false;
    }
    bool killed = how->keeper_killed && !PLANTED(keeper_ends_job);
    /* The kernel may have taken the init process for it. */
    bool no_memory = watch_saw_machines_oom(starter, how);
    if (!no_memory && (!killed || watch_is_over_memory(starter))) {
        return false;
    }
    starter->run.process.pid = -1;
    job_end_still(starter);
    if (how->keeper_killed && lease_over) { /* by the lease process of the cage */
        job_run_give_up(starter, "the claim's lease has expired");
    } else {
        job_run_blame_machine(starter,
                              no_memory
                                  ? "the machine ran out of memory, and the kernel killed the job"
                                  : "the init process of the job's container was killed");
    }
    return true;
}
