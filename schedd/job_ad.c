/* schedd/job_ad.c - the ad of a job, put together from its cluster's, its own and its fixed parts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "classad/ad.h"
#include "schedd/job_autocluster.h"
#include "schedd/schedd_state.h"

void job_id(const struct job *job, char ret[JOB_ID_SIZE])
{
    (void)snprintf(ret, JOB_ID_SIZE, "%" PRId64 ".%" PRIu32, job->cluster->id, job->proc);
}

static bool digits(const char **at, int64_t max, int64_t *ret)
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
    if (!digits(&text, INT32_MAX, &c) || c == 0) {
        return false;
    }
    if (*text == '.') {
        text++;
        if (!digits(&text, CLUSTER_PROCS_MAX, &p)) {
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
    return STATUS[job->phase];
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

/* What was said of its autocluster since it is idle. */
static void show_rejection(const struct job *job, struct ad *view)
{
    const struct autocluster *autocluster = job->autocluster;
    if (autocluster != NULL && autocluster->rejected_why != NULL &&
        autocluster->rejected_s >= job->entered_s) {
        ad_set_string(view, "LastRejMatchReason", autocluster->rejected_why);
        ad_set_string(view, "LastRejMatchNegotiator", autocluster->rejected_by);
        ad_set_int(view, "LastRejMatchTime", autocluster->rejected_s);
    }
}

struct ad *job_view(const struct schedd *schedd, const struct job *job)
{
    struct ad *view = job->own != NULL ? ad_copy(job->own) : ad_create();
    char id[JOB_ID_SIZE];
    job_id(job, id);
    char global[512];
    (void)snprintf(global, sizeof(global), "%s#%s#%" PRId64, schedd->name, id,
                   job->cluster->qdate_s); /* a longer name is cut */
    ad_set_int(view, "ProcId", job->proc);
    ad_set_string(view, "GlobalJobId", global);
    ad_set_int(view, "JobStatus", job_status(job));
    ad_set_int(view, "EnteredCurrentStatus", job->entered_s);
    if (job->last > 0) {
        ad_set_int(view, "LastJobStatus", job->last);
    }
    if (job->epoch > 0) {
        ad_set_int(view, "ClaimEpoch", job->epoch);
    }
    if (job->autocluster != NULL) {
        ad_set_int(view, "AutoClusterId", job->autocluster->id);
    }
    if (job->phase == JOB_IDLE) {
        show_rejection(job, view);
    }
    if (claim_state(job) != NULL) {
        ad_set_string(view, "ClaimState", claim_state(job));
    }
    ad_chain(view, job->cluster->ad);
    return view;
}

struct ad *job_flat(const struct schedd *schedd, const struct job *job)
{
    struct ad *flat = ad_create();
    struct ad *view = job_view(schedd, job);
    ad_merge(flat, job->cluster->ad);
    ad_merge(flat, view);
    ad_destroy(view);
    return flat;
}

const struct ad *queue_show(struct schedd *schedd, const char *id)
{
    const struct job *job = queue_job_by_id(schedd, id);
    if (job == NULL) {
        return NULL;
    }
    ad_destroy(schedd->shown);
    schedd->shown = job_flat(schedd, job);
    return schedd->shown;
}

struct ad *job_own(struct job *job)
{
    if (job->own == NULL) {
        job->own = ad_create();
    }
    return job->own;
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
