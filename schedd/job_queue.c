/* schedd/job_queue.c - see job_queue.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_queue.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/job_autocluster.h"
#include "schedd/job_checkpoints.h"
#include "schedd/job_factory.h"
#include "schedd/job_cron.h"
#include "schedd/job_dollar.h"
#include "schedd/job_events.h"
#include "schedd/job_history.h"
#include "schedd/job_nonce.h"
#include "schedd/job_policy.h"
#include "schedd/job_spool.h"
#include "schedd/machine_attrs.h"
#include "schedd/schedd_state.h"
#include "schedd/significant.h"
#include "schedd/submitters.h"
#include "store/store.h"
#include "wire/root_jobs.h"
#include "wire/watch.h"

#define KEY_SIZE 64

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
    struct owner *owner = strmap_get(schedd->owners, name);
    if (owner == NULL) {
        CHECK(owner_name_is_valid(name));
        owner = mem_zalloc(sizeof(*owner));
        memcpy(owner->name, name, strlen(name) + 1);
        struct strbuf user;
        strbuf_init(&user, 0);
        strbuf_printf(&user, "%s@%s", name, schedd->uid_domain);
        owner->user = strbuf_take(&user);
        owner->is_root = root_jobs_name(schedd->os, name);
        (void)strmap_set(schedd->owners, name, owner); /* was absent */
    }
    return owner;
}

static void owner_destroy(void *value)
{
    struct owner *owner = value;
    mem_free(owner->charge_words);
    mem_free(owner->user);
    mem_free(owner);
}

/* ---- finding --------------------------------------------------------------------------------- */

static void cluster_key(int64_t id, char ret[KEY_SIZE])
{
    (void)snprintf(ret, KEY_SIZE, "%010" PRId64, id); /* fits */
}

void job_row_key(const struct job *job, char ret[JOB_KEY_SIZE])
{
    (void)snprintf(ret, JOB_KEY_SIZE, "%010" PRId64 ".%010" PRIu32, job->cluster->id, job->proc);
}

struct cluster *queue_cluster(const struct schedd *schedd, int64_t id)
{
    char key[KEY_SIZE];
    cluster_key(id, key);
    return strmap_get(schedd->clusters, key);
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
    while (strmap_next(schedd->clusters, &at, NULL, &value)) {
        const struct cluster *cluster = value;
        for (uint32_t i = 0; i < cluster->proc_count; i++) {
            if (cluster->procs[i] != NULL && !each(arg, cluster->procs[i])) {
                return;
            }
        }
    }
}

/* ---- changes --------------------------------------------------------------------------------- */

struct note { /* what watchers are told after the commit */
    char id[JOB_ID_SIZE];
    struct ad *ad; /* NULL: nothing but that it is gone */
    bool gone;
};

struct then {
    void (*call)(void *arg);
    void *arg;
};

struct change {
    LIST_ENTRY(change) entry; /* in schedd->changes, once it is with the store */
    struct schedd *schedd;
    struct store_txn *txn;
    struct vec notes;
    struct vec thens;
    void (*done)(void *arg);
    void (*drop)(void *arg);
    void *arg;
};

static void note_destroy(void *value)
{
    struct note *note = value;
    ad_destroy(note->ad);
    mem_free(note);
}

struct change *change_begin(struct schedd *schedd)
{
    struct change *change = mem_zalloc(sizeof(*change));
    change->schedd = schedd;
    change->txn = store_begin(schedd->store);
    return change;
}

struct schedd *change_schedd(const struct change *change)
{
    return change->schedd;
}

static void notify(struct change *change, const struct job *job, const struct ad *ad, bool gone)
{
    if (watch_server_count(change->schedd->watchers) == 0) {
        return; /* who comes later gets a snapshot */
    }
    struct note *note = mem_zalloc(sizeof(*note));
    job_id(job, note->id);
    note->ad = ad != NULL ? ad_copy(ad) : NULL;
    note->gone = gone;
    vec_push(&change->notes, note);
}

void change_put(struct change *change, const char *table, const char *key, const struct ad *ad)
{
    struct strbuf bytes;
    strbuf_init(&bytes, STORE_VALUE_MAX);
    ad_encode(ad, true, &bytes);
    CHECK(!bytes.failed); /* ads are bounded where they come in */
    store_put(change->txn, table, key, bytes.data, bytes.length);
    strbuf_fini(&bytes);
}

