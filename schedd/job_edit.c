/* schedd/job_edit.c - see job_edit.h.
 *
 * All jobs are checked with their new attributes before the first one is changed: either all jobs
 * that the caller may change are changed, or none.  Both steps are done in slices (base/slices.h),
 * and each slice of changes is a transaction of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_edit.h"

#include <errno.h>
#include <sys/queue.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/slices.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"
#include "schedd/edit_plan.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_add.h"
#include "schedd/requests/job_autocluster.h"
#include "schedd/queue/job_change.h"
#include "schedd/policy/job_charge.h"
#include "schedd/claim/job_claims.h"
#include "schedd/job_events.h"
#include "schedd/questions/job_select.h"
#include "schedd/queue/queue_table.h"
#include "schedd/queue/slice_commits.h"
#include "schedd/schedd_state.h"
#include "schedd/submission/submit_plan.h"
#include "wire/wire.h"

#define JOB_STEPS 800 /* steps for a job in a slice, besides its expressions */
#define JOB_TIMES 2   /* about how often these are evaluated */

struct edit {
    LIST_ENTRY(edit) entry; /* in schedd->under_way.edits */
    struct schedd *schedd;
    struct wire_request *request;
    struct slice_work *turn;
    struct slice_commits *commits;
    struct job_caller caller;
    const struct ad *changes; /* new attributes, borrowed from the request */
    /* jobs to change; denied jobs, and those that have left, are taken out */
    struct selected found;
    size_t at;              /* index of the next job in found */
    size_t kept;            /* number of jobs that were checked and are to be changed */
    bool applies;           /* true: all were checked, now they are changed */
    bool committing;        /* the last slice is being committed */
    int64_t charge_lookups; /* number of account look-ups so far (job_charge.c) */
    int64_t changed, missing, denied;
};

static int check_job(const struct edit *edit, const struct job *job, uint64_t *steps,
                     struct err *err)
{
    struct ad *own = job->own != NULL ? ad_copy(job->own) : ad_create();
    ad_merge(own, edit->changes);
    *steps += JOB_STEPS + JOB_TIMES * submit_plan_steps(job->cluster->ad, own);
    int result = submit_plan_check_size(own, JOB_AD_MAX, err);
    if (result == 0) {
        ad_chain(own, job->cluster->ad);
        result = submit_plan_check_job(own, err);
    }
    ad_destroy(own);
    if (result == 0 && !edit->caller.is_super) {
        result = charge_check(edit->schedd, job->cluster->owner, edit->changes, err);
    }
    if (result != 0) {
        char id[JOB_ID_SIZE];
        job_id(job, id);
        result = err_prefix(err, result, "job %s", id);
    }
    return result;
}

/* Checks the next job with its new attributes.  Returns 0 also when the job has left the queue. */
static int judge_next(struct edit *edit, uint64_t *steps, struct err *err)
{
    const struct job_name *name = &edit->found.names[edit->at++];
    const struct job *job = queue_job(edit->schedd, name->cluster, name->proc);
    *steps += AD_LOOK_STEPS;
    if (job == NULL) {
        return 0;
    }
    if (!caller_may(&edit->caller, job)) {
        edit->denied++;
        return 0;
    }
    edit->found.names[edit->kept++] = *name;
    return check_job(edit, job, steps, err);
}

static void edit_destroy(struct edit *edit)
{
    if (edit->turn != NULL) {
        LIST_REMOVE(edit, entry);
    }
    slice_commits_end(edit->commits);
    slice_work_destroy(edit->turn);
    selected_fini(&edit->found);
    mem_free(edit);
}

static void edit_committed(void *arg)
{
    struct edit *edit = arg;
    struct schedd *schedd = edit->schedd;
    struct ad *args = ad_create();
    ad_set_int(args, "Success", edit->changed);
    ad_set_int(args, "NotFound", edit->missing);
    ad_set_int(args, "PermissionDenied", edit->denied);
    const struct wire_body body = {.args = args};
    wire_reply_ok(edit->request, &body);
    ad_destroy(args);
    edit_destroy(edit);
    claims_flush(schedd);
}

static void edit_dropped(void *arg)
{
    struct edit *edit = arg;
    wire_reply_error(edit->request, -ESHUTDOWN, "the schedd is stopping");
    edit_destroy(edit);
}

static void refuse_edit(struct edit *edit, int result, const struct err *err)
{
    caller_refuse(edit->schedd, edit->request, result, err);
    edit_destroy(edit);
}

static void tell_changes(struct change *change, struct job *job, const struct ad *changes)
{
    size_t at = 0;
    const char *name = NULL;
    const struct ad_expr *value = NULL;
    while (ad_next(changes, &at, &name, &value)) {
        events_attribute(change, job, name, value);
    }
}

static void change_next(struct edit *edit, struct change *change, uint64_t *steps)
{
    struct schedd *schedd = edit->schedd;
    const struct job_name *name = &edit->found.names[edit->at++];
    struct job *job = queue_job(schedd, name->cluster, name->proc);
    *steps += AD_LOOK_STEPS;
    if (job == NULL) {
        return; /* it left meanwhile */
    }
    tell_changes(change, job, edit->changes);
    ad_merge(job_own(job), edit->changes);
    job_look_at(schedd, job);
    autocluster_rejoin(schedd, job);
    change_job(change, job);
    *steps += JOB_STEPS + ad_count(edit->changes) * AD_LOOK_STEPS +
              JOB_TIMES * submit_plan_steps(job->cluster->ad, job->own);
    edit->changed++;
}

