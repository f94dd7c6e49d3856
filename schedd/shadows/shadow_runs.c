/* schedd/shadows/shadow_runs.c - see shadow_runs.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/shadows/shadow_runs.h"

#include <errno.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "classad/ad.h"
#include "schedd/claim/claim_calls.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/claim/job_claims.h"
#include "schedd/submission/job_dollar.h"
#include "schedd/claim/job_nonce.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadows.h"
#include "wire/wire.h"

struct run {
    int64_t epoch;
    bool place_only;
};

struct forget {
    struct owner *owner;
    char job_id[JOB_ID_SIZE];
    int64_t epoch;
    bool stop;
    char why[128];
};

static void ignore_answer(void *arg, struct wire_reply *reply)
{
    (void)arg, (void)reply; /* a shadow that is gone has nothing to stop */
}

struct run_ref {
    struct schedd *schedd;
    char job_id[JOB_ID_SIZE];
    char owner[OWNER_NAME_MAX + 1];
    int64_t epoch;
    bool place_only;
};

static void run_answered(void *arg, struct wire_reply *reply)
{
    struct run_ref *ref = arg;
    struct schedd *schedd = ref->schedd;
    bool cut = reply->status == -ECONNRESET; /* told again when it says hello */
    if (schedd->claimed.by_id != NULL && schedd->queue.owners != NULL && !cut) {
        struct owner *owner = strmap_get(schedd->queue.owners, ref->owner);
        if (reply->status < 0) {
            log_warn(schedd->log, "shadow.refused", reply->text, LOG_TEXT("job", ref->job_id),
                     LOG_INT("status", reply->status));
        }
        if (!ref->place_only && owner != NULL && owner->shadow != NULL) {
            const char *pin = reply->status == 0 ? shadows_pin(owner) : NULL;
            claims_shadow_answered(schedd, ref->job_id, ref->epoch, pin,
                                   "the shadow cannot serve the job");
        }
    }
    mem_free(ref);
}

static void tell_run(struct schedd *schedd, const struct owner *owner, const char *id,
                     const struct run *run)
{
    const struct job *job = queue_job_by_id(schedd, id);
    struct wire *wire = shadows_wire(owner);
    if (wire == NULL || job == NULL ||
        (job->epoch != run->epoch && !claims_keep_run(schedd, job, run->epoch))) {
        return;
    }
    struct ad *args = ad_create();
    ad_set_string(args, "JobId", id);
    ad_set_int(args, "ClaimEpoch", run->epoch);
    if (run->place_only) {
        ad_set_bool(args, "PlaceOnly", true);
    }
    struct ad *flat = job_run_ad(schedd, job);
    const struct ad *ads[] = {flat};
    const struct wire_secret nonce = {SECRET_NONCE, SECRET_OF_ARGS, job_nonce(job)};
    const struct wire_body body = {
        .args = args, .ads = ads, .ad_count = 1, .secrets = &nonce, .secret_count = 1};
    struct run_ref *ref = mem_zalloc(sizeof(*ref));
    ref->schedd = schedd;
    ref->epoch = run->epoch;
    ref->place_only = run->place_only;
    (void)snprintf(ref->job_id, sizeof(ref->job_id), "%s", id);        /* fits */
    (void)snprintf(ref->owner, sizeof(ref->owner), "%s", owner->name); /* fits */
    if (wire_call(wire, VERB_JOB_RUN, &body, 0, run_answered, ref) < 0) {
        mem_free(ref); /* told when it says hello */
    }
    ad_destroy(flat);
    ad_destroy(args);
}

static void add_run(struct schedd *schedd, const struct job *job, bool place_only)
{
    struct owner *owner = job->cluster->owner;
    char id[JOB_ID_SIZE];
    job_id(job, id);
    if (owner->runs == NULL) {
        owner->runs = strmap_create(STRMAP_CASE_SENSITIVE);
    }
    struct run *run = strmap_get(owner->runs, id);
    if (run == NULL) {
        run = mem_zalloc(sizeof(*run));
        (void)strmap_set(owner->runs, id, run); /* was absent */
    }
    run->epoch = job->epoch;
    run->place_only = place_only;
    shadows_want(schedd, owner);
    tell_run(schedd, owner, id, run);
}

