/* schedd/queue/queue_load.c - see queue_load.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/queue/queue_load.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_add.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/queue/job_change.h"
#include "schedd/submission/job_factory.h"
#include "schedd/claim/job_nonce.h"
#include "schedd/queue/queue_finish.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/requests/significant.h"
#include "store/store.h"

struct loading {
    struct schedd *schedd;
    struct cluster *cluster; /* of the last job; NULL: none yet */
    size_t bad;
    bool has_next; /* the row with the next cluster id is there */
};

static void leave_out(struct loading *loading, const char *table, const char *key, const char *why)
{
    store_note_damage(loading->schedd->store, table, key, why);
    loading->bad++;
}

static struct ad *decode_row(struct loading *loading, const char *table, const char *key,
                             const void *value, size_t length)
{
    struct ad *ad = NULL;
    struct err err;
    /* in the pool, because the rows of jobs have few different sets of names */
    if (ad_decode_in(loading->schedd->queue.pool, NULL, value, length, NULL, &ad, &err) != 0) {
        leave_out(loading, table, key, err.text);
    }
    return ad;
}

static int load_meta(void *arg, const char *key, const void *value, size_t length)
{
    struct loading *loading = arg;
    struct ad *ad = decode_row(loading, "counters", key, value, length);
    if (ad == NULL) {
        return 0;
    }
    if (strcmp(key, "next_cluster") == 0) {
        loading->schedd->queue.next_cluster = ad_int_or(ad, "Value", 1);
        loading->has_next = true;
    } else if (strcmp(key, "next_autocluster") == 0) {
        loading->schedd->groups.next_id = ad_int_or(ad, "Value", 1);
    } else if (strcmp(key, "history_count") == 0) {
        loading->schedd->history.count = ad_int_or(ad, "Value", 0);
    } else if (strcmp(key, "life") == 0) {
        loading->schedd->self.life = ad_int_or(ad, "Value", 0);
    } else if (strcmp(key, "significant") == 0) {
        significant_load(loading->schedd, ad);
    }
    ad_destroy(ad);
    return 0;
}

/* Makes room for all jobs that the cluster's factory has made, so that the next ProcId is new: the
 * last of them may have left the queue. */
static void count_made(struct cluster *cluster)
{
    int64_t made = ad_int_or(cluster->ad, "JobMaterializeNextProcId",
                             ad_int_or(cluster->ad, "TotalSubmitProcs", 0));
    if (made > 0 && made <= CLUSTER_PROCS_MAX) {
        queue_make_room(cluster, (uint32_t)made - 1);
    }
}

static int load_cluster(void *arg, const char *key, const void *value, size_t length)
{
    struct loading *loading = arg;
    struct ad *ad = decode_row(loading, "clusters", key, value, length);
    const char *owner = ad != NULL ? ad_string_or(ad, "Owner", "") : "";
    char expected[JOB_KEY_SIZE];
    cluster_row_key(ad != NULL ? ad_int_or(ad, "ClusterId", 0) : 0, expected);
    if (ad != NULL && (!owner_name_is_valid(owner) || ad_int_or(ad, "ClusterId", 0) <= 0)) {
        leave_out(loading, "clusters", key, "a cluster without a valid Owner or ClusterId");
        ad_destroy(ad);
        ad = NULL;
    } else if (ad != NULL && (strcmp(key, expected) != 0 ||
                              queue_cluster(loading->schedd, ad_int_or(ad, "ClusterId", 0)))) {
        leave_out(loading, "clusters", key, "the ClusterId contradicts the key of the row");
        ad_destroy(ad);
        ad = NULL;
    }
    if (ad != NULL) {
        count_made(queue_add_cluster(loading->schedd, queue_owner(loading->schedd, owner), ad,
                                     ad_int_or(ad, "QDate", 0)));
    }
    return 0;
}

static enum job_phase phase_of_row(const struct ad *ad)
{
    const char *state = ad_string_or(ad, "ClaimState", "");
    switch (ad_int_or(ad, "JobStatus", STATUS_IDLE)) {
    case STATUS_RUNNING:
    case STATUS_SUSPENDED:
        return JOB_ACTIVE;
    case STATUS_HELD:
        return JOB_HELD;
    case STATUS_TRANSFERRING:
        return JOB_PLACING;
    case STATUS_COMPLETED:
        return JOB_COMPLETED;
    default:
        return strcmp(state, "Claimed") == 0 ? JOB_CLAIMED : JOB_IDLE;
    }
}

/* Returns whether the ten characters at `at` are the number, with zeros before it. */
static bool digits_are(const char *at, int64_t number)
{
    for (int i = 9; i >= 0; i--, number /= 10) {
        if (at[i] != (char)('0' + number % 10)) {
            return false;
        }
    }
    return number == 0;
}

/* Returns whether the key is what job_row_key() writes, for one row of a million. */
static bool key_is_of(const char *key, const struct cluster *cluster, int64_t proc)
{
    return strlen(key) == 21 && digits_are(key, cluster->id) && key[10] == '.' &&
           digits_are(key + 11, proc);
}

/* Returns the cluster that the key of a job's row names, or NULL. */
static struct cluster *cluster_of_key(struct loading *loading, const char *key)
{
    if (loading->cluster == NULL || strlen(key) < 10 || !digits_are(key, loading->cluster->id)) {
        char text[11];
        (void)snprintf(text, sizeof(text), "%.10s", key);
        loading->cluster = strmap_get(loading->schedd->queue.clusters, text);
    }
    return loading->cluster;
}

