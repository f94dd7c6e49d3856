/* schedd/job_suspensions.c - see job_suspensions.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_suspensions.h"

#include <stddef.h>

#include "classad/ad.h"
#include "schedd/checkpoint_plan.h"
#include "schedd/queue/job_ad.h"

/* Private attributes: what the present run has added to the job's totals so far. */
#define RUN_SUSPENSIONS "RunSuspensions"
#define RUN_SUSPENDED_S "RunSuspensionTime"

static void add_news(struct job *job, const char *known, const char *total, int64_t told)
{
    struct ad *own = job_own(job);
    int64_t before = ad_int_or(own, known, 0);
    if (told > before) {
        ad_set_int(own, known, told);
        ad_set_int(own, total, job_int(job, total, 0) + told - before);
    }
}

void suspensions_note(struct job *job, const struct ad *told)
{
    int64_t count = ad_int_or(told, "NumSuspensions", 0);
    if (count > 0) {
        add_news(job, RUN_SUSPENSIONS, "TotalSuspensions", count);
        add_news(job, RUN_SUSPENDED_S, "CumulativeSuspensionTime",
                 ad_int_or(told, "SuspendedSeconds", 0));
        ad_set_int(job_own(job), "LastSuspensionTime", ad_int_or(told, "LastSuspensionTime", 0));
    }
}

void suspensions_forget(struct job *job, bool committed)
{
    struct ad *own = job_own(job);
    int64_t seconds = suspensions_s(job) - checkpoint_plan_suspension_saved_s(own);
    if (committed && seconds > 0) {
        ad_set_int(own, "CommittedSuspensionTime",
                   job_int(job, "CommittedSuspensionTime", 0) + seconds);
    }
    ad_remove(own, RUN_SUSPENSIONS);
    ad_remove(own, RUN_SUSPENDED_S);
}

int64_t suspensions_s(const struct job *job)
{
    return job->own != NULL ? ad_int_or(job->own, RUN_SUSPENDED_S, 0) : 0;
}