void shadow_runs_start(struct schedd *schedd, const struct job *job)
{
    add_run(schedd, job, false);
}

void shadow_runs_place(struct schedd *schedd, const struct job *job)
{
    add_run(schedd, job, true);
}

static struct run *find_run(const struct owner *owner, const char *id, int64_t epoch)
{
    struct run *run = owner->runs != NULL ? strmap_get(owner->runs, id) : NULL;
    return run != NULL && run->epoch == epoch ? run : NULL;
}

static void placing_after_commit(void *arg)
{
    struct forget *forget = arg;
    struct run *run = find_run(forget->owner, forget->job_id, forget->epoch);
    if (run != NULL) {
        run->place_only = true;
    }
    mem_free(forget);
}

static struct forget *remember_run(const struct job *job, bool stop, const char *why)
{
    struct forget *forget = mem_zalloc(sizeof(*forget));
    forget->owner = job->cluster->owner;
    forget->epoch = job->epoch;
    forget->stop = stop;
    job_id(job, forget->job_id);
    (void)snprintf(forget->why, sizeof(forget->why), "%s", why); /* cut if long */
    return forget;
}

void shadow_runs_expect_placing(struct change *change, const struct job *job)
{
    if (job->cluster->owner->shadow != NULL) {
        change_then(change, placing_after_commit, remember_run(job, false, ""));
    }
}

static void forget_run(struct owner *owner, const char *id, int64_t epoch, bool stop,
                       const char *why)
{
    struct wire *wire = shadows_wire(owner);
    if (find_run(owner, id, epoch) != NULL) {
        mem_free(strmap_remove(owner->runs, id));
    }
    if (stop && wire != NULL) {
        struct ad *args = ad_create();
        ad_set_string(args, "JobId", id);
        ad_set_int(args, "ClaimEpoch", epoch);
        ad_set_string(args, "Reason", why);
        const struct wire_body body = {.args = args};
        (void)wire_call(wire, VERB_JOB_STOP, &body, 0, ignore_answer, NULL);
        ad_destroy(args);
    }
    shadows_look_at(owner);
}

static void forget_after_commit(void *arg)
{
    struct forget *forget = arg;
    forget_run(forget->owner, forget->job_id, forget->epoch, forget->stop, forget->why);
    mem_free(forget);
}

void shadow_runs_ended(struct owner *owner, const char *id, int64_t epoch)
{
    if (owner->shadow != NULL) {
        forget_run(owner, id, epoch, true, "the job was told to end, and has ended");
    }
}

void shadow_runs_forget(struct change *change, const struct job *job, bool stop, const char *why)
{
    if (job->cluster->owner->shadow != NULL) { /* else it was never told */
        change_then(change, forget_after_commit, remember_run(job, stop, why));
    }
}

/* ---- a shadow that is there, or comes anew --------------------------------------------------- */

void shadow_runs_list(const struct owner *owner, struct strbuf *ret)
{
    size_t at = 0;
    const char *id = NULL;
    void *value = NULL;
    while (owner->runs != NULL && strmap_next(owner->runs, &at, &id, &value)) {
        strbuf_printf(ret, "%s%s.%lld", ret->length > 0 ? "," : "", id,
                      (long long)((const struct run *)value)->epoch);
    }
}

size_t shadow_runs_count(const struct owner *owner)
{
    return owner->runs != NULL ? strmap_count(owner->runs) : 0;
}

void shadow_runs_tell(struct schedd *schedd, const struct owner *owner)
{
    size_t at = 0;
    const char *id = NULL;
    void *value = NULL;
    while (owner->runs != NULL && strmap_next(owner->runs, &at, &id, &value)) {
        tell_run(schedd, owner, id, value);
    }
}

void shadow_runs_fini(struct schedd *schedd)
{
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.owners, &at, NULL, &value)) {
        struct owner *owner = value;
        strmap_destroy(owner->runs, mem_free);
        owner->runs = NULL;
    }
}
