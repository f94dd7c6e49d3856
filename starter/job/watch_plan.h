/* starter/job/watch_plan.h - decides how long the starter rests between two measurements of its
 * job.
 *
 * Pure.  A job that does nothing cannot use more than before, so it is measured ever less often;
 * what it does after a rest is seen at most WATCH_LOOK_MAX_MS later.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STARTER_JOB_WATCH_PLAN_H
#define STARTER_JOB_WATCH_PLAN_H

#include <stdint.h>

#define WATCH_LOOK_MS     1000 /* between two measurements of a job that works */
#define WATCH_LOOK_MAX_MS 5000 /* of a job that has done nothing for a while */

/* What a job had done at a measurement. */
struct watch_work {
    double cpu_s;           /* CPU time so far */
    int64_t processes;      /* that live */
    int64_t memory_kib;     /* in use */
    int64_t disk_kib;       /* in use */
    uint64_t traffic_bytes; /* sent and received so far */
};

/* Returns the ms until the next measurement: WATCH_LOOK_MS if something has changed between the
 * measurements `before` and `now` or the job has used 1 % of a CPU since; else twice pause_ms, the
 * time between these two, up to WATCH_LOOK_MAX_MS. */
uint64_t watch_plan_pause(uint64_t pause_ms, const struct watch_work *before,
                          const struct watch_work *now);

#endif
