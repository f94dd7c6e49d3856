/* schedd/queue/job_ad.c - see job_ad.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/queue/job_ad.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/check.h"
#include "base/text.h"
#include "classad/ad.h"
#include "classad/ad_pool.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/schedd_state.h"

void job_id(const struct job *job, char ret[JOB_ID_SIZE])
{
    (void)snprintf(ret, JOB_ID_SIZE, "%" PRId64 ".%" PRIu32, job->cluster->id, job->proc);
}

void job_row_key(const struct job *job, char ret[JOB_KEY_SIZE])
{
    size_t length = text_put_decimal(ret, (uint64_t)job->cluster->id, 10);
    ret[length++] = '.';
    length += text_put_decimal(ret + length, job->proc, 10);
    ret[length] = '\0';
}

static bool read_digits(const char **at, int64_t max, int64_t *ret)
{
    int64_t value = 0;
    const char *p = *at;
    if (*p < '0' || *p > '9') {
        return false;
    }
    for (; *p >= '0' && *p <= '9'; p++) {
        value = value * 10 + (*p - '0');
        if (value > max) {
            return false;
        }
    }
    *at = p;
    *ret = value;
    return true;
}

bool job_id_parse(const char *text, int64_t *cluster, int64_t *proc)
{
    int64_t c = 0;
    int64_t p = -1;
    if (!read_digits(&text, INT32_MAX, &c) || c == 0) {
        return false;
    }
    if (*text == '.') {
        text++;
        if (!read_digits(&text, CLUSTER_PROCS_MAX, &p)) {
            return false;
        }
    }
    if (*text != '\0') {
        return false;
    }
    *cluster = c;
    *proc = p;
    return true;
}

enum job_status job_status(const struct job *job)
{
    static const enum job_status STATUS[JOB_PHASES] = {
        [JOB_IDLE] = STATUS_IDLE,
        [JOB_MATCHED] = STATUS_IDLE,
        [JOB_CLAIMED] = STATUS_IDLE,
        [JOB_ACTIVE] = STATUS_RUNNING,
        [JOB_PLACING] = STATUS_TRANSFERRING,
        [JOB_HELD] = STATUS_HELD,
        [JOB_COMPLETED] = STATUS_COMPLETED,
    };
    return job->suspended ? STATUS_SUSPENDED : STATUS[job->phase];
}

static const char *claim_state(const struct job *job)
{
    switch ((enum job_phase)job->phase) {
    case JOB_MATCHED:
        return "Matched";
    case JOB_CLAIMED:
    case JOB_ACTIVE:
        return "Claimed";
    case JOB_HELD:
        return job->staged ? "Staged" : NULL;
    default:
        return NULL;
    }
}

/* ---- what every job has in a struct and not in an ad: a new one is one row of FIXED ------------
 */

typedef void (*fixed_f)(const struct schedd *schedd, const struct job *job, const char *name,
                        struct ad *ad);

static void put_proc(const struct schedd *schedd, const struct job *job, const char *name,
                     struct ad *ad)
{
    (void)schedd;
    ad_set_int(ad, name, job->proc);
}

static void put_global_id(const struct schedd *schedd, const struct job *job, const char *name,
                          struct ad *ad)
{
    char id[JOB_ID_SIZE];
    job_id(job, id);
    char global[512];
    (void)snprintf(global, sizeof(global), "%s#%s#%" PRId64, schedd->self.name, id,
                   job->cluster->qdate_s); /* a longer name is cut */
    ad_set_string(ad, name, global);
}

static void put_status(const struct schedd *schedd, const struct job *job, const char *name,
                       struct ad *ad)
{
    (void)schedd;
    ad_set_int(ad, name, job_status(job));
}

static void put_entered(const struct schedd *schedd, const struct job *job, const char *name,
                        struct ad *ad)
{
    (void)schedd;
    ad_set_int(ad, name, job->entered_s);
}

static void put_last_status(const struct schedd *schedd, const struct job *job, const char *name,
                            struct ad *ad)
{
    (void)schedd;
    if (job->last > 0) {
        ad_set_int(ad, name, job->last);
    }
}

static void put_epoch(const struct schedd *schedd, const struct job *job, const char *name,
                      struct ad *ad)
{
    (void)schedd;
    if (job->epoch > 0) {
        ad_set_int(ad, name, job->epoch);
    }
}

static void put_autocluster(const struct schedd *schedd, const struct job *job, const char *name,
                            struct ad *ad)
{
    (void)schedd;
    if (job->autocluster != NULL) {
        ad_set_int(ad, name, job->autocluster->id);
    }
}

/* Returns the job's autocluster if the negotiator has rejected it since the job is idle, else
 * NULL. */
