/* schedd/submission/job_submit.c - see job_submit.h.
 *
 * Design.  A call may bring thousands of ads, and to check or to add an ad evaluates expressions of
 * its submitter.  So both are done in slices (base/slices.h), by counted work and not by time.
 *
 * All or nothing: all ads are checked before anything is changed, and after that nothing can fail.
 * Each slice of added jobs is a transaction of its own, so that the rows of a job, of its events,
 * and later changes by others are committed in this order.  If there are several slices, the
 * cluster's ad has SUBMIT_FROM until the last one is durable, and its jobs get no slot.  If the
 * schedd ends before, its next start removes these jobs (submit_take_back()).  The client is
 * answered when all jobs are durable.
 *
 * Rejected: one transaction at the end.  The jobs would have to be hidden from everybody until
 * then: numbers of events would not grow in the order of commits, and a job that matters for
 * autoclusters or for a limit of the queue would be missed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/submission/job_submit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/slices.h"
#include "base/strbuf.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"
#include "classad/ad_pool.h"
#include "schedd/queue/job_add.h"
#include "schedd/queue/job_change.h"
#include "schedd/policy/job_charge.h"
#include "schedd/claim/job_claims.h"
#include "schedd/submission/job_factory.h"
#include "schedd/job_moves.h"
#include "schedd/job_owner.h"
#include "schedd/queue/job_queue.h"
#include "schedd/questions/job_select.h"
#include "schedd/submission/job_spool.h"
#include "schedd/queue/queue_finish.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/spool_room.h"
#include "schedd/submission/spool_sandbox.h"
#include "schedd/submission/submit_plan.h"
#include "store/store.h"
#include "wire/wire.h"

#define RESERVATIONS_MAX 1000 /* beyond it the oldest reservation is forgotten */

/* Attribute of a cluster while jobs are being added: the ProcId of the first of them. */
#define SUBMIT_FROM "SubmittingFromProcId"

/* Steps for checking or adding a job, besides its expressions, which are evaluated several
 * times. */
#define JOB_STEPS 600
#define JOB_TIMES 2

/* ---- reserved ids: a submit file that says $(ClusterId) has to know it before it is sent --------
 *
 * In memory only: a reservation costs no commit, and one that is not used leaves a gap.  After a
 * restart the id may be another's, so only what this life of the schedd gave away is accepted.
 */

struct reservation {
    int64_t id;
    char owner[OWNER_NAME_MAX + 1];
};

