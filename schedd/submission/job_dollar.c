/* schedd/submission/job_dollar.c - see job_dollar.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/submission/job_dollar.h"

#include <errno.h>

#include "base/err.h"
#include "base/loop.h"
#include "classad/ad.h"
#include "schedd/submission/dollar_plan.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"

void dollar_look_at(struct schedd *schedd, struct job *job)
{
    struct cluster *cluster = job->cluster;
    if (!cluster->has_dollar) {
        cluster->has_dollar =
            (cluster->alive == 1 && dollar_plan_matters(cluster->ad)) || /* its first job */
            dollar_plan_matters(job->own);
        schedd->wants_slots = schedd->wants_slots || cluster->has_dollar;
    }
}

int dollar_expand(struct schedd *schedd, struct job *job, const struct ad *slot, struct err *err)
{
    if (!job->cluster->has_dollar) {
        return 0;
    }
    dollar_plan_forget(job_own(job));
    struct ad_context context = {.now_s = loop_wall_s(schedd->loop)};
    struct ad *view = job_view(schedd, job);
    struct ad *found = ad_create();
    int result = 0;
    if (dollar_plan_matters(view) || dollar_plan_matters(job->cluster->ad)) {
        result =
            slot != NULL
                ? dollar_plan_expand(view, job->cluster->ad, slot, &context, found, err)
                : err_set(err, -ENODATA, "the slot's ad, which $$() needs, is no longer known");
    }
    if (result == 0) {
        ad_merge(job_own(job), found);
    }
    ad_destroy(found);
    ad_destroy(view);
    return result;
}

struct ad *job_run_ad(const struct schedd *schedd, const struct job *job)
{
    struct ad *flat = job_flat(schedd, job);
    if (job->cluster->has_dollar) {
        dollar_plan_apply(job->own, flat);
    }
    return flat;
}
