/* schedd/submission/job_factory.c - see job_factory.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/submission/job_factory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/random.h"
#include "base/slices.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"
#include "schedd/submission/factory_kick.h"
#include "schedd/queue/job_add.h"
#include "schedd/queue/job_change.h"
#include "schedd/policy/job_charge.h"
#include "schedd/job_events.h"
#include "schedd/submission/job_factory_plan.h"
#include "schedd/queue/queue_finish.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/spool_room.h"
#include "schedd/submission/submit_plan.h"
#include "store/store.h"
#include "submit/submit_file.h"
#include "submit/submit_job.h"

#define TABLE      "factories"
#define SLICE_JOBS 100      /* jobs made in one slice, at most */
#define KEY_SIZE   64       /* bytes of a row's key, with the terminating zero */
#define NAME       "digest" /* name of the digest in messages */
#define ENV_MAX    20000

/* Steps for making a job, besides the evaluation of its expressions: a fixed part; how often the
 * expressions are evaluated; bytes of macros and items for one step; steps for each command or
 * attribute of the digest. */
#define JOB_STEPS     600
#define JOB_TIMES     2
#define BYTES_A_STEP  16
#define SETTING_STEPS 10

/* Bytes of a digest in memory: its text twice, the place of each item, and the factory itself. */
#define FACTORY_BYTES 4096
#define ITEM_BYTES    48

struct job_factory {
    struct schedd *schedd;
    struct cluster *cluster;
    char *digest;
    struct ad *place_ad;
    struct submit_place place;
    struct submit_world world;
    struct submit_source source;
    struct submit_file *file;
    struct ad *base; /* ad of the first job, as made here */
    struct submit_common common;
    struct vec env; /* "NAME=value", for place.env, with a NULL at its end */
    int64_t total;
    struct slice_work *turn; /* set when a cluster has the factory */
    struct owner *payer;     /* owner whose factory_bytes include `bytes`; NULL: none yet */
    int64_t bytes;
};

/* ---- the digest */

static const char *get_environment(void *arg, const char *name)
{
    const struct job_factory *factory = arg;
    size_t length = strlen(name);
    for (size_t i = 0; i + 1 < factory->env.count; i++) {
        const char *entry = factory->env.items[i];
        if (strncmp(entry, name, length) == 0 && entry[length] == '=') {
            return entry + length + 1;
        }
    }
    return NULL;
}

/* Returns a knob as it is set on the submitting host. */
static const char *get_site(void *arg, const char *knob)
{
    const struct job_factory *factory = arg;
    return ad_string_or(factory->place_ad, knob, NULL);
}

static uint64_t random_number(void *arg)
{
    const struct job_factory *factory = arg;
    return rng_next(loop_rng(factory->schedd->loop));
}

