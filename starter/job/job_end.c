/* starter/job/job_end.c - makes sure that nothing of the job is left that could write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "starter/job/job_end.h"

#include "starter/job/cage.h"
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