static void reserve_id(struct schedd *schedd, const char *owner, struct wire_request *request)
{
    struct reservation *reservation = mem_zalloc(sizeof(*reservation));
    reservation->id = schedd->queue.next_cluster++;
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

/* Returns the index of the owner's reservation of a cluster id; SIZE_MAX: none. */
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

/* Gives a reservation back, because the submission that took it is refused. */
static void reserve_again(struct schedd *schedd, int64_t id, const char *owner)
{
    struct reservation *reservation = mem_zalloc(sizeof(*reservation));
    reservation->id = id;
    (void)snprintf(reservation->owner, sizeof(reservation->owner), "%s", owner); /* fits */
    vec_push(&schedd->reservations, reservation);
}

/* ---- a submission ---------------------------------------------------------------------------- */

enum stage {
    STAGE_JUDGES, /* checks each job; nothing has changed yet */
    STAGE_ADDS,   /* adds the jobs to the queue; none of them may run yet */
    STAGE_FREES   /* all jobs are durable, or in one transaction: they may run */
};

struct submission {
    LIST_ENTRY(submission) entry; /* in schedd->under_way.submissions */
    struct schedd *schedd;
    struct wire_request *request; /* NULL: it was answered */
    struct slice_work *turn;
    struct owner *owner;
    enum stage stage;
    bool waits;              /* waits until another submission to the same cluster has ended */
    bool committing;         /* the last transaction is being committed */
    struct cluster *held;    /* cluster that only this submission adds to; NULL: not made yet */
    struct ad *ad;           /* ad of a new cluster, until the cluster is made */
    int64_t reserved, taken; /* id of a new cluster: reserved before, or taken now */
    /* factory of a new cluster whose jobs are made later; NULL: none */
    struct job_factory *factory;
    struct vec procs;             /* own ad of each job, struct ad; items may be NULL */
    uint32_t *steps;              /* submit_plan_steps() of each of procs, counted once */
    size_t count;                 /* number of jobs */
    size_t at;                    /* jobs that this stage has done */
    int64_t cluster, first, last; /* ids of the jobs that were added */
    int64_t charge_lookups;       /* number of account look-ups so far (job_charge.c) */
    uint64_t base_steps;          /* submit_plan_steps() of a job without an ad of its own */
    bool base_is_plain;           /* submit_plan_is_plain() of base_of(), in the present slice */
};

/* Checks the complete ad of a job, chained to its cluster's.  Returns 0, or a negative errno with
 * err. */
static int check_job(struct schedd *schedd, struct owner *owner, const struct ad *job,
                     struct err *err)
{
    int result = submit_plan_check_job(job, err);
    return result != 0 ? result : charge_check(schedd, owner, job, err);
}

/* Checks that the owner's digests do not take too much memory, which no limit on jobs counts. */
static int check_digest(const struct owner *owner, const char *digest, struct err *err)
{
    if (factory_bytes(digest) <= FACTORY_OWNER_MAX - owner->factory_bytes) {
        return 0;
    }
    return err_set(err, -EDQUOT,
                   "the item lists of %s for jobs with max_materialize or max_idle would take more "
                   "than %lld MiB; remove some clusters, or submit fewer items at a time",
                   owner->name, (long long)(FACTORY_OWNER_MAX >> 20));
}

/* Joins the parts of the digest, which stand in several ads. */
static int take_digest(struct submission *submission, struct err *err)
{
    struct wire_request *request = submission->request;
    struct strbuf digest;
    if (submission->held != NULL) {
        return err_set(err, -EINVAL,
                       "the submit digest must be sent with the request that creates the cluster");
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
    int result = digest.failed ? err_set(err, -E2BIG, "the submit digest is larger than %zu bytes",
                                         FACTORY_DIGEST_MAX)
                               : check_digest(submission->owner, strbuf_text(&digest), err);
    result = result != 0
                 ? result
                 : factory_create(submission->schedd, ad_int_or(submission->ad, "ClusterId", 0),
                                  strbuf_text(&digest), place, &submission->factory, err);
    ad_remove(submission->ad, "Digest");
    ad_remove(submission->ad, "DigestPlace");
    ad_destroy(place);
    strbuf_fini(&digest);
    return result != 0 ? result
                       : check_job(submission->schedd, submission->owner, submission->ad, err);
}

/* Returns the ad that all jobs share. */
static const struct ad *base_of(const struct submission *submission)
{
    return submission->held != NULL ? submission->held->ad : submission->ad;
}

/* Reads how many jobs the submission has, and of what kind.  The jobs' ads are checked later, one
 * by one. */
static int take_jobs(struct submission *submission, struct err *err)
{
    struct wire_request *request = submission->request;
    const struct ad *base = base_of(submission);
    size_t count = wire_request_ad_count(request);
    bool later = ad_bool_or(wire_request_args(request), "Digest", false);
    if (spool_sandbox_is_used(base) && (count == 0 || later)) {
        return err_set(
            err, -EINVAL,
            later
                ? "jobs with max_materialize or max_idle cannot be spooled"
                : "spooled jobs cannot be submitted with ProcCount: each of them needs its own ad");
    }
    if (later) {
        return take_digest(submission, err);
    }
    submission->base_steps = submit_plan_steps(base, NULL);
    submission->count = count;
    submission->steps = mem_zalloc((count + 1) * sizeof(*submission->steps));
    if (count == 0) {
        int64_t wanted = ad_int_or(wire_request_args(request), "ProcCount", 1);
        if (wanted < 1 || wanted > CLUSTER_PROCS_MAX) {
            return err_set(err, -EINVAL, "ProcCount is not between 1 and %d", CLUSTER_PROCS_MAX);
        }
        submission->count = (size_t)wanted;
        submission->at = submission->count; /* all alike: this one is judged for all */
        return check_job(submission->schedd, submission->owner, base, err);
    }
    return 0;
}

/* Finds or makes the ad of the cluster.  Sets *waits when another submission is adding jobs to this
 * cluster. */
static int take_cluster(struct submission *submission, bool *waits, struct err *err)
{
    struct schedd *schedd = submission->schedd;
    const struct ad *args = wire_request_args(submission->request);
    int64_t id = ad_int_or(args, "ClusterId", 0);
    if (id > 0) {
        struct cluster *cluster = queue_cluster(schedd, id);
        if (cluster == NULL) {
            return err_set(err, -ENOENT, "no such cluster to add jobs to: %lld", (long long)id);
        }
        if (cluster->owner != submission->owner) {
            return err_set(err, -EPERM, "cluster %lld does not belong to %s", (long long)id,
                           submission->owner->name);
        }
        if (cluster->submitting) {
            *waits = true;
            return 0;
        }
        cluster->submitting = true;
        submission->held = cluster;
        submission->first = cluster->proc_count;
        return 0;
    }
    int64_t reserved = ad_int_or(args, "ReservedClusterId", 0);
    if (reserved != 0 && (find_reservation(schedd, reserved, submission->owner->name) == SIZE_MAX ||
                          queue_cluster(schedd, reserved) != NULL)) {
        return err_set(err, -ESTALE, "the reservation of cluster %lld has ended; submit again",
                       (long long)reserved);
    }
    if (reserved != 0) { /* nobody else may have it from now on */
        use_reservation(schedd, reserved, submission->owner->name);
        submission->reserved = reserved;
    } else {
        submission->taken = schedd->queue.next_cluster++;
    }
    submission->ad = ad_copy(args);
    ad_remove(submission->ad, "ReservedClusterId");
    submit_plan_clean(submission->ad);
    spool_take_cluster(schedd, submission->ad);
    submit_plan_defaults(submission->ad, schedd->settings.job_lease_s);
    ad_set_int(submission->ad, "ClusterId", reserved != 0 ? reserved : submission->taken);
    ad_set_string(submission->ad, "Owner", submission->owner->name);
    ad_set_string(submission->ad, "User", submission->owner->user);
    ad_set_int(submission->ad, "QDate", loop_wall_s(schedd->loop));
    ad_pack(schedd->queue.pool, NULL, submission->ad); /* every job is judged with it */
    return submit_plan_check_size(submission->ad, CLUSTER_AD_MAX, err);
}

/* Checks the limits on jobs; jobs that other submissions are still adding count, too. */
static int check_quotas(const struct submission *submission, struct err *err)
{
    const struct schedd *schedd = submission->schedd;
    const struct schedd_settings *settings = &schedd->settings;
    const struct owner *owner = submission->owner;
    const struct cluster *held = submission->held;
    int64_t count = (int64_t)submission->count;
    if (settings->jobs_submit_max > 0 && held != NULL &&
        held->proc_count + count > settings->jobs_submit_max) {
        return err_set(err, -EDQUOT,
                       "too many jobs in cluster %lld: %lld; MAX_JOBS_PER_SUBMISSION is %lld",
                       (long long)held->id, (long long)(held->proc_count + count),
                       (long long)settings->jobs_submit_max);
    }
    if (held == NULL) { /* the others follow in further requests */
        int64_t total = ad_int_or(submission->ad, "TotalSubmitProcs", 0);
        count = total > count && total <= CLUSTER_PROCS_MAX ? total : count;
    }
    if (settings->jobs_submit_max > 0 && count > settings->jobs_submit_max) {
        return err_set(err, -EDQUOT,
                       "too many jobs in one submission: %lld; MAX_JOBS_PER_SUBMISSION is %lld",
                       (long long)count, (long long)settings->jobs_submit_max);
    }
    if (settings->jobs_max > 0 &&
        schedd->queue.total + schedd->coming + count > settings->jobs_max) {
        return err_set(err, -EDQUOT, "the queue is full; MAX_JOBS_SUBMITTED is %lld",
                       (long long)settings->jobs_max);
    }
    if (settings->jobs_owner_max > 0 &&
        owner->jobs + owner->coming + count > settings->jobs_owner_max) {
        return err_set(err, -EDQUOT, "too many jobs of %s; MAX_JOBS_PER_OWNER is %lld", owner->name,
                       (long long)settings->jobs_owner_max);
    }
    if (submission->held != NULL &&
        submission->held->proc_count + submission->count > CLUSTER_PROCS_MAX) {
        return err_set(err, -EDQUOT, "more than %d jobs in one cluster", CLUSTER_PROCS_MAX);
    }
    return 0;
}

/* Lets other submissions add to the cluster again. */
static void let_go(struct submission *submission)
{
    struct schedd *schedd = submission->schedd;
    struct submission *other;
    if (submission->held == NULL) {
        return;
    }
    submission->held->submitting = false;
    submission->held = NULL;
    LIST_FOREACH(other, &schedd->under_way.submissions, entry)
    {
        if (other->waits) {
            other->waits = false;
            slice_work_want(other->turn);
        }
    }
}

static void submission_destroy(struct submission *submission)
{
    LIST_REMOVE(submission, entry);
    slice_work_destroy(submission->turn);
    ad_destroy(submission->ad);
    factory_destroy(submission->factory);
    vec_fini(&submission->procs, ad_destroy_item);
    mem_free(submission->steps);
    mem_free(submission);
}

/* Ends a submission before it has changed anything. */
static void give_up(struct submission *submission)
{
    struct schedd *schedd = submission->schedd;
    struct cluster *cluster = submission->held;
    if (submission->reserved != 0) {
        reserve_again(schedd, submission->reserved, submission->owner->name);
    }
    if (submission->taken != 0 && submission->taken + 1 == schedd->queue.next_cluster) {
        schedd->queue.next_cluster--;
    }
    let_go(submission);
    if (cluster != NULL && cluster->alive == 0) { /* its last job left meanwhile */
        struct change *change = change_begin(schedd);
        queue_drop_if_empty(change, cluster);
        change_commit(change, NULL, NULL, NULL);
    }
    submission_destroy(submission);
}

static void submission_gone(void *arg)
{
    give_up(arg);
}

static void refuse_submission(struct submission *submission, int result, const struct err *err)
{
    caller_refuse(submission->schedd, submission->request, result, err);
    give_up(submission);
}

/* Returns the steps to evaluate the expressions of a job that was judged: to evaluate them again,
 * only to know how long that takes, would cost as much as the work that is to be bounded. */
static uint64_t steps_of(const struct submission *submission, size_t index)
{
    return index < submission->procs.count ? submission->steps[index] : submission->base_steps;
}

/* ---- judging --------------------------------------------------------------------------------- */

static int judge_next(struct submission *submission, uint64_t *steps, struct err *err)
{
    struct schedd *schedd = submission->schedd;
    const struct ad *base = base_of(submission);
    size_t i = submission->at;
    struct ad *own = wire_request_take_ad(submission->request, i);
    vec_push(&submission->procs, own);
    int64_t status = ad_int_or(own, "JobStatus", 0);
    submit_plan_clean(own);
    ad_remove(own, "JobStatus");
    uint64_t own_steps = submit_plan_steps(base, own);
    submission->steps[i] = own_steps < UINT32_MAX ? (uint32_t)own_steps : UINT32_MAX;
    *steps += JOB_STEPS + JOB_TIMES * own_steps;
    int result = submit_plan_check_size(own, JOB_AD_MAX, err);
    if (result == 0) {
        bool is_known = submission->base_is_plain && submit_plan_adds_texts_only(own);
        ad_chain(own, base);
        result = is_known ? charge_check(schedd, submission->owner, own, err)
                          : check_job(schedd, submission->owner, own, err);
        ad_chain(own, NULL);
    }
    if (result == 0 && spool_sandbox_is_used(base)) {
        if (status == STATUS_HELD) {
            ad_set_int(own, "JobStatus", STATUS_HELD);
        }
        result = spool_take_job(schedd, own, base, submission->first + (int64_t)i, err);
        result = result != 0 ? result : submit_plan_check_size(own, JOB_AD_MAX, err);
    } else if (result == 0 && status == STATUS_HELD) {
        ad_set_int(own, "JobStatus", STATUS_HELD); /* taken out again when it is added */
    }
    if (result != 0) {
        return err_prefix(err, result, "job %zu", i);
    }
    submission->at++;
    return 0;
}

/* Checks the jobs of one slice.  Then this stage goes on, the next one begins, or the submission
 * ends. */
static void judge_slice(struct submission *submission)
{
    struct schedd *schedd = submission->schedd;
    struct err err = {{0}};
    uint64_t steps = 0;
    bool waits = false;
    int result = 0;
    schedd->charge_lookups = submission->charge_lookups;
    if (base_of(submission) == NULL) {
        result = take_cluster(submission, &waits, &err);
        if (waits) {
            submission->waits = true;
            return;
        }
        result = result != 0 ? result : take_jobs(submission, &err);
        steps += submission->base_steps;
    }
    submission->base_is_plain = result == 0 && submit_plan_is_plain(base_of(submission));
    while (result == 0 && submission->at < submission->count && steps < AD_SLICE_STEPS) {
        int64_t before = schedd->charge_lookups;
        result = judge_next(submission, &steps, &err);
        steps += (uint64_t)(schedd->charge_lookups - before) * CHARGE_LOOKUP_STEPS;
    }
    submission->charge_lookups = schedd->charge_lookups;
    bool is_over = result == 0 && submission->at == submission->count;
    result = is_over ? check_quotas(submission, &err) : result;
    if (result != 0) {
        refuse_submission(submission, result, &err);
        return;
    }
    if (is_over) { /* nothing can fail any more, whether the peer is there or not */
        wire_request_on_gone(submission->request, NULL, NULL);
        submission->stage = STAGE_ADDS;
        submission->at = 0;
        schedd->coming += (int64_t)submission->count;
        submission->owner->coming += (int64_t)submission->count;
    }
    slice_work_want(submission->turn);
}

/* ---- they may run ---------------------------------------------------------------------------- */

static void free_jobs(struct submission *submission, uint64_t steps_max)
{
    struct schedd *schedd = submission->schedd;
    uint64_t steps = 0;
    while (submission->at < submission->count && steps < steps_max) {
        struct job *job =
            queue_job(schedd, submission->cluster, submission->first + (int64_t)submission->at);
        steps += AD_LOOK_STEPS;
        if (job != NULL) {
            steps += steps_of(submission, submission->at);
            queue_left(schedd, job);
        }
        submission->at++;
    }
}

static void free_slice(struct submission *submission)
{
    free_jobs(submission, AD_SLICE_STEPS);
    if (submission->at < submission->count) {
        slice_work_want(submission->turn);
    }
}

static void submission_committed(void *arg)
{
    struct submission *submission = arg;
    struct schedd *schedd = submission->schedd;
    struct ad *args = ad_create();
    ad_set_int(args, "ClusterId", submission->cluster);
    ad_set_int(args, "FirstProcId", submission->first);
    ad_set_int(args, "LastProcId", submission->last);
    submission->committing = false;
    if (submission->stage != STAGE_FREES) {
        submission->stage = STAGE_FREES;
        submission->at = 0;
        free_slice(submission);
    }
    const struct wire_body body = {.args = args};
    wire_reply_ok(submission->request, &body);
    submission->request = NULL;
    ad_destroy(args);
    if (submission->at == submission->count) {
        submission_destroy(submission);
    }
    claims_flush(schedd);
}

static void submission_dropped(void *arg)
{
    struct submission *submission = arg;
    wire_reply_error(submission->request, -ESHUTDOWN, "the schedd is stopping");
    submission_destroy(submission);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static void put_meta(struct change *change, const char *key, int64_t value)
{
    struct ad *ad = ad_create();
    ad_set_int(ad, "Value", value);
    change_put(change, "counters", key, ad);
    ad_destroy(ad);
}

static void add_cluster(struct submission *submission, struct change *change)
{
    struct schedd *schedd = submission->schedd;
    submission->held = queue_add_cluster(schedd, submission->owner, submission->ad,
                                         ad_int_or(submission->ad, "QDate", 0));
    submission->held->submitting = true;
    submission->ad = NULL;
    put_meta(change, "next_cluster", schedd->queue.next_cluster);
    change_raise(change, schedd->queue.next_cluster);
}

/* All jobs were added: writes the final ad of the cluster. */
static void finish_cluster(struct submission *submission, struct change *change)
{
    struct cluster *cluster = submission->held;
    ad_remove(cluster->ad, SUBMIT_FROM);
    ad_set_int(cluster->ad, "TotalSubmitProcs", (int64_t)cluster->proc_count);
    change_cluster(change, cluster);
    submission->last = (int64_t)cluster->proc_count - 1;
    if (submission->factory != NULL) {
        factory_attach(change, submission->factory, cluster);
        submission->factory = NULL;
        submission->last = ad_int_or(cluster->ad, "TotalSubmitProcs", 1) - 1;
    }
    log_info(submission->schedd->log, "queue.submitted", "jobs submitted",
             LOG_TEXT("owner", submission->owner->name), LOG_INT("cluster", cluster->id),
             LOG_INT("first", submission->first), LOG_INT("last", submission->last));
    let_go(submission);
    queue_drop_if_empty(change, cluster); /* somebody was quick to remove them all */
}

/* To be called when one transaction holds all jobs: they may get slots at once, because what is
 * done with them is committed after it. */
static void free_whole(struct submission *submission)
{
    submission->stage = STAGE_FREES;
    submission->at = 0;
    free_jobs(submission, UINT64_MAX);
}

static void add_slice(struct submission *submission)
{
    struct schedd *schedd = submission->schedd;
    struct change *change = change_begin(schedd);
    int64_t next_autocluster = schedd->groups.next_id;
    uint64_t steps = 0;
    if (submission->held == NULL) {
        add_cluster(submission, change);
    }
    struct cluster *cluster = submission->held;
    submission->cluster = cluster->id;
    bool is_first = submission->at == 0;
    while (submission->at < submission->count && steps < AD_SLICE_STEPS) {
        struct ad *own = NULL;
        if (submission->at < submission->procs.count) {
            own = submission->procs.items[submission->at];
            submission->procs.items[submission->at] = NULL;
        }
        (void)job_add(change, cluster, own, false); /* the queue has it */
        steps += JOB_STEPS + JOB_TIMES * steps_of(submission, submission->at);
        submission->at++;
        schedd->coming--;
        submission->owner->coming--;
        if (PLANTED(submission_in_pieces)) {
            break;
        }
    }
    if (schedd->groups.next_id != next_autocluster) {
        put_meta(change, "next_autocluster", schedd->groups.next_id);
    }
    if (submission->at == submission->count) {
        finish_cluster(submission, change);
        if (is_first) {
            free_whole(submission);
        }
        submission->committing = true;
        change_commit(change, submission_committed, submission_dropped, submission);
        return;
    }
    if (is_first) {
        if (!PLANTED(submission_in_pieces)) {
            ad_set_int(cluster->ad, SUBMIT_FROM, submission->first);
        }
        change_cluster(change, cluster);
    }
    change_commit(change, NULL, NULL, NULL);
    slice_work_want(submission->turn);
}

/* ---- the call -------------------------------------------------------------------------------- */

static void submission_slice(void *arg)
{
    struct submission *submission = arg;
    switch (submission->stage) {
    case STAGE_JUDGES:
        judge_slice(submission);
        break;
    case STAGE_ADDS:
        add_slice(submission);
        break;
    case STAGE_FREES:
        free_slice(submission);
        if (submission->at == submission->count) {
            submission_destroy(submission);
        }
        break;
    }
}

void submit_handle(struct schedd *schedd, struct wire_request *request)
{
    struct err err = {{0}};
    char owner[OWNER_NAME_MAX + 1];
    const struct wire_peer *peer = wire_request_peer(request);
    int result = schedd->stopping ? err_set(&err, -ESHUTDOWN, "the schedd is stopping") : 0;
    if (result == 0) {
        result = owner_of_caller(schedd, peer, owner, sizeof(owner), &err);
    }
    if (result == 0) {
        result = spool_room_check(schedd, &err);
    }
    if (result != 0) {
        caller_refuse(schedd, request, result, &err);
        return;
    }
    if (ad_bool_or(wire_request_args(request), "Reserve", false)) {
        reserve_id(schedd, owner, request);
        return;
    }
    struct submission *submission = mem_zalloc(sizeof(*submission));
    submission->schedd = schedd;
    submission->request = request;
    submission->owner = queue_owner(schedd, owner);
    submission->turn =
        slice_work_create(schedd->slices, peer->identity, submission_slice, submission);
    LIST_INSERT_HEAD(&schedd->under_way.submissions, submission, entry);
    wire_request_on_gone(request, submission_gone, submission);
    slice_work_want(submission->turn);
}

void submissions_fini(struct schedd *schedd)
{
    struct submission *submission = LIST_FIRST(&schedd->under_way.submissions), *next;
    for (; submission != NULL; submission = next) {
        next = LIST_NEXT(submission, entry);
        if (submission->committing) {
            continue; /* submission_dropped() comes */
        }
        if (submission->request != NULL) {
            wire_reply_error(submission->request, -ESHUTDOWN, "the schedd is stopping");
        }
        submission_destroy(submission);
    }
}

/* ---- what an earlier life of the schedd has not ended ---------------------------------------- */

#define TAKEN_BACK "the schedd stopped before the submission was complete; submit again"
/* Of a store that is an older copy, nobody knows what was acknowledged. */
#define TAKEN_BACK_OLDER                                                                   \
    "the store came back as an older copy, which has only a part of the submission; jobs " \
    "that are missing may have been submitted; submit again what is missing"

static void take_back(struct change *change, struct cluster *cluster)
{
    struct schedd *schedd = change_schedd(change);
    int64_t from = ad_int_or(cluster->ad, SUBMIT_FROM, 0), taken = 0, id = cluster->id;
    const char *why = id < store_id_floor(schedd->store) ? TAKEN_BACK_OLDER : TAKEN_BACK;
    ad_remove(cluster->ad, SUBMIT_FROM);
    change_cluster(change, cluster);
    cluster->submitting = true; /* stays till the end of this */
    for (int64_t proc = from; proc < (int64_t)cluster->proc_count; proc++) {
        if (proc >= 0 && cluster->procs[proc] != NULL) {
            moves_remove(change, cluster->procs[proc], why, true);
            taken++;
        }
    }
    cluster->submitting = false;
    queue_drop_if_empty(change, cluster);
    log_warn(schedd->log, "queue.taken_back", why, LOG_INT("cluster", id), LOG_INT("first", from),
             LOG_INT("jobs", taken));
}

void submit_take_back(struct schedd *schedd)
{
    struct vec clusters = {0};
    size_t at = 0;
    void *value = NULL;
    while (strmap_next(schedd->queue.clusters, &at, NULL, &value)) {
        if (ad_has(((const struct cluster *)value)->ad, SUBMIT_FROM)) {
            vec_push(&clusters, value);
        }
    }
    struct change *change = change_begin(schedd);
    for (size_t i = 0; i < clusters.count; i++) {
        take_back(change, clusters.items[i]);
    }
    change_commit(change, NULL, NULL, NULL);
    vec_fini(&clusters, NULL);
}