static const struct autocluster *last_rejection(const struct job *job)
{
    const struct autocluster *autocluster = job->autocluster;
    return job->phase == JOB_IDLE && autocluster != NULL && autocluster->rejected_why != NULL &&
                   autocluster->rejected_s >= job->entered_s
               ? autocluster
               : NULL;
}

static void put_rejected_why(const struct schedd *schedd, const struct job *job, const char *name,
                             struct ad *ad)
{
    (void)schedd;
    if (last_rejection(job) != NULL) {
        ad_set_string(ad, name, last_rejection(job)->rejected_why);
    }
}

static void put_rejected_by(const struct schedd *schedd, const struct job *job, const char *name,
                            struct ad *ad)
{
    (void)schedd;
    if (last_rejection(job) != NULL) {
        ad_set_string(ad, name, last_rejection(job)->rejected_by);
    }
}

static void put_rejected_time(const struct schedd *schedd, const struct job *job, const char *name,
                              struct ad *ad)
{
    (void)schedd;
    if (last_rejection(job) != NULL) {
        ad_set_int(ad, name, last_rejection(job)->rejected_s);
    }
}

static void put_claim_state(const struct schedd *schedd, const struct job *job, const char *name,
                            struct ad *ad)
{
    (void)schedd;
    if (claim_state(job) != NULL) {
        ad_set_string(ad, name, claim_state(job));
    }
}

static void put_shadow_error(const struct schedd *schedd, const struct job *job, const char *name,
                             struct ad *ad)
{
    (void)schedd;
    if (job->phase == JOB_CLAIMED && job->cluster->owner->shadow_error != NULL) {
        ad_set_string(ad, name, job->cluster->owner->shadow_error);
    }
}

static const struct {
    const char *name;
    fixed_f put;
} FIXED[] = {
    {"ProcId", put_proc},
    {"GlobalJobId", put_global_id},
    {"JobStatus", put_status},
    {"EnteredCurrentStatus", put_entered},
    {"LastJobStatus", put_last_status},
    {"ClaimEpoch", put_epoch},
    {"AutoClusterId", put_autocluster},
    {"LastRejMatchReason", put_rejected_why},
    {"LastRejMatchNegotiator", put_rejected_by},
    {"LastRejMatchTime", put_rejected_time},
    {"ClaimState", put_claim_state},
    {"ShadowError", put_shadow_error},
};

int job_fixed_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(FIXED); i++) {
        if (ad_name_compare(FIXED[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

void job_fixed_put(const struct schedd *schedd, const struct job *job, int fixed, struct ad *ad)
{
    FIXED[fixed].put(schedd, job, FIXED[fixed].name, ad);
}

/* Returns a copy of the job's own ad with the attributes of FIXED, except those of put function
 * `without`. */
static struct ad *with_fixed(const struct schedd *schedd, const struct job *job, fixed_f without)
{
    struct ad *ad = job->own != NULL ? ad_copy(job->own) : ad_create();
    for (size_t i = 0; i < ARRAY_COUNT(FIXED); i++) {
        if (FIXED[i].put != without) {
            FIXED[i].put(schedd, job, FIXED[i].name, ad);
        }
    }
    return ad;
}

struct ad *job_view(const struct schedd *schedd, const struct job *job)
{
    struct ad *view = with_fixed(schedd, job, NULL);
    ad_chain(view, job->cluster->ad);
    return view;
}

struct ad *job_row_ad(const struct schedd *schedd, const struct job *job)
{
    struct ad *ad = with_fixed(schedd, job, put_global_id);
    ad_chain(ad, NULL);
    ad_remove(ad, "GlobalJobId");
    return ad;
}

struct ad *job_flat(const struct schedd *schedd, const struct job *job)
{
    struct ad *view = job_view(schedd, job);
    ad_chain(view, NULL);
    /* shares the values of the cluster */
    struct ad *flat = ad_change(NULL, job->cluster->ad, view);
    if (flat ==
        NULL) { /* it has more attributes than an ad may have: those of the job are left out */
        flat = ad_copy(job->cluster->ad);
        ad_merge(flat, view);
    }
    ad_destroy(view);
    return flat;
}

struct ad *job_own(struct job *job)
{
    if (job->own == NULL) {
        job->own = ad_create();
    }
    return job->own;
}

bool job_has(const struct job *job, const char *name)
{
    return (job->own != NULL && ad_has(job->own, name)) || ad_has(job->cluster->ad, name);
}

int64_t job_int(const struct job *job, const char *name, int64_t otherwise)
{
    int64_t value = 0;
    if (job->own != NULL && ad_get_int(job->own, name, &value) == 0) {
        return value;
    }
    return ad_int_or(job->cluster->ad, name, otherwise);
}

const char *job_string(const struct job *job, const char *name, const char *otherwise)
{
    const char *value = NULL;
    if (job->own != NULL && ad_get_string(job->own, name, &value) == 0) {
        return value;
    }
    return ad_string_or(job->cluster->ad, name, otherwise);
}