static void read_place(struct job_factory *factory)
{
    const struct ad *ad = factory->place_ad;
    struct ad_value list;
    size_t count = ad_eval_attr(ad, NULL, "Env", NULL, &list) == 0 ? ad_value_count(&list) : 0;
    for (size_t i = 0; i < count && i < ENV_MAX; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_STRING) {
            vec_push(&factory->env, mem_strdup(item.string.text));
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    vec_push(&factory->env, NULL);
    factory->place =
        (struct submit_place){.cwd = ad_string_or(ad, "Cwd", "/"),
                              .file = ad_string_or(ad, "File", NULL),
                              .arch = ad_string_or(ad, "Arch", ""),
                              .opsys = ad_string_or(ad, "OpSys", ""),
                              .user = ad_string_or(ad, "User", NULL),
                              .filesystem_domain = ad_string_or(ad, "FileSystemDomain", NULL),
                              .site = get_site,
                              .arg = factory,
                              .env = (char **)factory->env.items};
    factory->world = (struct submit_world){.env = get_environment,
                                           .random = random_number,
                                           .cwd = factory->place.cwd,
                                           .arg = factory};
}

/* Makes the ad of a job: complete for the first one, later only the job's own attributes. */
static int make_ad(struct job_factory *factory, int64_t proc, struct ad **ret, struct err *err)
{
    submit_file_select(factory->file, proc, proc);
    return submit_job_make(factory->file, NAME, &factory->place, proc, factory->base,
                           &factory->common, ret, err);
}

static int read_digest(struct job_factory *factory, struct err *err)
{
    factory->source = (struct submit_source){.name = NAME, .text = factory->digest};
    factory->file = submit_file_open(&factory->source, &factory->world);
    int rc = submit_file_read(factory->file, err);
    if (rc == 0) {
        rc = err_set(err, -EINVAL, NAME ": no queue statement");
    }
    if (rc < 0) {
        return rc;
    }
    factory->total = submit_file_jobs(factory->file);
    return factory->total > 0 && factory->total <= CLUSTER_PROCS_MAX
               ? 0
               : err_set(err, -EINVAL, NAME ": not between 1 and %d jobs", CLUSTER_PROCS_MAX);
}

int64_t factory_bytes(const char *digest)
{
    int64_t bytes = 0, items = 0;
    for (; digest[bytes] != '\0'; bytes++) {
        items += digest[bytes] == '\n' || digest[bytes] == ',';
    }
    return FACTORY_BYTES + 2 * bytes + ITEM_BYTES * items;
}

int factory_create(struct schedd *schedd, int64_t cluster, const char *digest,
                   const struct ad *place, struct job_factory **ret, struct err *err)
{
    struct job_factory *factory = mem_zalloc(sizeof(*factory));
    factory->schedd = schedd;
    factory->digest = mem_strdup(digest);
    factory->bytes = factory_bytes(digest);
    factory->place_ad = ad_copy(place);
    read_place(factory);
    int rc = read_digest(factory, err);
    if (rc == 0) {
        submit_file_set_cluster(factory->file, cluster);
        rc = make_ad(factory, 0, &factory->base, err);
    }
    if (rc != 0) {
        factory_destroy(factory);
        return rc;
    }
    *ret = factory;
    return 0;
}

void factory_destroy(struct job_factory *factory)
{
    if (factory == NULL) {
        return;
    }
    if (factory->payer != NULL) {
        factory->payer->factory_bytes -= factory->bytes;
    }
    slice_work_destroy(factory->turn);
    submit_file_close(factory->file);
    ad_destroy(factory->base);
    ad_destroy(factory->place_ad);
    vec_fini(&factory->env, mem_free);
    mem_free(factory->digest);
    mem_free(factory);
}

/* ---- rows: the place under "<cluster>", the digest under "<cluster>.digest" ------------------ */

static void row_keys(const struct cluster *cluster, char place[KEY_SIZE], char digest[KEY_SIZE])
{
    (void)snprintf(place, KEY_SIZE, "%010" PRId64, cluster->id);            /* fits */
    (void)snprintf(digest, KEY_SIZE, "%010" PRId64 ".digest", cluster->id); /* fits */
}

static void make_slice(void *arg);

static void join_cluster(struct job_factory *factory, struct cluster *cluster)
{
    factory->cluster = cluster;
    cluster->factory = factory;
    factory->payer = cluster->owner;
    factory->payer->factory_bytes += factory->bytes;
    factory->turn =
        slice_work_create(factory->schedd->slices, cluster->owner->user, make_slice, factory);
    cluster->making = factory->turn;
}

void factory_attach(struct change *change, struct job_factory *factory, struct cluster *cluster)
{
    char place[KEY_SIZE];
    char digest[KEY_SIZE];
    row_keys(cluster, place, digest);
    join_cluster(factory, cluster);
    ad_set_int(cluster->ad, "TotalSubmitProcs", factory->total);
    ad_set_int(cluster->ad, "JobMaterializeNextProcId", 0);
    ad_set_int(cluster->ad, "JobMaterializeNextRow", 0);
    ad_set_int(cluster->ad, "JobMaterializePaused", FACTORY_RUNS);
    change_cluster(change, cluster);
    change_put(change, TABLE, place, factory->place_ad);
    change_put_bytes(change, TABLE, digest, factory->digest, strlen(factory->digest));
    events_cluster_submitted(change, cluster);
    factory_kick(cluster);
}

void factory_end(struct change *change, struct cluster *cluster)
{
    if (cluster->factory == NULL) {
        return;
    }
    char place[KEY_SIZE];
    char digest[KEY_SIZE];
    row_keys(cluster, place, digest);
    change_delete(change, TABLE, place);
    change_delete(change, TABLE, digest);
    cluster->making = NULL;
    factory_destroy(cluster->factory);
    cluster->factory = NULL;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void pause_at(struct change *change, struct cluster *cluster, int64_t state, const char *why)
{
    ad_set_int(cluster->ad, "JobMaterializePaused", state);
    if (why != NULL) {
        ad_set_string(cluster->ad, "JobMaterializePauseReason", why);
    } else {
        ad_remove(cluster->ad, "JobMaterializePauseReason");
    }
    change_cluster(change, cluster);
}

static int make_job(struct change *change, struct job_factory *factory, int64_t proc,
                    uint64_t *steps, struct err *err)
{
    struct cluster *cluster = factory->cluster;
    struct ad *own = NULL;
    int rc = make_ad(factory, proc, &own, err);
    *steps += JOB_STEPS + submit_file_work(factory->file) / BYTES_A_STEP +
              SETTING_STEPS * submit_file_settings(factory->file);
    if (rc != 0) {
        return rc;
    }
    factory_plan_clean(own);
    *steps += JOB_TIMES * submit_plan_steps(cluster->ad, own);
    rc = submit_plan_check_size(own, JOB_AD_MAX, err);
    if (rc == 0) {
        ad_chain(own, cluster->ad);
        rc = submit_plan_check_job(own, err);
        rc = rc != 0 ? rc : charge_check(factory->schedd, cluster->owner, own, err);
        ad_chain(own, NULL);
    }
    if (rc != 0) {
        ad_destroy(own);
        return rc;
    }
    (void)job_add(change, cluster, own, true);
    return 0;
}

static int64_t room_of(int64_t limit, int64_t used)
{
    return limit > 0 ? limit - used : INT64_MAX;
}

/* Makes jobs for one slice, as many as the cluster may have now.  Returns true when it may have
 * more.  The factory may be freed in here. */
static bool make_some(struct change *change, struct job_factory *factory)
{
    struct schedd *schedd = factory->schedd;
    struct cluster *cluster = factory->cluster;
    int64_t next = ad_int_or(cluster->ad, "JobMaterializeNextProcId", 0);
    const struct factory_facts facts = {
        .next = next,
        .total = factory->total,
        .alive = cluster->alive,
        .idle = cluster->idle,
        .limit = ad_int_or(cluster->ad, "JobMaterializeLimit", -1),
        .max_idle = ad_int_or(cluster->ad, "JobMaterializeMaxIdle", -1),
        .queue_room = spool_room_check(schedd, NULL) == 0
                          ? room_of(schedd->settings.jobs_max, schedd->queue.total + schedd->coming)
                          : 0,
        .owner_room =
            room_of(schedd->settings.jobs_owner_max, cluster->owner->jobs + cluster->owner->coming),
        .paused = factory_is_paused(cluster),
    };
    int64_t wanted = factory_plan_wanted(&facts);
    schedd->factories_wait = schedd->factories_wait || factory_plan_waits_for_room(&facts);
    struct err err = {{0}};
    int rc = 0;
    int64_t made = 0;
    uint64_t steps = 0;
    while (rc == 0 && made < wanted && made < SLICE_JOBS && steps < AD_SLICE_STEPS) {
        int64_t before = schedd->charge_lookups;
        rc = make_job(change, factory, next + made, &steps, &err);
        steps += (uint64_t)(schedd->charge_lookups - before) * CHARGE_LOOKUP_STEPS;
        made += rc == 0 ? 1 : 0;
    }
    if (made > 0) {
        int64_t now = next + made;
        ad_set_int(cluster->ad, "JobMaterializeNextProcId", now);
        ad_set_int(cluster->ad, "JobMaterializeNextRow",
                   now < factory->total ? submit_file_row(factory->file, now) : -1);
        change_cluster(change, cluster);
    }
    if (rc != 0) {
        log_warn(schedd->log, "factory.paused", err.text, LOG_INT("cluster", cluster->id),
                 LOG_INT("proc", next + made));
        pause_at(change, cluster, FACTORY_BAD_ITEM, err.text);
        events_factory_paused(change, cluster, err.text, FACTORY_BAD_ITEM, 0);
        return false;
    }
    if (next + made == factory->total) {
        factory_end(change, cluster);
        queue_drop_if_empty(change, cluster);
        return false;
    }
    return made < wanted;
}

/* A slice of jobs that is not durable yet.  Only one such slice is under way at a time, because
 * other users of the store wait behind it. */
struct made {
    struct schedd *schedd;
    int64_t cluster;
};

static void made_durable(void *arg)
{
    struct made *made = arg;
    struct cluster *cluster = queue_cluster(made->schedd, made->cluster);
    if (cluster != NULL && cluster->factory != NULL) {
        cluster->making = cluster->factory->turn;
        factory_kick(cluster);
    }
    mem_free(made);
}

static void make_slice(void *arg)
{
    struct job_factory *factory = arg;
    struct schedd *schedd = factory->schedd;
    struct cluster *cluster = factory->cluster;
    int64_t id = cluster->id;
    struct change *change = change_begin(schedd);
    charge_begin(schedd);
    if (!make_some(change, factory)) {
        change_commit(change, NULL, NULL, NULL);
        return;
    }
    struct made *made = mem_alloc(sizeof(*made));
    *made = (struct made){schedd, id};
    cluster->making = NULL;
    change_commit(change, made_durable, mem_free, made);
}

/* ---- hold and release ------------------------------------------------------------------------ */

bool factory_is_paused(const struct cluster *cluster)
{
    return ad_int_or(cluster->ad, "JobMaterializePaused", FACTORY_RUNS) != FACTORY_RUNS;
}

void factory_pause(struct change *change, struct cluster *cluster, const char *why)
{
    if (cluster->factory != NULL) {
        pause_at(change, cluster, FACTORY_HELD, why);
        events_factory_paused(change, cluster, why, FACTORY_HELD, 1);
    }
}

void factory_resume(struct change *change, struct cluster *cluster)
{
    if (cluster->factory != NULL) {
        if (factory_is_paused(cluster)) {
            events_factory_resumed(change, cluster, "");
        }
        pause_at(change, cluster, FACTORY_RUNS, NULL);
        factory_kick(cluster);
    }
}

/* ---- loading --------------------------------------------------------------------------------- */

struct loading {
    struct schedd *schedd;
    char key[KEY_SIZE]; /* key of the place that was read last */
    struct ad *place;
};

static void log_damaged(const struct loading *loading, const char *key, const char *why)
{
    log_error(loading->schedd->log, "queue.row_damaged",
              "cannot read from the store how to make the remaining jobs of a cluster; the row "
              "stays as it is",
              LOG_TEXT("table", TABLE), LOG_TEXT("key", key), LOG_TEXT("error", why));
}

/* Loads one row.  Rows come in the order of their keys: first the place, then the digest. */
static int load_row(void *arg, const char *key, const void *value, size_t length)
{
    struct loading *loading = arg;
    struct err err = {{0}};
    if (strchr(key, '.') == NULL) {
        ad_destroy(loading->place);
        loading->place = NULL;
        (void)snprintf(loading->key, sizeof(loading->key), "%.60s", key);
        if (ad_decode(value, length, NULL, &loading->place, &err) != 0) {
            log_damaged(loading, key, err.text);
        }
        return 0;
    }
    struct cluster *cluster = strmap_get(loading->schedd->queue.clusters, loading->key);
    size_t own = strlen(loading->key);
    if (loading->place == NULL || cluster == NULL || strncmp(key, loading->key, own) != 0 ||
        key[own] != '.') {
        log_damaged(loading, key, "the row belongs to no cluster of the queue");
        return 0;
    }
    char *digest = mem_strndup(value, length);
    struct job_factory *factory = NULL;
    if (factory_create(loading->schedd, cluster->id, digest, loading->place, &factory, &err) != 0) {
        log_damaged(loading, key, err.text);
    } else {
        join_cluster(factory, cluster);
        factory_kick(cluster);
    }
    mem_free(digest);
    return 0;
}

int factories_load(struct schedd *schedd, struct err *err)
{
    struct loading loading = {.schedd = schedd};
    int rc = store_load(schedd->store, TABLE, load_row, &loading, err);
    ad_destroy(loading.place);
    return rc;
}

void factories_fini(struct schedd *schedd)
{
    size_t at = 0;
    void *value = NULL;
    while (schedd->queue.clusters != NULL &&
           strmap_next(schedd->queue.clusters, &at, NULL, &value)) {
        struct cluster *cluster = value;
        cluster->making = NULL;
        factory_destroy(cluster->factory);
        cluster->factory = NULL;
    }
}
