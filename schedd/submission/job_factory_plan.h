/* schedd/submission/job_factory_plan.h - decides how many jobs of a cluster its factory may make
 * now, and which of their attributes are kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SCHEDD_SUBMISSION_JOB_FACTORY_PLAN_H
#define SCHEDD_SUBMISSION_JOB_FACTORY_PLAN_H

#include <stdbool.h>
#include <stdint.h>

struct ad;

/* The values of JobMaterializePaused. */
enum { FACTORY_BAD_ITEM = -1, FACTORY_RUNS = 0, FACTORY_HELD = 1 };

struct factory_facts {
    int64_t next, total;     /* ProcId of the next job to make; number of all jobs of the cluster */
    int64_t alive, idle;     /* numbers of the cluster's jobs in the queue, and of the idle ones */
    int64_t limit, max_idle; /* JobMaterializeLimit, JobMaterializeMaxIdle; below 0: no limit */
    /* how many more jobs the queue may have, and the owner may have */
    int64_t queue_room, owner_room;
    bool paused;
};

/* Returns how many jobs to make now, >= 0. */
int64_t factory_plan_wanted(const struct factory_facts *facts);
/* Returns true when jobs could be made now if the limit of the queue, or of the owner's jobs, were
 * higher. */
bool factory_plan_waits_for_room(const struct factory_facts *facts);

/* Removes from a job's own attributes those that the schedd sets itself, and those that can be
 * known only on the submitting host (sizes of files); for these the job has the cluster's value. */
void factory_plan_clean(struct ad *own);

#endif
