/* schedd/policy/job_cron.c - see job_cron.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/policy/job_cron.h"

#include <errno.h>
#include <stdint.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/os/os.h"
#include "classad/ad.h"
#include "schedd/policy/cron_plan.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"

static bool has_times(const struct job *job)
{
    return cron_plan_matters(job->cluster->ad) || cron_plan_matters(job->own);
}

static int32_t zone_s(void *arg, int64_t utc_s)
{
    return os_zone_offset_s(arg, utc_s);
}

int cron_refresh(struct schedd *schedd, struct job *job, struct err *err)
{
    if (!has_times(job)) {
        return 0;
    }
    int64_t now_s = loop_wall_s(schedd->loop), next_s = 0;
    int64_t begin_s = job_int(job, "DeferralTime", 0);
    if (begin_s > 0 && now_s <= begin_s + job_int(job, "DeferralWindow", 0)) {
        return 0;
    }
    struct cron_times times;
    struct ad *view = job_view(schedd, job);
    int result = cron_plan_read(view, &times, err);
    ad_destroy(view);
    if (result != 0) {
        return result;
    }
    next_s = cron_plan_next(&times, now_s, zone_s, schedd->os);
    if (next_s < 0) {
        return err_set(err, -EINVAL, "none of the job's start times (CronMinute, ...) ever comes");
    }
    ad_set_int(job_own(job), "DeferralTime", next_s);
    return 1;
}

void cron_ran(struct job *job)
{
    if (has_times(job)) {
        ad_set_int(job_own(job), "DeferralTime", 0); /* of its own: the cluster's stays hidden */
    }
}
