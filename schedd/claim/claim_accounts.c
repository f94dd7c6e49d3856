/* schedd/claim/claim_accounts.c - see claim_accounts.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/claim_accounts.h"

#include <stddef.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "schedd/checkpoint_plan.h"
#include "schedd/claim/job_claims.h"
#include "schedd/job_suspensions.h"
#include "schedd/moments.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_change.h"
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

/* ---- how long a run lasts -------------------------------------------------------------------- */

/* Notes of moments (schedd/moments.h) in the job's own ad. */
#define RUN_GIVEN "RunGivenAt"
#define RUN_BEGAN "RunBeganAt"
#define RUN_ENDED "RunEndedAt"

#define RUN_TOLD_MAX_S (100 * 366 * INT64_C(86400))

void claim_run_given(struct schedd *schedd, struct job *job)
{
    struct ad *own = job_own(job);
    moment_note(schedd, own, RUN_GIVEN);
    ad_remove(own, RUN_BEGAN);
    ad_remove(own, RUN_ENDED);
    ad_set_int(own, "ShadowBday", loop_wall_s(schedd->loop));
}

void claim_run_began(struct schedd *schedd, struct job *job)
{
    struct ad *own = job_own(job);
    int64_t wall_s = loop_wall_s(schedd->loop);
    moment_note(schedd, own, RUN_BEGAN);
    if (ad_has(own, "JobCurrentStartDate")) {
        (void)ad_copy_attr(own, "JobLastStartDate", own, "JobCurrentStartDate"); /* there */
    }
    ad_set_int(own, "JobCurrentStartDate", wall_s);
    ad_set_int(own, "JobCurrentStartExecutingDate", wall_s);
    if (!ad_has(own, "JobStartDate")) {
        ad_set_int(own, "JobStartDate", wall_s);
    }
}

void claim_run_told(struct schedd *schedd, struct job *job, int64_t run_s)
{
    struct ad *own = job_own(job);
    int64_t at_ms = 0;
    if (job->phase == JOB_ACTIVE && run_s >= 0 && run_s <= RUN_TOLD_MAX_S &&
        ad_has(own, RUN_BEGAN) && !moment_of_this_boot(schedd, own, RUN_BEGAN, &at_ms)) {
        moment_note_ago(schedd, own, RUN_BEGAN, run_s);
        moment_note_ago(schedd, own, RUN_GIVEN, run_s); /* moments before */
        schedd->claimed.boot_wall_s = 0;                /* its stamps are to be looked at */
    }
}

int64_t claim_given_s(const struct schedd *schedd, const struct job *job)
{
    return moment_since_s(schedd, job->own, RUN_GIVEN, job_int(job, "ShadowBday", 0));
}

int64_t claim_ran_s(const struct schedd *schedd, const struct job *job)
{
    return moment_since_s(schedd, job->own, RUN_BEGAN, job_int(job, "JobCurrentStartDate", 0));
}

int64_t claim_idle_s(const struct schedd *schedd, const struct job *job)
{
    return moment_since_s(schedd, job->own, RUN_ENDED, job->entered_s);
}

/* Returns by how many seconds the stamp was moved. */
static int64_t move_stamp(struct schedd *schedd, struct job *job, const char *moment,
                          const char *stamp)
{
    int64_t at_ms = 0, before_s = 0;
    if (!moment_of_this_boot(schedd, job->own, moment, &at_ms) ||
        ad_get_int(job->own, stamp, &before_s) != 0) {
        return 0;
    }
    int64_t stamp_s = loop_wall_of_s(schedd->loop, at_ms), by_s = stamp_s - before_s;
    if (by_s >= -1 && by_s <= 1) { /* only rounded in another way */
        return 0;
    }
    ad_set_int(job->own, stamp, stamp_s);
    return by_s;
}

void claim_stamps_follow(struct schedd *schedd)
{
    /* The wall time of a fixed moment changes only when the clock was set. */
    int64_t boot_s = loop_wall_of_s(schedd->loop, 0), by_s = 0;
    if (boot_s == schedd->claimed.boot_wall_s) {
        return;
    }
    schedd->claimed.boot_wall_s = boot_s;
    struct change *change = change_begin(schedd);
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->claimed.by_id, &at, NULL, &value)) {
        struct job *job = ((struct claim *)value)->job;
        if (job == NULL || job->own == NULL || job->phase == JOB_MATCHED) {
            continue;
        }
        int64_t given_s = move_stamp(schedd, job, RUN_GIVEN, "ShadowBday");
        int64_t began_s = move_stamp(schedd, job, RUN_BEGAN, "JobCurrentStartDate");
        (void)move_stamp(schedd, job, RUN_BEGAN, "JobCurrentStartExecutingDate"); /* as far */
        if (given_s != 0 || began_s != 0) {
            by_s = given_s != 0 ? given_s : began_s;
            change_job(change, job);
        }
    }
    if (by_s != 0) {
        log_warn(schedd->log, "clock.set",
                 "the wall clock was set; the start times of running jobs move with it",
                 LOG_INT("by_s", by_s));
    }
    change_commit(change, NULL, NULL, NULL);
}

/* ---- accounts -------------------------------------------------------------------------------- */

void claim_run_ended(struct schedd *schedd, struct job *job)
{
    struct ad *own = job_own(job);
    if (job->phase == JOB_ACTIVE && job_has(job, "JobCurrentStartDate")) {
        double run = (double)claim_ran_s(schedd, job);
        add_real(job, "RemoteWallClockTime", run);
        add_real(job, "CumulativeSlotTime", run * claim_slot_weight(job));
        ad_set_real(own, "LastRemoteWallClockTime", run);
    }
    if (ad_has(own, "RemoteHost")) {
        (void)ad_copy_attr(own, "LastRemoteHost", own, "RemoteHost"); /* it is there */
    }
    moment_note(schedd, own, RUN_ENDED);
    ad_remove(own, "RemoteHost");
    queue_note_disconnected(schedd, job, 0);
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
