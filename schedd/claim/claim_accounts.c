/* schedd/claim/claim_accounts.c - see claim_accounts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/claim_accounts.h"

#include "base/loop.h"
#include "classad/ad.h"
#include "schedd/checkpoint_plan.h"
#include "schedd/queue/job_ad.h"
#include "schedd/job_suspensions.h"
#include "schedd/schedd_state.h"

static void add_real(struct job *job, const char *name, double more)
{
    double before = 0;
    struct ad *own = job_own(job);
    if (ad_get_real(own, name, &before) != 0) {
        before = ad_real_or(job->cluster->ad, name, 0);
    }
    ad_set_real(own, name, before + more);
}

double claim_slot_weight(const struct job *job)
{
    int64_t cpus = job_int(job, "CpusProvisioned", job_int(job, "RequestCpus", 1));
    return cpus > 0 ? (double)cpus : 1;
}

void claim_run_ended(struct schedd *schedd, struct job *job)
{
    struct ad *own = job_own(job);
    int64_t started_s = job_int(job, "JobCurrentStartDate", 0);
    if (job->phase == JOB_ACTIVE && started_s > 0) {
        int64_t run_s = loop_wall_s(schedd->loop) - started_s;
        double run = run_s > 0 ? (double)run_s : 0;
        add_real(job, "RemoteWallClockTime", run);
        add_real(job, "CumulativeSlotTime", run * claim_slot_weight(job));
        ad_set_real(own, "LastRemoteWallClockTime", run);
    }
    if (ad_has(own, "RemoteHost")) {
        (void)ad_copy_attr(own, "LastRemoteHost", own, "RemoteHost"); /* it is there */
    }
    ad_remove(own, "RemoteHost");
    ad_remove(own, "JobDisconnectedDate");
    /* The nonce stays: the starter may still have to be answered. */
}

void claim_run_committed(struct job *job)
{
    struct ad *own = job_own(job);
    double run =
        ad_real_or(own, "LastRemoteWallClockTime", 0) - (double)checkpoint_plan_run_saved_s(own);
    run = run > 0 ? run : 0;
    ad_set_int(job_own(job), "CommittedTime", job_int(job, "CommittedTime", 0) + (int64_t)run);
    add_real(job, "CommittedSlotTime", run * claim_slot_weight(job));
    suspensions_forget(job, true);
}
