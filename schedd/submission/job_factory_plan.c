/* schedd/submission/job_factory_plan.c - see job_factory_plan.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/submission/job_factory_plan.h"

#include "base/check.h"
#include "classad/ad.h"
#include "schedd/submission/submit_plan.h"

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t factory_plan_wanted(const struct factory_facts *facts)
{
    int64_t wanted = facts->total - facts->next;
    if (facts->paused) {
        return 0;
    }
    if (facts->limit >= 0) {
        wanted = least_of(wanted, facts->limit - facts->alive);
    }
    if (facts->max_idle >= 0) {
        wanted = least_of(wanted, facts->max_idle - facts->idle);
    }
    wanted = least_of(wanted, least_of(facts->queue_room, facts->owner_room));
    return wanted > 0 ? wanted : 0;
}

bool factory_plan_waits_for_room(const struct factory_facts *facts)
{
    struct factory_facts free = *facts;
    free.queue_room = free.owner_room = INT64_MAX;
    return factory_plan_wanted(facts) == 0 && factory_plan_wanted(&free) > 0;
}

void factory_plan_clean(struct ad *own)
{
    static const char *const SIZES[] = {"ExecutableSize", "ImageSize", "DiskUsage",
                                        "TransferInputSizeMB"};
    for (size_t i = 0; i < ARRAY_COUNT(SIZES); i++) {
        ad_remove(own, SIZES[i]);
    }
    submit_plan_clean(own);
}
