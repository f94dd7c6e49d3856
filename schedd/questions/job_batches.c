/* schedd/questions/job_batches.c - see job_batches.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/questions/job_batches.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/queue_table.h"

#define STATUSES 8 /* HTCondor's JobStatus, 1 to 7 */

struct batch {
    char *owner, *name; /* name "": the batch is that of a cluster */
    int64_t qdate_s;
    int64_t first_cluster, last_cluster;
    uint32_t first_proc, last_proc;
    int64_t jobs[STATUSES];
    int64_t disconnected; /* of the running and suspended ones: their machine is not heard */
    int64_t submitted;
    int64_t later;  /* jobs still to be made */
    int64_t paused; /* JobMaterializePaused; 0: not paused */
    /* cluster with a paused factory, or the last one with a factory */
    const struct cluster *factory;
};

struct job_batches {
    struct strmap *by_key;
    struct vec list;
    int64_t cluster; /* cluster of the last job */
    struct batch *last;
};

struct job_batches *job_batches_create(void)
{
    struct job_batches *batches = mem_zalloc(sizeof(*batches));
    batches->by_key = strmap_create(STRMAP_CASE_SENSITIVE);
    return batches;
}

static void batch_destroy(void *value)
{
    struct batch *batch = value;
    mem_free(batch->owner);
    mem_free(batch->name);
    mem_free(batch);
}

void job_batches_destroy(struct job_batches *batches)
{
    if (batches != NULL) {
        strmap_destroy(batches->by_key, NULL);
        vec_fini(&batches->list, batch_destroy);
        mem_free(batches);
    }
}

static struct batch *batch_of(struct job_batches *batches, const struct cluster *cluster,
                              const char *name, uint32_t proc)
{
    struct strbuf key;
    strbuf_init(&key, 0);
    if (name[0] != '\0') {
        strbuf_printf(&key, "%s\n%s", cluster->owner->name, name);
    } else {
        strbuf_printf(&key, "\n%lld", (long long)cluster->id); /* as no name of an owner begins */
    }
    struct batch *batch = strmap_get(batches->by_key, strbuf_text(&key));
    if (batch == NULL) {
        batch = mem_zalloc(sizeof(*batch));
        batch->owner = mem_strdup(cluster->owner->name);
        batch->name = mem_strdup(name);
        batch->qdate_s = cluster->qdate_s;
        batch->first_cluster = cluster->id;
        batch->first_proc = proc;
        (void)strmap_set(batches->by_key, strbuf_text(&key), batch); /* was absent */
        vec_push(&batches->list, batch);
    }
    strbuf_fini(&key);
    return batch;
}

void job_batches_add(struct job_batches *batches, const struct job *job)
{
    const struct cluster *cluster = job->cluster;
    bool odd = cluster->own_batches && job->own != NULL && ad_has(job->own, "JobBatchName");
    struct batch *batch =
        !odd && cluster->id == batches->cluster && batches->last != NULL
            ? batches->last
            : batch_of(batches, cluster,
                       job_string(job, "JobBatchName", job_string(job, "JobSetName", "")),
                       job->proc);
    if (!odd) {
        batches->last = batch;
        batches->cluster = cluster->id;
    }
    if (cluster->id != batch->last_cluster) {
        batch->submitted += ad_int_or(cluster->ad, "TotalSubmitProcs", 0);
    }
    batch->last_cluster = cluster->id;
    batch->last_proc = job->proc;
    int status = (int)job_status(job);
    batch->jobs[status > 0 && status < STATUSES ? status : 0]++;
    if (status == STATUS_RUNNING || status == STATUS_TRANSFERRING || status == STATUS_SUSPENDED) {
        batch->disconnected += job->own != NULL && ad_has(job->own, "JobDisconnectedDate") ? 1 : 0;
    }
}

void job_batches_add_factory(struct job_batches *batches, const struct cluster *cluster)
{
    int64_t next = ad_int_or(cluster->ad, "JobMaterializeNextProcId", 0);
    int64_t total = ad_int_or(cluster->ad, "TotalSubmitProcs", 0);
    struct batch *batch = batch_of(batches, cluster,
                                   ad_string_or(cluster->ad, "JobBatchName",
                                                ad_string_or(cluster->ad, "JobSetName", "")),
                                   (uint32_t)next);
    if (cluster->id != batch->last_cluster) {
        batch->submitted += total;
        batch->last_cluster = cluster->id;
        batch->last_proc = (uint32_t)next;
    }
    batch->later += next < total ? total - next : 0;
    batch->factory = batch->paused != 0 ? batch->factory : cluster;
    batch->paused = ad_int_or(batch->factory->ad, "JobMaterializePaused", 0);
}

size_t job_batches_count(const struct job_batches *batches)
{
    return batches->list.count;
}

struct ad *job_batches_ad(const struct job_batches *batches, size_t index)
{
    const struct batch *batch = batches->list.items[index];
    struct ad *ad = ad_create();
    ad_set_string(ad, "Owner", batch->owner);
    if (batch->name[0] != '\0') {
        ad_set_string(ad, "JobBatchName", batch->name);
    }
    ad_set_int(ad, "QDate", batch->qdate_s);
    ad_set_int(ad, "ClusterId", batch->first_cluster);
    ad_set_int(ad, "ProcId", batch->first_proc);
    ad_set_int(ad, "LastClusterId", batch->last_cluster);
    ad_set_int(ad, "LastProcId", batch->last_proc);
    ad_set_int(ad, "IdleJobs", batch->jobs[STATUS_IDLE]);
    ad_set_int(ad, "RunningJobs", batch->jobs[STATUS_RUNNING] + batch->jobs[STATUS_TRANSFERRING]);
    ad_set_int(ad, "HeldJobs", batch->jobs[STATUS_HELD]);
    ad_set_int(ad, "CompletedJobs", batch->jobs[STATUS_COMPLETED]);
    ad_set_int(ad, "RemovedJobs", batch->jobs[STATUS_REMOVED]);
    ad_set_int(ad, "SuspendedJobs", batch->jobs[STATUS_SUSPENDED]);
    ad_set_int(ad, "DisconnectedJobs", batch->disconnected);
    ad_set_int(ad, "TotalSubmitProcs", batch->submitted);
    if (batch->factory != NULL) {
        ad_set_int(ad, "UnmaterializedJobs", batch->later);
        ad_set_int(ad, "JobMaterializePaused", batch->paused);
        (void)ad_copy_attr(ad, "JobMaterializePauseReason", batch->factory->ad,
                           "JobMaterializePauseReason"); /* absent: left out */
    }
    return ad;
}
