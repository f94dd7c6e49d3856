/* schedd/queue/job_queue.c - see job_queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/queue/job_queue.h"

#include <stdint.h>

#include "base/check.h"
#include "base/loop.h"
#include "schedd/submission/factory_kick.h"
#include "schedd/queue/job_ad.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/policy/job_cron.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/requests/submitters.h"

#define TO(phase) (1U << (phase))
static const unsigned MOVES[JOB_PHASES] = {
    /* A late result of a run whose claim was given up still counts: JOB_IDLE to JOB_PLACING. */
    [JOB_IDLE] = TO(JOB_MATCHED) | TO(JOB_CLAIMED) | TO(JOB_PLACING) | TO(JOB_HELD),
    [JOB_MATCHED] = TO(JOB_IDLE) | TO(JOB_CLAIMED) | TO(JOB_PLACING) | TO(JOB_HELD),
    [JOB_CLAIMED] =
        TO(JOB_IDLE) | TO(JOB_CLAIMED) | TO(JOB_ACTIVE) | TO(JOB_PLACING) | TO(JOB_HELD),
    [JOB_ACTIVE] = TO(JOB_IDLE) | TO(JOB_CLAIMED) | TO(JOB_PLACING) | TO(JOB_HELD),
    [JOB_PLACING] = TO(JOB_HELD) | TO(JOB_IDLE) | TO(JOB_COMPLETED),
    [JOB_HELD] = TO(JOB_IDLE) | TO(JOB_PLACING),
    [JOB_COMPLETED] = 0,
    [JOB_GONE] = 0,
};

static void status_changed(struct schedd *schedd, struct job *job, enum job_status before)
{
    if (queue_note_status(schedd, job, before)) {
        factory_kick(job->cluster);
        submitter_count(schedd, job, before, -1);
        submitter_count(schedd, job, job_status(job), 1);
    }
}

void queue_suspend(struct schedd *schedd, struct job *job, bool suspended)
{
    CHECK(job->phase == JOB_ACTIVE && job->suspended != suspended);
    enum job_status before = job_status(job);
    job->suspended = suspended;
    status_changed(schedd, job, before);
}

void queue_move(struct schedd *schedd, struct job *job, enum job_phase phase)
{
    CHECK((MOVES[job->phase] & TO(phase)) != 0);
    enum job_status before = job_status(job);
    if (job->phase == JOB_IDLE && job->leaving == 0) {
        autocluster_pull(schedd, job, phase == JOB_CLAIMED);
    }
    if (job->phase == JOB_HELD) {
        job->staged = false;
    }
    job->phase = (uint8_t)phase;
    job->suspended = false;
    status_changed(schedd, job, before);
    if (phase == JOB_IDLE) {
        if (cron_refresh(schedd, job, NULL) > 0) { /* times that are none: its policy holds it */
            autocluster_rejoin(schedd, job);
        }
        if (job->leaving == 0) {
            autocluster_push(schedd, job);
        }
    }
}

void queue_leaves(struct job *job)
{
    CHECK(job->phase != JOB_IDLE && job->leaving < UINT8_MAX);
    job->leaving++;
}

void queue_left(struct schedd *schedd, struct job *job)
{
    CHECK(job->leaving > 0);
    if (--job->leaving == 0 && job->phase == JOB_IDLE) {
        autocluster_push(schedd, job);
    }
}

struct job *queue_add_job(struct schedd *schedd, struct cluster *cluster, struct ad *own,
                          enum job_phase phase, bool may_run)
{
    struct job *job = queue_put_job(schedd, cluster, cluster->proc_count, own, phase);
    queue_note_own(job);
    job->entered_s = loop_wall_s(schedd->loop);
    job->leaving = may_run ? 0 : 1;
    if (phase == JOB_IDLE) {
        (void)cron_refresh(schedd, job, NULL); /* as above */
    }
    autocluster_join(schedd, job, 0);
    if (phase == JOB_IDLE && may_run) {
        autocluster_push(schedd, job);
    }
    return job;
}
