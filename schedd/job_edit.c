/* schedd/job_edit.c - see job_edit.h.
 *
 * All jobs are looked at with their new attributes before the first is changed: either all of those
 * that the caller may change are, or none.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_edit.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/edit_plan.h"
#include "schedd/job_autocluster.h"
#include "schedd/job_charge.h"
#include "schedd/job_claims.h"
#include "schedd/job_events.h"
#include "schedd/job_queue.h"
#include "schedd/job_select.h"
#include "schedd/schedd_state.h"
#include "schedd/submit_plan.h"
#include "wire/wire.h"

struct edit {
    struct schedd *schedd;
    struct wire_request *request;
    struct job_caller caller;
    const struct ad *changes; /* the request's */
    struct vec jobs;          /* struct job, those to be changed */
    int64_t missing, denied;
};

struct answer {
    struct schedd *schedd;
    struct wire_request *request;
    int64_t changed, missing, denied;
};

static int check_job(const struct edit *edit, const struct job *job, struct err *err)
{
    struct ad *own = job->own != NULL ? ad_copy(job->own) : ad_create();
    ad_merge(own, edit->changes);
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

/* Those of the jobs that the caller may change, with what they will be. */
static int check_jobs(struct edit *edit, const struct vec *found, struct err *err)
{
    int result = 0;
    for (size_t i = 0; result == 0 && i < found->count; i++) {
        if (!caller_may(&edit->caller, found->items[i])) {
            edit->denied++;
            continue;
        }
        vec_push(&edit->jobs, found->items[i]);
        result = check_job(edit, found->items[i], err);
    }
    return result;
}

static void committed(void *arg)
{
    struct answer *answer = arg;
    struct ad *args = ad_create();
    ad_set_int(args, "Success", answer->changed);
    ad_set_int(args, "NotFound", answer->missing);
    ad_set_int(args, "PermissionDenied", answer->denied);
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

static void tell(struct change *change, struct job *job, const struct ad *changes)
{
    size_t at = 0;
    const char *name = NULL;
    const struct ad_expr *value = NULL;
    while (ad_next(changes, &at, &name, &value)) {
        events_attribute(change, job, name, value);
    }
}

static void apply(struct edit *edit)
{
    struct schedd *schedd = edit->schedd;
    struct change *change = change_begin(schedd);
    for (size_t i = 0; i < edit->jobs.count; i++) {
        struct job *job = edit->jobs.items[i];
        tell(change, job, edit->changes);
        ad_merge(job_own(job), edit->changes);
        queue_look_at(schedd, job);
        autocluster_rejoin(schedd, job);
        change_job(change, job);
    }
    size_t at = 0;
    const char *name = NULL;
    while (edit->jobs.count > 0 && ad_next(edit->changes, &at, &name, NULL)) {
        log_info(schedd->log, "queue.edited", "an attribute of jobs was changed",
                 LOG_TEXT("by", edit->caller.owner), LOG_TEXT("attribute", name),
                 LOG_INT("jobs", edit->jobs.count));
    }
    struct answer *answer = mem_alloc(sizeof(*answer));
    *answer = (struct answer){schedd, edit->request, (int64_t)edit->jobs.count, edit->missing,
                              edit->denied};
    change_commit(change, committed, dropped, answer);
}

static void edit_destroy(struct edit *edit)
{
    vec_fini(&edit->jobs, NULL);
    mem_free(edit);
}

/* The jobs are known, or result says why not. */
static void finish_edit(struct edit *edit, const struct vec *found, int result, struct err *err)
{
    charge_begin(edit->schedd);
    if (result == 0) {
        result = check_jobs(edit, found, err);
    }
    if (result == 0) {
        caller_log_denied(edit->schedd, edit->request, edit->denied);
        apply(edit);
    } else {
        caller_refuse(edit->schedd, edit->request, result, err);
    }
    edit_destroy(edit);
}

static void edit_selected(void *arg, struct selected *selected)
{
    if (selected->result == -ECANCELED) {
        edit_destroy(arg);
        return;
    }
    finish_edit(arg, &selected->jobs, selected->result, &selected->err);
}

static int begin_edit(struct edit *edit, struct err *err)
{
    const struct schedd_settings *settings = &edit->schedd->settings;
    struct wire_request *request = edit->request;
    int result = caller_find(edit->schedd, wire_request_peer(request), &edit->caller, err);
    if (result == 0 && wire_request_ad_count(request) != 1) {
        result = err_set(err, -EINVAL, "EDIT takes one ad: what is to be set");
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
    struct vec found = {0};
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
        result = select_by_ids(schedd, args, "Ids", &found, &edit->missing, &err);
    }
    finish_edit(edit, &found, result, &err);
    vec_fini(&found, NULL);
}
