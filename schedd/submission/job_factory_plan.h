/* schedd/submission/job_factory_plan.h - how many jobs of a cluster may be made now, and what of
 * them is kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_JOB_FACTORY_PLAN_H
#define SCHEDD_SUBMISSION_JOB_FACTORY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;

/* JobMaterializePaused */
enum { FACTORY_BAD_ITEM = -1, FACTORY_RUNS = 0, FACTORY_HELD = 1 };

struct factory_facts {
    int64_t next, total;            /* number of the next job; of all */
    int64_t alive, idle;            /* jobs of the cluster in the queue; of them idle */
    int64_t limit, max_idle;        /* JobMaterializeLimit, JobMaterializeMaxIdle; below 0: none */
    int64_t queue_room, owner_room; /* jobs that the queue, the owner may have more */
    bool paused;
};

int64_t factory_plan_wanted(const struct factory_facts *facts);
/* Only the queue's or the owner's limit stands in the way. */
bool factory_plan_waits_for_room(const struct factory_facts *facts);

/* Takes out of a job's own attributes what the schedd sets, and what can be known only where it was
 * submitted (sizes of files): that is the cluster's. */
void factory_plan_clean(struct ad *own);

#endif