static void log_edit(const struct edit *edit)
{
    size_t at = 0;
    const char *name = NULL;
    while (edit->changed > 0 && ad_next(edit->changes, &at, &name, NULL)) {
        log_info(edit->schedd->log, "queue.edited", "an attribute of jobs was changed",
                 LOG_TEXT("by", edit->caller.owner), LOG_TEXT("attribute", name),
                 LOG_INT("jobs", edit->changed));
    }
}

static void apply_slice(struct edit *edit)
{
    struct change *change = change_begin(edit->schedd);
    uint64_t steps = 0;
    while (edit->at < edit->kept && steps < AD_SLICE_STEPS) {
        change_next(edit, change, &steps);
    }
    if (edit->at < edit->kept) {
        slice_commits_add(edit->commits, change);
        return;
    }
    log_edit(edit);
    edit->committing = true;
    change_commit(change, edit_committed, edit_dropped, edit);
}

static void judge_slice(struct edit *edit)
{
    struct schedd *schedd = edit->schedd;
    struct err err = {{0}};
    uint64_t steps = 0;
    int result = 0;
    schedd->charge_lookups = edit->charge_lookups;
    while (result == 0 && edit->at < edit->found.count && steps < AD_SLICE_STEPS) {
        int64_t before = schedd->charge_lookups;
        result = judge_next(edit, &steps, &err);
        steps += (uint64_t)(schedd->charge_lookups - before) * CHARGE_LOOKUP_STEPS;
    }
    edit->charge_lookups = schedd->charge_lookups;
    if (result != 0) {
        refuse_edit(edit, result, &err);
        return;
    }
    if (edit->at == edit->found.count) { /* nothing can fail any more */
        caller_log_denied(schedd, edit->request, edit->denied);
        wire_request_on_gone(edit->request, NULL, NULL);
        edit->applies = true;
        edit->at = 0;
    }
    slice_work_want(edit->turn);
}

static void edit_slice(void *arg)
{
    struct edit *edit = arg;
    if (edit->applies) {
        apply_slice(edit);
    } else {
        judge_slice(edit);
    }
}

static void edit_gone(void *arg)
{
    edit_destroy(arg);
}

/* To be called when the jobs are known, or, with a negative result and err, cannot be found. */
static void start_edit(struct edit *edit, int result, const struct err *err)
{
    struct schedd *schedd = edit->schedd;
    if (result != 0) {
        refuse_edit(edit, result, err);
        return;
    }
    edit->turn = slice_work_create(schedd->slices, wire_request_peer(edit->request)->identity,
                                   edit_slice, edit);
    edit->commits = slice_commits_create(schedd, edit->request, edit->turn);
    LIST_INSERT_HEAD(&schedd->under_way.edits, edit, entry);
    wire_request_on_gone(edit->request, edit_gone, edit);
    slice_work_want(edit->turn);
}

static void edit_selected(void *arg, struct selected *selected)
{
    struct edit *edit = arg;
    if (selected->result == -ECANCELED) {
        edit_destroy(edit);
        return;
    }
    edit->found = *selected;
    selected->names = NULL;
    /* jobs that are not made yet have no ad of their own */
    size_t kept = 0;
    for (size_t i = 0; i < edit->found.count; i++) {
        if (edit->found.names[i].proc >= 0) {
            edit->found.names[kept++] = edit->found.names[i];
        }
    }
    edit->found.count = kept;
    start_edit(edit, selected->result, &selected->err);
}

static int begin_edit(struct edit *edit, struct err *err)
{
    const struct schedd_settings *settings = &edit->schedd->settings;
    struct wire_request *request = edit->request;
    int result = caller_find(edit->schedd, wire_request_peer(request), &edit->caller, err);
    if (result == 0 && wire_request_ad_count(request) != 1) {
        result = err_set(err, -EINVAL, "EDIT needs one ad with the attributes to set");
    }
    if (result != 0) {
        return result;
    }
    const struct edit_rules rules = {
        .immutable = {settings->immutable, settings->system_immutable},
        .protected = {settings->protected, settings->system_protected},
        .is_super = edit->caller.is_super,
    };
    edit->changes = wire_request_ad(request, 0);
    return edit_plan_check(edit->changes, &rules, err);
}

void edit_handle(struct schedd *schedd, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct err err = {{0}};
    struct edit *edit = mem_zalloc(sizeof(*edit));
    edit->schedd = schedd;
    edit->request = request;
    int result = begin_edit(edit, &err);
    if (result == 0 && !ad_has(args, "Ids")) {
        result = select_by_constraint(schedd, request, ad_string_or(args, "Constraint", ""),
                                      edit_selected, edit, &err);
        if (result == 0) {
            return;
        }
    } else if (result == 0) {
        result = select_by_ids(schedd, edit->request, "Ids", &edit->found, &edit->missing, &err);
    }
    start_edit(edit, result, &err);
}

void edits_fini(struct schedd *schedd)
{
    struct edit *edit = LIST_FIRST(&schedd->under_way.edits), *next;
    for (; edit != NULL; edit = next) {
        next = LIST_NEXT(edit, entry);
        if (!edit->committing) { /* else edit_dropped() comes */
            edit_dropped(edit);
        }
    }
}