static int load_job(void *arg, const char *key, const void *value, size_t length)
{
    struct loading *loading = arg;
    struct schedd *schedd = loading->schedd;
    struct ad *ad = decode_row(loading, "jobs", key, value, length);
    if (ad == NULL) {
        return 0;
    }
    struct cluster *cluster = cluster_of_key(loading, key);
    int64_t proc = ad_int_or(ad, "ProcId", -1);
    const char *why = NULL;
    if (cluster == NULL || proc < 0 || proc > CLUSTER_PROCS_MAX) {
        why = "a job without a valid ProcId or without a cluster";
    } else if (!key_is_of(key, cluster, proc) ||
               (proc < cluster->proc_count && cluster->procs[proc] != NULL)) {
        why = "the ProcId contradicts the key of the row";
    }
    if (why != NULL) {
        leave_out(loading, "jobs", key, why);
        ad_destroy(ad);
        return 0;
    }
    bool suspended = ad_int_or(ad, "JobStatus", 0) == STATUS_SUSPENDED;
    struct job *job = queue_put_job(schedd, cluster, (uint32_t)proc, NULL, phase_of_row(ad));
    if (suspended) { /* it was counted as running */
        queue_note_suspended(schedd, job);
    }
    job->entered_s = ad_int_or(ad, "EnteredCurrentStatus", 0);
    job->epoch = ad_int_or(ad, "ClaimEpoch", 0);
    job->last = (uint8_t)ad_int_or(ad, "LastJobStatus", 0);
    job->staged =
        job->phase == JOB_HELD && strcmp(ad_string_or(ad, "ClaimState", ""), "Staged") == 0;
    int64_t autocluster = ad_int_or(ad, "AutoClusterId", 0);
    static const char *const FIXED[] = {"ProcId",        "JobStatus",     "EnteredCurrentStatus",
                                        "ClaimEpoch",    "AutoClusterId", "ClaimState",
                                        "LastJobStatus", "ShadowError"};
    for (size_t i = 0; i < ARRAY_COUNT(FIXED); i++) {
        ad_remove(ad, FIXED[i]);
    }
    int64_t cut_s = ad_int_or(ad, "JobDisconnectedDate", 0);
    ad_remove(ad, "JobDisconnectedDate");
    if (ad_count(ad) > 0) {
        ad_pack(schedd->queue.pool, NULL, ad); /* else it has all of the row's memory */
        job->own = ad;
        queue_note_own(job);
    } else {
        ad_destroy(ad);
    }
    if (cut_s != 0) {
        queue_note_disconnected(schedd, job, cut_s);
    }
    job_look_at(schedd, job);
    autocluster_join(schedd, job, autocluster);
    if (job->phase == JOB_IDLE) {
        autocluster_push(schedd, job);
    }
    return 0;
}

static void drop_empty_clusters(struct schedd *schedd)
{
    struct vec empty = {0};
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.clusters, &at, NULL, &value)) {
        struct cluster *cluster = value;
        if (cluster->alive == 0 && cluster->factory == NULL) {
            vec_push(&empty, cluster);
        }
    }
    for (size_t i = 0; i < empty.count; i++) {
        queue_drop_cluster(schedd,
                           empty.items[i]); /* its row goes with the next of that id: harmless */
    }
    vec_fini(&empty, NULL);
}

/* Gives no id twice if the store has lost the row that says which comes next, or came back from a
 * backup: its witness has a number above all ids that were given. */
static void heed_high_water(const struct loading *loading)
{
    struct schedd *schedd = loading->schedd;
    const int64_t mark = store_high_water(schedd->store);
    const int64_t next = schedd->queue.next_cluster;
    int64_t from = store_id_floor(schedd->store);
    if (mark > from && (!loading->has_next || mark - next > STORE_WATER_STEP)) {
        from = mark;
    }
    if (from > next) {
        log_warn(schedd->log, "queue.ids_skipped",
                 "the store is older than its witness; the next cluster gets an id above all that "
                 "were given",
                 LOG_INT("next", from), LOG_INT("store", next));
        schedd->queue.next_cluster = from;
    }
}

int queue_init(struct schedd *schedd, struct err *err)
{
    queue_table_init(schedd);
    schedd->groups.next_id = 1;
    autoclusters_init(schedd);
    significant_init(schedd);
    struct loading loading = {.schedd = schedd};
    int result = store_load(schedd->store, "counters", load_meta, &loading, err);
    if (result == 0) {
        result = store_load(schedd->store, "clusters", load_cluster, &loading, err);
    }
    if (result == 0) {
        result = store_load(schedd->store, "jobs", load_job, &loading, err);
    }
    if (result == 0) {
        result = nonces_load(schedd, &loading.bad, err);
    }
    if (result == 0) {
        result = factories_load(schedd, err);
    }
    if (result != 0) {
        return err_prefix(err, result, "job queue");
    }
    heed_high_water(&loading);
    drop_empty_clusters(schedd);
    log_info(schedd->log, "queue.loaded", "job queue loaded", LOG_INT("jobs", schedd->queue.total),
             LOG_INT("idle", schedd->queue.idle), LOG_INT("running", schedd->queue.running),
             LOG_INT("held", schedd->queue.held), LOG_INT("damaged_rows", loading.bad));
    return 0;
}

void queue_fini(struct schedd *schedd)
{
    changes_drop(schedd);
    factories_fini(schedd);
    queue_table_fini(schedd);
    autoclusters_fini(schedd);
    significant_fini(schedd);
}
