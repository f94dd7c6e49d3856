/* schedd/job_submit.c - see job_submit.h.
 *
 * Everything is checked before anything is changed; then the whole call is one transaction.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_submit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/job_autocluster.h"
#include "schedd/job_charge.h"
#include "schedd/job_claims.h"
#include "schedd/job_events.h"
#include "schedd/job_factory.h"
#include "schedd/job_moves.h"
#include "schedd/job_owner.h"
#include "schedd/job_queue.h"
#include "schedd/job_select.h"
#include "schedd/request_ads.h"
#include "schedd/job_spool.h"
#include "schedd/schedd_state.h"
#include "schedd/submit_plan.h"
#include "wire/wire.h"

#define RESERVATIONS_MAX 1000 /* the oldest is forgotten */

/* ---- reserved ids: a submit file that says $(ClusterId) has to know it before it is sent --------
 *
 * In memory only: a reservation costs no commit, and one that is not used leaves a gap.  After a
 * restart the id may be another's, so only what this life of the schedd gave away is accepted.
 */

struct reservation {
    int64_t id;
    char owner[OWNER_NAME_MAX + 1];
};

static void reserve(struct schedd *schedd, const char *owner, struct wire_request *request)
{
    struct reservation *reservation = mem_zalloc(sizeof(*reservation));
    reservation->id = schedd->next_cluster++;
    (void)snprintf(reservation->owner, sizeof(reservation->owner), "%s", owner); /* fits */
    if (schedd->reservations.count >= RESERVATIONS_MAX) {
        mem_free(schedd->reservations.items[0]);
        vec_remove_at(&schedd->reservations, 0);
    }
    vec_push(&schedd->reservations, reservation);
    struct ad *args = ad_create();
    ad_set_int(args, "ClusterId", reservation->id);
    const struct wire_body body = {.args = args};
    wire_reply_ok(request, &body);
    ad_destroy(args);
}

/* SIZE_MAX: there is none. */
static size_t find_reservation(const struct schedd *schedd, int64_t id, const char *owner)
{
    for (size_t i = schedd->reservations.count; i > 0; i--) {
        const struct reservation *reservation = schedd->reservations.items[i - 1];
        if (reservation->id == id && strcmp(reservation->owner, owner) == 0) {
            return i - 1;
        }
    }
    return SIZE_MAX;
}

static void use_reservation(struct schedd *schedd, int64_t id, const char *owner)
{
    size_t at = find_reservation(schedd, id, owner);
    if (at != SIZE_MAX) {
        mem_free(schedd->reservations.items[at]);
        vec_remove_at(&schedd->reservations, at);
    }
}

struct submission {
    struct schedd *schedd;
    struct wire_request *request;
    struct owner *owner;
    struct cluster *cluster;     /* of a later call; NULL: a new one */
    struct ad *ad;               /* of a new cluster */
    struct job_factory *factory; /* of a new cluster whose jobs are made later; NULL: none */
    struct vec procs;            /* what each job has of its own, struct ad; items may be NULL */
    size_t count;
};

static void destroy_ad(void *ad)
{
    ad_destroy(ad);
}

/* A job with everything in place, its cluster's ad included. */
static int check_job(struct schedd *schedd, struct owner *owner, const struct ad *job,
                     struct err *err)
{
    int result = submit_plan_check_job(job, err);
    return result != 0 ? result : charge_check(schedd, owner, job, err);
}

