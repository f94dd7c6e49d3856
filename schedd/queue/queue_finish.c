/* schedd/queue/queue_finish.c - see queue_finish.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/queue/queue_finish.h"

#include <stdint.h>

#include "base/check.h"
#include "base/loop.h"
#include "classad/ad.h"
#include "schedd/submission/factory_kick.h"
#include "schedd/queue/job_ad.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/queue/job_change.h"
#include "schedd/job_checkpoints.h"
#include "schedd/job_events.h"
#include "schedd/questions/job_history.h"
#include "schedd/claim/job_nonce.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/submission/spool_sandbox.h"

void queue_drop_cluster(struct schedd *schedd, struct cluster *cluster)
{
    CHECK(cluster->alive == 0 && cluster->factory == NULL);
    if (cluster->common != NULL) {
        autocluster_release(schedd, cluster->common);
    }
    queue_take_cluster(schedd, cluster);
}

void queue_drop_if_empty(struct change *change, struct cluster *cluster)
{
    if (cluster->alive == 0 && cluster->factory == NULL && !cluster->submitting) {
        char key[JOB_KEY_SIZE];
        cluster_row_key(cluster->id, key);
        change_delete(change, "clusters", key);
        if (ad_has(cluster->ad, "JobMaterializeNextProcId")) {
            int64_t made = ad_int_or(cluster->ad, "JobMaterializeNextProcId", 0);
            bool all = made >= ad_int_or(cluster->ad, "TotalSubmitProcs", 0);
            events_cluster_removed(change, cluster, made,
                                   ad_int_or(cluster->ad, "JobMaterializeItemCount", 0),
                                   all ? 1 : 0, NULL);
        }
        queue_drop_cluster(change_schedd(change), cluster);
    }
}

void queue_finish(struct change *change, struct job *job, enum job_status status)
{
    struct schedd *schedd = change_schedd(change);
    struct cluster *cluster = job->cluster;
    CHECK(job->claim == NULL);
    CHECK(status == STATUS_COMPLETED || status == STATUS_REMOVED);
    int64_t now_s = loop_wall_s(schedd->loop);
    struct ad *flat = job_flat(schedd, job);
    ad_set_int(flat, "JobStatus", status);
    if (job_status(job) != status) { /* else it stayed in the queue */
        ad_set_int(flat, "LastJobStatus", job_status(job));
        ad_set_int(flat, "EnteredCurrentStatus", now_s);
    }
    ad_remove(flat, "ClaimState");
    ad_remove(flat, "ShadowError");
    history_add(change, flat, status == STATUS_COMPLETED ? job->epoch : 0, now_s);
    change_job_gone(change, job, flat);
    ad_destroy(flat);
    char key[JOB_KEY_SIZE];
    job_row_key(job, key);
    change_delete(change, "jobs", key);
    nonce_drop(change, job);

    checkpoints_forget(change, job, true);
    spool_sandbox_forget(change, cluster, job->proc, cluster->alive == 1 && !cluster->submitting);
    if (job->phase == JOB_IDLE && job->leaving == 0) {
        autocluster_pull(schedd, job, false);
    }
    autocluster_leave(schedd, job);
    queue_take_job(schedd, job);
    factory_kick(cluster);
    factory_kick_waiting(schedd);
    queue_drop_if_empty(change, cluster);
}