void change_put_bytes(struct change *change, const char *table, const char *key, const void *data,
                      size_t length)
{
    store_put(change->txn, table, key, data, length);
}

void change_delete(struct change *change, const char *table, const char *key)
{
    store_delete(change->txn, table, key);
}

/* Own attributes were given to the job, or changed. */
static void note_own(struct job *job)
{
    struct cluster *cluster = job->cluster;
    if (!cluster->own_batches && job->own != NULL) {
        cluster->own_batches = ad_has(job->own, "JobBatchName");
    }
}

void change_job(struct change *change, struct job *job)
{
    note_own(job);
    char key[JOB_KEY_SIZE];
    job_row_key(job, key);
    struct ad *view = job_view(change->schedd, job);
    ad_chain(view, NULL);
    ad_remove(view, "GlobalJobId");
    change_put(change, "jobs", key, view);
    ad_destroy(view);
    if (watch_server_count(change->schedd->watchers) > 0) {
        struct ad *flat = job_flat(change->schedd, job);
        notify(change, job, flat, false);
        ad_destroy(flat);
    }
}

void change_cluster(struct change *change, struct cluster *cluster)
{
    cluster->revision++;
    char key[KEY_SIZE];
    cluster_key(cluster->id, key);
    change_put(change, "clusters", key, cluster->ad);
}

void change_then(struct change *change, void (*call)(void *arg), void *arg)
{
    struct then *then = mem_alloc(sizeof(*then));
    *then = (struct then){call, arg};
    vec_push(&change->thens, then);
}

static void committed(void *arg)
{
    struct change *change = arg;
    LIST_REMOVE(change, entry);
    for (size_t i = 0; i < change->notes.count; i++) {
        const struct note *note = change->notes.items[i];
        struct watch_server *watchers = change->schedd->watchers;
        if (note->ad != NULL) {
            watch_server_changed(watchers, "Job", note->id, note->ad);
        }
        if (note->gone) {
            watch_server_gone(watchers, "Job", note->id);
        }
    }
    vec_fini(&change->notes, note_destroy);
    for (size_t i = 0; i < change->thens.count; i++) {
        const struct then *then = change->thens.items[i];
        then->call(then->arg);
    }
    vec_fini(&change->thens, mem_free);
    void (*done)(void *) = change->done;
    void *done_arg = change->arg;
    mem_free(change);
    if (done != NULL) {
        done(done_arg);
    }
}

void change_commit(struct change *change, void (*done)(void *arg), void (*drop)(void *arg),
                   void *arg)
{
    change->done = done;
    change->drop = drop;
    change->arg = arg;
    LIST_INSERT_HEAD(&change->schedd->changes, change, entry);
    store_commit(change->txn, committed, change);
}

static void then_destroy(void *value)
{
    struct then *then = value;
    mem_free(then->arg);
    mem_free(then);
}

static void drop_changes(struct schedd *schedd)
{
    while (!LIST_EMPTY(&schedd->changes)) {
        struct change *change = LIST_FIRST(&schedd->changes);
        LIST_REMOVE(change, entry);
        vec_fini(&change->notes, note_destroy);
        vec_fini(&change->thens, then_destroy);
        if (change->drop != NULL) {
            change->drop(change->arg);
        }
        mem_free(change);
    }
}

/* ---- moves ----------------------------------------------------------------------------------- */

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

static void count(struct schedd *schedd, struct owner *owner, enum job_status status, int64_t by)
{
    switch (status) {
    case STATUS_IDLE:
        schedd->idle += by;
        owner->idle += by;
        break;
    case STATUS_RUNNING:
    case STATUS_TRANSFERRING:
        schedd->running += by;
        owner->running += by;
        break;
    case STATUS_SUSPENDED:
        schedd->suspended += by;
        owner->suspended += by;
        break;
    case STATUS_HELD:
        schedd->held += by;
        owner->held += by;
        break;
    case STATUS_COMPLETED:
        schedd->completed += by;
        break;
    default:
        CHECK(status == STATUS_IDLE); /* no job in the queue has another */
    }
}