/* The texts of the ads, one behind the other. */
static int take_digest(struct submission *submission, struct err *err)
{
    struct wire_request *request = submission->request;
    struct strbuf digest;
    if (submission->cluster != NULL) {
        return err_set(err, -EINVAL, "a cluster that is there can get no digest");
    }
    strbuf_init(&digest, FACTORY_DIGEST_MAX);
    strbuf_puts(&digest, "");
    for (size_t i = 0; i < wire_request_ad_count(request); i++) {
        struct ad *part = wire_request_take_ad(request, i);
        strbuf_puts(&digest, ad_string_or(part, "Text", ""));
        ad_destroy(part);
    }
    struct ad *place = ad_create();
    const struct ad *args = wire_request_args(request);
    struct ad_value value;
    if (ad_eval_attr(args, NULL, "DigestPlace", NULL, &value) == 0 && value.type == AD_TYPE_AD) {
        ad_merge(place, value.ad);
    }
    ad_value_fini(&value);
    int result = digest.failed
                     ? err_set(err, -E2BIG, "a digest of more than %zu bytes", FACTORY_DIGEST_MAX)
                     : factory_create(submission->schedd, ad_int_or(submission->ad, "ClusterId", 0),
                                      strbuf_text(&digest), place, &submission->factory, err);
    ad_remove(submission->ad, "Digest");
    ad_remove(submission->ad, "DigestPlace");
    ad_destroy(place);
    strbuf_fini(&digest);
    return result != 0 ? result
                       : check_job(submission->schedd, submission->owner, submission->ad, err);
}

/* An alike job has no ad of its own. */
static int take_procs(struct submission *submission, struct err *err)
{
    struct wire_request *request = submission->request;
    const struct ad *base = submission->cluster != NULL ? submission->cluster->ad : submission->ad;
    size_t count = wire_request_ad_count(request);
    bool spooled = spool_is_spooled(base);
    int64_t first = submission->cluster != NULL ? submission->cluster->proc_count : 0;
    bool later = ad_bool_or(wire_request_args(request), "Digest", false);
    if (spooled && (count == 0 || later)) {
        return err_set(err, -EINVAL,
                       later ? "jobs that are made later (max_materialize, max_idle) "
                               "cannot be spooled"
                             : "spooled jobs come with an ad each");
    }
    if (later) {
        return take_digest(submission, err);
    }
    if (count == 0) {
        int64_t wanted = ad_int_or(wire_request_args(request), "ProcCount", 1);
        if (wanted < 1 || wanted > CLUSTER_PROCS_MAX) {
            return err_set(err, -EINVAL, "ProcCount is not between 1 and %d", CLUSTER_PROCS_MAX);
        }
        submission->count = (size_t)wanted;
        return check_job(submission->schedd, submission->owner, base, err);
    }
    submission->count = count;
    for (size_t i = 0; i < count; i++) {
        struct ad *own = wire_request_take_ad(request, i);
        vec_push(&submission->procs, own);
        int64_t status = ad_int_or(own, "JobStatus", 0);
        submit_plan_clean(own);
        ad_remove(own, "JobStatus");
        int result = submit_plan_check_size(own, JOB_AD_MAX, err);
        if (result == 0) {
            ad_chain(own, base);
            result = check_job(submission->schedd, submission->owner, own, err);
            ad_chain(own, NULL);
        }
        if (result != 0) {
            return err_prefix(err, result, "job %zu", i);
        }
        if (spooled) {
            if (status == STATUS_HELD) {
                ad_set_int(own, "JobStatus", STATUS_HELD);
            }
            result = spool_take_job(submission->schedd, own, base, first + (int64_t)i, err);
            result = result != 0 ? result : submit_plan_check_size(own, JOB_AD_MAX, err);
            if (result != 0) {
                return err_prefix(err, result, "job %zu", i);
            }
        } else if (status == STATUS_HELD) {
            ad_set_int(own, "JobStatus", STATUS_HELD); /* taken out again when it is added */
        }
    }
    return 0;
}

