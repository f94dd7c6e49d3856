/* schedd/queue/queue_table.c - see queue_table.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/queue/queue_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/schedd_state.h"
#include "wire/root_jobs.h"

/* Memory is given back when so many jobs have left, or when a few have started: each of their
 * starts needs much of it. */
#define TRIM_JOBS   10000
#define TRIM_STARTS 20

/* ---- owners ---------------------------------------------------------------------------------- */

bool owner_name_is_valid(const char *name)
{
    size_t length = strlen(name);
    if (length == 0 || length > OWNER_NAME_MAX || name[0] == '-' || name[0] == '.') {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char c = name[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!plain && strchr("._-", c) == NULL) {
            return false;
        }
    }
    return true;
}

struct owner *queue_owner(struct schedd *schedd, const char *name)
{
    struct owner *owner = strmap_get(schedd->queue.owners, name);
    if (owner == NULL) {
        CHECK(owner_name_is_valid(name));
        owner = mem_zalloc(sizeof(*owner));
        memcpy(owner->name, name, strlen(name) + 1);
        struct strbuf user;
        strbuf_init(&user, 0);
        strbuf_printf(&user, "%s@%s", name, schedd->self.uid_domain);
        owner->user = strbuf_take(&user);
        owner->is_root = root_jobs_name(schedd->os, name);
        (void)strmap_set(schedd->queue.owners, name, owner); /* was absent */
    }
    return owner;
}

static void owner_destroy(void *value)
{
    struct owner *owner = value;
    mem_free(owner->charge_words);
    mem_free(owner->shadow_error);
    mem_free(owner->user);
    mem_free(owner);
}

/* ---- finding --------------------------------------------------------------------------------- */

void cluster_row_key(int64_t id, char ret[JOB_KEY_SIZE])
{
    (void)snprintf(ret, JOB_KEY_SIZE, "%010" PRId64, id); /* fits */
}

struct cluster *queue_cluster(const struct schedd *schedd, int64_t id)
{
    char key[JOB_KEY_SIZE];
    cluster_row_key(id, key);
    return strmap_get(schedd->queue.clusters, key);
}

struct job *queue_job(const struct schedd *schedd, int64_t cluster_id, int64_t proc)
{
    const struct cluster *cluster = queue_cluster(schedd, cluster_id);
    if (cluster == NULL || proc < 0 || proc >= cluster->proc_count) {
        return NULL;
    }
    return cluster->procs[proc];
}

struct job *queue_job_by_id(const struct schedd *schedd, const char *id)
{
    int64_t cluster = 0;
    int64_t proc = 0;
    return job_id_parse(id, &cluster, &proc) ? queue_job(schedd, cluster, proc) : NULL;
}

void queue_walk(const struct schedd *schedd, bool (*each)(void *arg, struct job *job), void *arg)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.clusters, &at, NULL, &value)) {
        const struct cluster *cluster = value;
        for (uint32_t i = 0; i < cluster->proc_count; i++) {
            if (cluster->procs[i] != NULL && !each(arg, cluster->procs[i])) {
                return;
            }
        }
    }
}

const struct ad *queue_show(struct schedd *schedd, const char *id)
{
    const struct job *job = queue_job_by_id(schedd, id);
    if (job == NULL) {
        return NULL;
    }
    ad_destroy(schedd->queue.shown);
    schedd->queue.shown = job_flat(schedd, job);
    return schedd->queue.shown;
}

/* ---- how many jobs are in each status -------------------------------------------------------- */

static void count_status(struct schedd *schedd, struct owner *owner, enum job_status status,
                         int64_t by)
{
    switch (status) {
    case STATUS_IDLE:
        schedd->queue.idle += by;
        owner->idle += by;
        break;
    case STATUS_RUNNING:
    case STATUS_TRANSFERRING:
        schedd->queue.running += by;
        owner->running += by;
        break;
    case STATUS_SUSPENDED:
        schedd->queue.suspended += by;
        owner->suspended += by;
        break;
    case STATUS_HELD:
        schedd->queue.held += by;
        owner->held += by;
        break;
    case STATUS_COMPLETED:
        schedd->queue.completed += by;
        break;
    default:
        CHECK(status == STATUS_IDLE); /* no job in the queue has another */
    }
}

static void count_job(struct schedd *schedd, const struct job *job, enum job_status status, int by)
{
    struct cluster *cluster = job->cluster;
    count_status(schedd, cluster->owner, status, by);
    if (status == STATUS_IDLE) {
        cluster->idle = by > 0 ? cluster->idle + 1 : cluster->idle - 1;
    }
}

bool queue_note_status(struct schedd *schedd, struct job *job, enum job_status before)
{
    enum job_status after = job_status(job);
    if (after == before) {
        return false;
    }
    job->entered_s = loop_wall_s(schedd->loop);
    job->last = (uint8_t)before;
    count_job(schedd, job, before, -1);
    count_job(schedd, job, after, 1);
    if (after == STATUS_RUNNING) {
        trimmer_moved(&schedd->queue.trimmer, TRIM_JOBS / TRIM_STARTS);
    }
    return true;
}

void queue_note_suspended(struct schedd *schedd, struct job *job)
{
    count_job(schedd, job, job_status(job), -1);
    job->suspended = true;
    count_job(schedd, job, job_status(job), 1);
}

static void count_disconnected(struct schedd *schedd, const struct job *job, int by)
{
    schedd->queue.disconnected += by;
    job->cluster->owner->disconnected += by;
}