static void status_changed(struct schedd *schedd, struct job *job, enum job_status before)
{
    enum job_status after = job_status(job);
    if (after != before) {
        job->entered_s = loop_wall_s(schedd->loop);
        job->last = (uint8_t)before;
        count(schedd, job->cluster->owner, before, -1);
        count(schedd, job->cluster->owner, after, 1);
        job->cluster->idle += after == STATUS_IDLE ? 1 : 0;
        job->cluster->idle -= before == STATUS_IDLE ? 1 : 0;
        factory_kick(job->cluster);
        submitter_count(schedd, job, before, -1);
        submitter_count(schedd, job, after, 1);
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

struct cluster *queue_add_cluster(struct schedd *schedd, struct owner *owner, struct ad *ad,
                                  int64_t qdate_s)
{
    struct cluster *cluster = mem_zalloc(sizeof(*cluster));
    cluster->id = ad_int_or(ad, "ClusterId", 0);
    CHECK(cluster->id > 0 && queue_cluster(schedd, cluster->id) == NULL);
    cluster->owner = owner;
    cluster->ad = ad;
    cluster->qdate_s = qdate_s;
    char key[KEY_SIZE];
    cluster_key(cluster->id, key);
    (void)strmap_set(schedd->clusters, key, cluster); /* was absent */
    if (cluster->id >= schedd->next_cluster) {
        schedd->next_cluster = cluster->id + 1;
    }
    return cluster;
}

/* Makes room for procs[proc]; the room between is of jobs that are gone. */
static void grow(struct cluster *cluster, uint32_t proc)
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

static struct job *add_job(struct schedd *schedd, struct cluster *cluster, uint32_t proc,
                           struct ad *own, enum job_phase phase)
{
    grow(cluster, proc);
    CHECK(cluster->procs[proc] == NULL);
    struct job *job = mem_zalloc(sizeof(*job));
    job->cluster = cluster;
    job->proc = proc;
    job->own = own;
    job->heap_at = HEAP_NOWHERE;
    job->phase = (uint8_t)phase;
    cluster->procs[proc] = job;
    cluster->alive++;
    cluster->owner->jobs++;
    schedd->total++;
    count(schedd, cluster->owner, job_status(job), 1);
    cluster->idle += job_status(job) == STATUS_IDLE ? 1 : 0;
    return job;
}

void queue_look_at(struct schedd *schedd, struct job *job)
{
    policy_look_at(schedd, job);
    dollar_look_at(schedd, job);
    machine_attrs_look_at(schedd, job);
}

struct job *queue_add_job(struct schedd *schedd, struct cluster *cluster, struct ad *own,
                          enum job_phase phase, bool may_run)
{
    struct job *job = add_job(schedd, cluster, cluster->proc_count, own, phase);
    note_own(job);
    job->entered_s = loop_wall_s(schedd->loop);
    job->leaving = may_run ? 0 : 1;
    queue_look_at(schedd, job);
    if (phase == JOB_IDLE) {
        (void)cron_refresh(schedd, job, NULL); /* as above */
    }
    autocluster_join(schedd, job, 0);
    if (phase == JOB_IDLE && may_run) {
        autocluster_push(schedd, job);
    }
    return job;
}

static void job_destroy(struct job *job)
{
    ad_destroy(job->own);
    mem_free(job->nonce);
    mem_free(job);
}

static void drop_cluster(struct schedd *schedd, struct cluster *cluster)
{
    char key[KEY_SIZE];
    cluster_key(cluster->id, key);
    CHECK(strmap_remove(schedd->clusters, key) == cluster);
    if (cluster->common != NULL) {
        autocluster_release(schedd, cluster->common);
    }
    factory_destroy(cluster->factory);
    ad_destroy(cluster->ad);
    mem_free(cluster->procs);
    mem_free(cluster);
}

void queue_drop_if_empty(struct change *change, struct cluster *cluster)
{
    if (cluster->alive == 0 && cluster->factory == NULL && !cluster->submitting) {
        char key[KEY_SIZE];
        cluster_key(cluster->id, key);
        change_delete(change, "clusters", key);
        if (ad_has(cluster->ad, "JobMaterializeNextProcId")) {
            int64_t made = ad_int_or(cluster->ad, "JobMaterializeNextProcId", 0);
            bool all = made >= ad_int_or(cluster->ad, "TotalSubmitProcs", 0);
            events_cluster_removed(change, cluster, made,
                                   ad_int_or(cluster->ad, "JobMaterializeItemCount", 0),
                                   all ? 1 : 0, NULL);
        }
        drop_cluster(change->schedd, cluster);
    }
}

void queue_finish(struct change *change, struct job *job, enum job_status status)
{
    struct schedd *schedd = change->schedd;
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
    history_add(change, flat, status == STATUS_COMPLETED ? job->epoch : 0, now_s);
    notify(change, job, flat, true);
    ad_destroy(flat);
    char key[JOB_KEY_SIZE];
    job_row_key(job, key);
    change_delete(change, "jobs", key);
    nonce_drop(change, job);

    checkpoints_forget(change, job, true);
    spool_forget(change, cluster, job->proc, cluster->alive == 1 && !cluster->submitting);
    if (job->phase == JOB_IDLE && job->leaving == 0) {
        autocluster_pull(schedd, job, false);
    }
    count(schedd, cluster->owner, job_status(job), -1);
    cluster->idle -= job_status(job) == STATUS_IDLE ? 1 : 0;
    cluster->owner->jobs--;
    schedd->total--;
    autocluster_leave(schedd, job);
    cluster->procs[job->proc] = NULL;
    cluster->alive--;
    job_destroy(job);
    factory_kick(cluster);
    factories_room(schedd);
    queue_drop_if_empty(change, cluster);
}

/* ---- loading --------------------------------------------------------------------------------- */

struct loading {
    struct schedd *schedd;
    size_t bad;
};

static struct ad *decode_row(struct loading *loading, const char *table, const char *key,
                             const void *value, size_t length)
{
    struct ad *ad = NULL;
    struct err err;
    if (ad_decode(value, length, NULL, &ad, &err) != 0) {
        log_error(loading->schedd->log, "queue.row_damaged",
                  "a row of the store cannot be read; it is left as it is",
                  LOG_TEXT("table", table), LOG_TEXT("key", key), LOG_TEXT("error", err.text));
        loading->bad++;
    }
    return ad;
}

static int load_meta(void *arg, const char *key, const void *value, size_t length)
{
    struct loading *loading = arg;
    struct ad *ad = decode_row(loading, "counters", key, value, length);
    if (ad == NULL) {
        return -EUCLEAN; /* without it ids could be given twice */
    }
    if (strcmp(key, "next_cluster") == 0) {
        loading->schedd->next_cluster = ad_int_or(ad, "Value", 1);
    } else if (strcmp(key, "next_autocluster") == 0) {
        loading->schedd->next_autocluster = ad_int_or(ad, "Value", 1);
    } else if (strcmp(key, "history_count") == 0) {
        loading->schedd->history_count = ad_int_or(ad, "Value", 0);
    } else if (strcmp(key, "life") == 0) {
        loading->schedd->life = ad_int_or(ad, "Value", 0);
    } else if (strcmp(key, "significant") == 0) {
        significant_load(loading->schedd, ad);
    }
    ad_destroy(ad);
    return 0;
}

/* The next job's number is behind all that ever were: those at the end may be gone. */
static void count_made(struct cluster *cluster)
{
    int64_t made = ad_int_or(cluster->ad, "JobMaterializeNextProcId",
                             ad_int_or(cluster->ad, "TotalSubmitProcs", 0));
    if (made > 0 && made <= CLUSTER_PROCS_MAX) {
        grow(cluster, (uint32_t)made - 1);
    }
}

static int load_cluster(void *arg, const char *key, const void *value, size_t length)
{
    struct loading *loading = arg;
    struct ad *ad = decode_row(loading, "clusters", key, value, length);
    const char *owner = ad != NULL ? ad_string_or(ad, "Owner", "") : "";
    if (ad != NULL && (!owner_name_is_valid(owner) || ad_int_or(ad, "ClusterId", 0) <= 0)) {
        log_error(loading->schedd->log, "queue.row_damaged", "a cluster without Owner or ClusterId",
                  LOG_TEXT("key", key));
        loading->bad++;
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

static int load_job(void *arg, const char *key, const void *value, size_t length)
{
    struct loading *loading = arg;
    struct schedd *schedd = loading->schedd;
    struct ad *ad = decode_row(loading, "jobs", key, value, length);
    if (ad == NULL) {
        return 0;
    }
    char cluster_text[11];
    (void)snprintf(cluster_text, sizeof(cluster_text), "%.10s", key);
    struct cluster *cluster = strmap_get(schedd->clusters, cluster_text);
    int64_t proc = ad_int_or(ad, "ProcId", -1);
    if (cluster == NULL || proc < 0 || proc > CLUSTER_PROCS_MAX) {
        log_error(schedd->log, "queue.row_damaged", "a job without its cluster",
                  LOG_TEXT("key", key));
        loading->bad++;
        ad_destroy(ad);
        return 0;
    }
    bool suspended = ad_int_or(ad, "JobStatus", 0) == STATUS_SUSPENDED;
    struct job *job = add_job(schedd, cluster, (uint32_t)proc, NULL, phase_of_row(ad));
    if (suspended) { /* it was counted as running */
        count(schedd, cluster->owner, job_status(job), -1);
        job->suspended = true;
        count(schedd, cluster->owner, job_status(job), 1);
    }
    job->entered_s = ad_int_or(ad, "EnteredCurrentStatus", 0);
    job->epoch = ad_int_or(ad, "ClaimEpoch", 0);
    job->last = (uint8_t)ad_int_or(ad, "LastJobStatus", 0);
    job->staged =
        job->phase == JOB_HELD && strcmp(ad_string_or(ad, "ClaimState", ""), "Staged") == 0;
    int64_t autocluster = ad_int_or(ad, "AutoClusterId", 0);
    static const char *const FIXED[] = {"ProcId",       "JobStatus",     "EnteredCurrentStatus",
                                        "ClaimEpoch",   "AutoClusterId", "ClaimState",
                                        "LastJobStatus"};
    for (size_t i = 0; i < ARRAY_COUNT(FIXED); i++) {
        ad_remove(ad, FIXED[i]);
    }
    if (ad_count(ad) > 0) {
        job->own = ad;
        note_own(job);
    } else {
        ad_destroy(ad);
    }
    queue_look_at(schedd, job);
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
    while (strmap_next(schedd->clusters, &at, NULL, &value)) {
        struct cluster *cluster = value;
        if (cluster->alive == 0 && cluster->factory == NULL) {
            vec_push(&empty, cluster);
        }
    }
    for (size_t i = 0; i < empty.count; i++) {
        drop_cluster(schedd, empty.items[i]); /* its row goes with the next of that id: harmless */
    }
    vec_fini(&empty, NULL);
}

int queue_init(struct schedd *schedd, struct err *err)
{
    schedd->clusters = strmap_create(STRMAP_CASE_SENSITIVE);
    schedd->owners = strmap_create(STRMAP_CASE_SENSITIVE);
    schedd->next_cluster = 1;
    schedd->next_autocluster = 1;
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
    drop_empty_clusters(schedd);
    log_info(schedd->log, "queue.loaded", "job queue loaded", LOG_INT("jobs", schedd->total),
             LOG_INT("idle", schedd->idle), LOG_INT("running", schedd->running),
             LOG_INT("held", schedd->held), LOG_INT("damaged_rows", loading.bad));
    return 0;
}

static void cluster_destroy(void *value)
{
    struct cluster *cluster = value;
    for (uint32_t i = 0; i < cluster->proc_count; i++) {
        if (cluster->procs[i] != NULL) {
            job_destroy(cluster->procs[i]);
        }
    }
    factory_destroy(cluster->factory);
    ad_destroy(cluster->ad);
    mem_free(cluster->procs);
    mem_free(cluster);
}

void queue_fini(struct schedd *schedd)
{
    drop_changes(schedd);
    strmap_destroy(schedd->clusters, cluster_destroy);
    strmap_destroy(schedd->owners, owner_destroy);
    vec_fini(&schedd->reservations, mem_free);
    ad_destroy(schedd->shown);
    schedd->clusters = NULL;
    schedd->owners = NULL;
    schedd->shown = NULL;
    autoclusters_fini(schedd);
    significant_fini(schedd);
}