static int take_cluster(struct submission *submission, struct err *err)
{
    struct schedd *schedd = submission->schedd;
    const struct ad *args = wire_request_args(submission->request);
    int64_t id = ad_int_or(args, "ClusterId", 0);
    if (id > 0) {
        submission->cluster = queue_cluster(schedd, id);
        if (submission->cluster == NULL) {
            return err_set(err, -ENOENT, "no cluster %lld to add jobs to", (long long)id);
        }
        if (submission->cluster->owner != submission->owner) {
            return err_set(err, -EPERM, "cluster %lld is not of %s", (long long)id,
                           submission->owner->name);
        }
        return 0;
    }
    int64_t reserved = ad_int_or(args, "ReservedClusterId", 0);
    if (reserved != 0 && (find_reservation(schedd, reserved, submission->owner->name) == SIZE_MAX ||
                          queue_cluster(schedd, reserved) != NULL)) {
        return err_set(err, -ESTALE, "cluster %lld is not reserved any more; submit again",
                       (long long)reserved);
    }
    submission->ad = ad_copy(args);
    ad_remove(submission->ad, "ReservedClusterId");
    submit_plan_clean(submission->ad);
    spool_take_cluster(schedd, submission->ad);
    submit_plan_defaults(submission->ad, schedd->settings.job_lease_s);
    ad_set_int(submission->ad, "ClusterId", reserved != 0 ? reserved : schedd->next_cluster);
    ad_set_string(submission->ad, "Owner", submission->owner->name);
    ad_set_string(submission->ad, "User", submission->owner->user);
    ad_set_int(submission->ad, "QDate", loop_wall_s(schedd->loop));
    return submit_plan_check_size(submission->ad, CLUSTER_AD_MAX, err);
}

static int check_quotas(const struct submission *submission, struct err *err)
{
    const struct schedd_settings *settings = &submission->schedd->settings;
    int64_t count = (int64_t)submission->count;
    if (settings->jobs_submit_max > 0 && count > settings->jobs_submit_max) {
        return err_set(err, -EDQUOT, "%lld jobs in one submission: MAX_JOBS_PER_SUBMISSION is %lld",
                       (long long)count, (long long)settings->jobs_submit_max);
    }
    if (settings->jobs_max > 0 && submission->schedd->total + count > settings->jobs_max) {
        return err_set(err, -EDQUOT, "the queue is full: MAX_JOBS_SUBMITTED is %lld",
                       (long long)settings->jobs_max);
    }
    if (settings->jobs_owner_max > 0 &&
        submission->owner->jobs + count > settings->jobs_owner_max) {
        return err_set(err, -EDQUOT, "too many jobs of %s: MAX_JOBS_PER_OWNER is %lld",
                       submission->owner->name, (long long)settings->jobs_owner_max);
    }
    if (submission->cluster != NULL &&
        submission->cluster->proc_count + submission->count > CLUSTER_PROCS_MAX) {
        return err_set(err, -EDQUOT, "more than %d jobs in one cluster", CLUSTER_PROCS_MAX);
    }
    return 0;
}

struct answer {
    struct schedd *schedd;
    struct wire_request *request;
    int64_t cluster, first, last;
};

static void committed(void *arg)
{
    struct answer *answer = arg;
    struct ad *args = ad_create();
    ad_set_int(args, "ClusterId", answer->cluster);
    ad_set_int(args, "FirstProcId", answer->first);
    ad_set_int(args, "LastProcId", answer->last);
    const struct wire_body body = {.args = args};
    wire_reply_ok(answer->request, &body);
    ad_destroy(args);
    claims_flush(answer->schedd);
    mem_free(answer);
}

static void dropped(void *arg)
{
    struct answer *answer = arg;
    wire_reply_error(answer->request, -ESHUTDOWN, "the schedd ends");
    mem_free(answer);
}

static void put_meta(struct change *change, const char *key, int64_t value)
{
    struct ad *ad = ad_create();
    ad_set_int(ad, "Value", value);
    change_put(change, "counters", key, ad);
    ad_destroy(ad);
}