void queue_note_disconnected(struct schedd *schedd, struct job *job, int64_t since_s)
{
    bool was = job->own != NULL && ad_has(job->own, "JobDisconnectedDate");
    if (since_s != 0) {
        ad_set_int(job_own(job), "JobDisconnectedDate", since_s);
        count_disconnected(schedd, job, was ? 0 : 1);
    } else if (was) {
        ad_remove(job_own(job), "JobDisconnectedDate");
        count_disconnected(schedd, job, -1);
    }
}

/* ---- in and out ------------------------------------------------------------------------------ */

struct cluster *queue_add_cluster(struct schedd *schedd, struct owner *owner, struct ad *ad,
                                  int64_t qdate_s)
{
    struct cluster *cluster = mem_zalloc(sizeof(*cluster));
    cluster->id = ad_int_or(ad, "ClusterId", 0);
    CHECK(cluster->id > 0 && queue_cluster(schedd, cluster->id) == NULL);
    cluster->owner = owner;
    ad_pack(schedd->queue.pool, NULL, ad);
    cluster->ad = ad;
    cluster->qdate_s = qdate_s;
    char key[JOB_KEY_SIZE];
    cluster_row_key(cluster->id, key);
    (void)strmap_set(schedd->queue.clusters, key, cluster); /* was absent */
    if (cluster->id >= schedd->queue.next_cluster) {
        schedd->queue.next_cluster = cluster->id + 1;
    }
    return cluster;
}

void queue_make_room(struct cluster *cluster, uint32_t proc)
{
    if (proc < cluster->proc_count) {
        return;
    }
    uint32_t old = cluster->proc_count;
    uint32_t wanted = proc + 1;
    /* powers of two: as many realloc calls as doublings */
    uint32_t capacity = 1;
    while (capacity < wanted) {
        capacity *= 2;
    }
    cluster->procs = mem_realloc(cluster->procs, (size_t)capacity * sizeof(struct job *));
    memset(cluster->procs + old, 0, (size_t)(wanted - old) * sizeof(struct job *));
    cluster->proc_count = wanted;
}

struct job *queue_put_job(struct schedd *schedd, struct cluster *cluster, uint32_t proc,
                          struct ad *own, enum job_phase phase)
{
    queue_make_room(cluster, proc);
    CHECK(cluster->procs[proc] == NULL);
    struct job *job = mem_zalloc(sizeof(*job));
    job->cluster = cluster;
    job->proc = proc;
    job->own = own;
    if (own != NULL) {
        ad_pack(schedd->queue.pool, NULL, own);
    }
    job->heap_at = HEAP_NOWHERE;
    job->phase = (uint8_t)phase;
    cluster->procs[proc] = job;
    cluster->alive++;
    cluster->owner->jobs++;
    schedd->queue.total++;
    count_job(schedd, job, job_status(job), 1);
    return job;
}

void queue_note_own(struct job *job)
{
    struct cluster *cluster = job->cluster;
    if (!cluster->own_batches && job->own != NULL) {
        cluster->own_batches = ad_has(job->own, "JobBatchName");
    }
}

static void job_destroy(struct job *job)
{
    ad_destroy(job->own);
    mem_free(job->nonce);
    mem_free(job);
}

void queue_take_job(struct schedd *schedd, struct job *job)
{
    trimmer_moved(&schedd->queue.trimmer, 1);
    struct cluster *cluster = job->cluster;
    queue_note_disconnected(schedd, job, 0);
    count_job(schedd, job, job_status(job), -1);
    cluster->owner->jobs--;
    schedd->queue.total--;
    cluster->procs[job->proc] = NULL;
    cluster->alive--;
    job_destroy(job);
}

static void cluster_free(struct cluster *cluster)
{
    ad_destroy(cluster->ad);
    mem_free(cluster->procs);
    mem_free(cluster);
}

void queue_take_cluster(struct schedd *schedd, struct cluster *cluster)
{
    char key[JOB_KEY_SIZE];
    cluster_row_key(cluster->id, key);
    CHECK(strmap_remove(schedd->queue.clusters, key) == cluster);
    cluster_free(cluster);
}

static void cluster_destroy(void *value)
{
    struct cluster *cluster = value;
    for (uint32_t i = 0; i < cluster->proc_count; i++) {
        if (cluster->procs[i] != NULL) {
            job_destroy(cluster->procs[i]);
        }
    }
    cluster_free(cluster);
}

void queue_table_init(struct schedd *schedd)
{
    schedd->queue.clusters = strmap_create(STRMAP_CASE_SENSITIVE);
    schedd->queue.owners = strmap_create(STRMAP_CASE_SENSITIVE);
    schedd->queue.next_cluster = 1;
    schedd->queue.pool = ad_pool_create();
    trimmer_init(&schedd->queue.trimmer, schedd->loop, TRIM_JOBS);
}

void queue_table_fini(struct schedd *schedd)
{
    strmap_destroy(schedd->queue.clusters, cluster_destroy);
    strmap_destroy(schedd->queue.owners, owner_destroy);
    vec_fini(&schedd->reservations, mem_free);
    ad_destroy(schedd->queue.shown);
    ad_pool_destroy(schedd->queue.pool);
    trimmer_fini(&schedd->queue.trimmer);
    schedd->queue.pool = NULL;
    schedd->queue.clusters = NULL;
    schedd->queue.owners = NULL;
    schedd->queue.shown = NULL;
}