void submit_add_job(struct change *change, struct cluster *cluster, struct ad *own)
{
    int64_t status = own != NULL ? ad_int_or(own, "JobStatus", 0) : 0;
    if (status == 0) {
        status = ad_int_or(cluster->ad, "JobStatus", STATUS_IDLE);
    }
    bool held = status == STATUS_HELD;
    if (own != NULL) {
        ad_remove(own, "JobStatus");
        if (ad_count(own) == 0 && !held) {
            ad_destroy(own);
            own = NULL;
        }
    }
    struct job *job =
        queue_add_job(change_schedd(change), cluster, own, held ? JOB_HELD : JOB_IDLE);
    if (held && spool_is_spooled(cluster->ad)) {
        spool_note_hold(job);
    } else if (held) {
        moves_note_hold(job, "submitted on hold at user's request", HOLD_SUBMITTED_ON_HOLD, 0);
    }
    events_submitted(change, job);
    if (spool_is_waiting(job)) {
        events_held(change, job);
    }
    change_job(change, job);
}

static void apply(struct submission *submission)
{
    struct schedd *schedd = submission->schedd;
    struct change *change = change_begin(schedd);
    int64_t next_autocluster = schedd->next_autocluster;
    if (submission->cluster == NULL) {
        submission->cluster = queue_add_cluster(schedd, submission->owner, submission->ad,
                                                ad_int_or(submission->ad, "QDate", 0));
        submission->ad = NULL;
        use_reservation(schedd, submission->cluster->id, submission->owner->name);
        put_meta(change, "next_cluster", schedd->next_cluster);
    }
    ad_set_int(submission->cluster->ad, "TotalSubmitProcs",
               (int64_t)submission->cluster->proc_count + (int64_t)submission->count);
    change_cluster(change, submission->cluster);
    struct answer *answer = mem_zalloc(sizeof(*answer));
    answer->schedd = schedd;
    answer->request = submission->request;
    answer->cluster = submission->cluster->id;
    answer->first = submission->cluster->proc_count;
    for (size_t i = 0; i < submission->count; i++) {
        struct ad *own = NULL;
        if (i < submission->procs.count) {
            own = submission->procs.items[i];
            submission->procs.items[i] = NULL;
        }
        submit_add_job(change, submission->cluster, own);
    }
    answer->last = (int64_t)submission->cluster->proc_count - 1;
    if (submission->factory != NULL) {
        factory_attach(change, submission->factory, submission->cluster);
        submission->factory = NULL;
        answer->last = ad_int_or(submission->cluster->ad, "TotalSubmitProcs", 1) - 1;
    }
    if (schedd->next_autocluster != next_autocluster) {
        put_meta(change, "next_autocluster", schedd->next_autocluster);
    }
    log_info(schedd->log, "queue.submitted", "jobs submitted",
             LOG_TEXT("owner", submission->owner->name), LOG_INT("cluster", answer->cluster),
             LOG_INT("first", answer->first), LOG_INT("last", answer->last));
    change_commit(change, committed, dropped, answer);
}

void submit_handle(struct schedd *schedd, struct wire_request *request)
{
    struct err err = {{0}};
    char owner[OWNER_NAME_MAX + 1];
    struct submission submission = {.schedd = schedd, .request = request};
    int result = schedd->stopping ? err_set(&err, -ESHUTDOWN, "the schedd is stopping") : 0;
    if (result == 0) {
        result = owner_of_caller(schedd, wire_request_peer(request), owner, sizeof(owner), &err);
    }
    if (result == 0 && ad_bool_or(wire_request_args(request), "Reserve", false)) {
        reserve(schedd, owner, request);
        return;
    }
    if (result == 0) {
        submission.owner = queue_owner(schedd, owner);
        charge_begin(schedd);
        result = take_cluster(&submission, &err);
    }
    if (result == 0) {
        result = take_procs(&submission, &err);
    }
    if (result == 0) {
        result = check_quotas(&submission, &err);
    }
    if (result == 0) {
        apply(&submission);
    } else {
        caller_refuse(schedd, request, result, &err);
    }
    ad_destroy(submission.ad);
    factory_destroy(submission.factory);
    vec_fini(&submission.procs, destroy_ad);
}
