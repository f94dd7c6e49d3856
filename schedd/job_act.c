/* schedd/job_act.c - see job_act.h.
 *
 * The new state is committed first, with a raised epoch if the job ran, so that a late result is
 * not accepted.  Only then is the startd told to stop.
 *
 * A command for many jobs is carried out in slices (base/slices.h).  Each slice is a transaction of
 * its own, and the answer comes after the last one.  If the client leaves before, the jobs of
 * further slices are left as they are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_act.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/plant.h"
#include "base/slices.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "classad/ad_limits.h"
#include "schedd/claim/claim_calls.h"
#include "schedd/queue/job_ad.h"
#include "schedd/queue/job_change.h"
#include "schedd/claim/job_claims.h"
#include "schedd/submission/job_factory.h"
#include "schedd/job_moves.h"
#include "schedd/questions/job_select.h"
#include "schedd/submission/job_spool.h"
#include "schedd/queue/queue_finish.h"
#include "schedd/queue/queue_table.h"
#include "schedd/queue/slice_commits.h"
#include "schedd/schedd_plan.h"
#include "schedd/schedd_state.h"
#include "wire/wire.h"

#define ACT_IDS_MAX 100000

#define JOB_STEPS 600 /* what acting on a job counts in a slice; AD_LOOK_STEPS for another one */

struct act {
    LIST_ENTRY(act) entry; /* in schedd->under_way.acts */
    struct schedd *schedd;
    struct wire_request *request;
    struct slice_work *turn;
    struct slice_commits *commits;
    struct change *change; /* of this slice */
    uint64_t steps;        /* of this slice */
    bool committing;       /* the last slice */
    enum act_action action;
    struct job_caller caller;
    const char *reason; /* NULL: the default */
    int64_t totals[ACT_RESULTS];
    struct vec answers; /* struct ad, for what was asked for by id */
    /* which jobs: those of a constraint */
    struct job_name *found;
    size_t found_count;
    /* or what Ids names */
    struct ad_value ids;
    size_t id_count;
    size_t at; /* the next of either */
    /* the cluster that is named as a whole and is being walked over; 0: none */
    int64_t cluster;
    uint32_t proc, proc_end;
    enum act_result outcome;
};

static const char *const WORDS[] = {"Remove",     "Hold",    "Release", "Vacate",
                                    "VacateFast", "Suspend", "Continue"};
static const char *const VIA[] = {"roost rm",     "roost hold",    "roost release", "roost vacate",
                                  "roost vacate", "roost suspend", "roost continue"};

/* ---- one job --------------------------------------------------------------------------------- */

static enum act_result act_on(struct act *act, struct job *job)
{
    bool allowed = caller_may(&act->caller, job);
    enum act_result result =
        schedd_plan_act(act->action, (int)job_status(job), allowed,
                        job->claim != NULL && job->claim->switching != SWITCH_NONE);
    if (result == ACT_SUCCESS && act->action == ACT_RELEASE && spool_is_waiting(job)) {
        result = ACT_BAD_STATUS; /* its input is not there */
    }
    if (result == ACT_SUCCESS && act->action == ACT_RELEASE && job->cluster->owner->is_root) {
        result = ACT_PERMISSION_DENIED;
    }
    act->totals[result]++;
    act->steps += result != ACT_SUCCESS ? AD_LOOK_STEPS : JOB_STEPS;
    if (result != ACT_SUCCESS) {
        return result;
    }
    char why[512];
    if (act->reason != NULL) {
        (void)snprintf(why, sizeof(why), "%s", act->reason); /* cut if long */
    } else {
        (void)snprintf(why, sizeof(why), "via %s (by user %s)", VIA[act->action],
                       act->caller.owner[0] != '\0' ? act->caller.owner
                                                    : "administrator"); /* fits */
    }
    char id[JOB_ID_SIZE];
    job_id(job, id);
    log_info(act->schedd->log, "job.act", why, LOG_TEXT("job", id),
             LOG_TEXT("action", WORDS[act->action]));
    const struct ad *args = wire_request_args(act->request);
    switch (act->action) {
    case ACT_REMOVE:
        moves_remove(act->change, job, why, false);
        break;
    case ACT_HOLD:
        moves_hold(act->change, job, why, (int)ad_int_or(args, "ReasonCode", HOLD_USER_REQUEST),
                   (int)ad_int_or(args, "ReasonSubCode", 0), true);
        break;
    case ACT_RELEASE:
        moves_release(act->change, job, why);
        break;
    case ACT_SUSPEND:
    case ACT_CONTINUE:
        claim_call_suspend(job->claim, act->action == ACT_SUSPEND);
        break;
    case ACT_VACATE:
    case ACT_VACATE_FAST:
    default:
        moves_vacate(act->change, job, why, act->action == ACT_VACATE_FAST);
        break;
    }
    return result;
}

/* ---- which jobs ------------------------------------------------------------------------------ */

static void add_answer(struct act *act, const char *id, enum act_result result, int status)
{
    if (act->answers.count < WIRE_ADS_MAX) {
        struct ad *ad = ad_create();
        ad_set_string(ad, "Id", id);
        ad_set_string(ad, "Result", schedd_plan_act_name(result));
        if (status > 0) {
            ad_set_int(ad, "JobStatus", status);
        }
        vec_push(&act->answers, ad);
    }
}

/* Applies the action to the jobs that the cluster's factory has not made yet: remove them for ever,
 * or hold (pause) or release the factory. */
static enum act_result act_on_factory(struct act *act, struct cluster *cluster)
{
    bool allowed = act->caller.is_super || strcmp(cluster->owner->name, act->caller.owner) == 0;
    if (cluster->factory == NULL) {
        return ACT_NOT_FOUND;
    }
    if (!allowed || (act->action == ACT_RELEASE && cluster->owner->is_root)) {
        return ACT_PERMISSION_DENIED;
    }
    switch (act->action) {
    case ACT_REMOVE:
        factory_end(act->change, cluster);
        return ACT_SUCCESS;
    case ACT_HOLD:
        factory_pause(act->change, cluster, act->reason != NULL ? act->reason : VIA[ACT_HOLD]);
        return ACT_SUCCESS;
    case ACT_RELEASE:
        factory_resume(act->change, cluster);
        return ACT_SUCCESS;
    default:
        return ACT_NOT_FOUND; /* there is no slot to leave */
    }
}

/* Acts on the next job of a cluster that was named as a whole.  The cluster's result is success
 * if it was a success for any job, else the result of the last job.  Returns false after the
 * last job. */
static bool walk_on(struct act *act)
{
    struct cluster *cluster = queue_cluster(act->schedd, act->cluster);
    act->steps++;
    if (cluster == NULL || act->proc >= act->proc_end) {
        act->cluster = 0;
        if (cluster != NULL) {
            queue_drop_if_empty(act->change, cluster);
        }
        return false;
    }
    struct job *job = cluster->procs[act->proc++];
    if (job != NULL) {
        enum act_result result = act_on(act, job);
        act->outcome = act->outcome != ACT_SUCCESS ? result : act->outcome;
    }
    return true;
}

static void end_id(struct act *act, const char *id, enum act_result result, int status)
{
    if (result == ACT_NOT_FOUND || result == ACT_ERROR) {
        act->totals[result]++;
    }
    add_answer(act, id, result, status);
    act->at++;
}

static void act_on_id(struct act *act, const char *id)
{
    int64_t cluster_id = 0;
    int64_t proc = -1;
    act->steps += AD_LOOK_STEPS;
    if (act->cluster != 0) {
        if (!walk_on(act)) {
            end_id(act, id, act->outcome, 0);
        }
        return;
    }
    if (!job_id_parse(id, &cluster_id, &proc)) {
        end_id(act, id, ACT_ERROR, 0);
    } else if (proc >= 0) {
        struct job *job = queue_job(act->schedd, cluster_id, proc);
        int status = job != NULL ? (int)job_status(job) : 0;
        end_id(act, id, job != NULL ? act_on(act, job) : ACT_NOT_FOUND, status);
    } else {
        struct cluster *cluster = queue_cluster(act->schedd, cluster_id);
        if (cluster == NULL) {
            end_id(act, id, ACT_NOT_FOUND, 0);
        } else {
            act->outcome = act_on_factory(act, cluster);
            act->cluster = cluster->id;
            act->proc = 0;
            act->proc_end = cluster->proc_count;
        }
    }
}

/* Acts on one job of a named cluster, or on the next entry of Ids. */
static void act_on_named(struct act *act)
{
    struct ad_value item;
    ad_value_item(&act->ids, act->at, &item);
    if (item.type == AD_TYPE_STRING) {
        act_on_id(act, item.string.text);
    } else {
        act->totals[ACT_ERROR]++;
        act->at++;
    }
    ad_value_fini(&item);
}

static void act_on_found(struct act *act)
{
    const struct job_name *name = &act->found[act->at++];
    struct job *job = queue_job(act->schedd, name->cluster, name->proc);
    struct cluster *cluster = queue_cluster(act->schedd, name->cluster);
    act->steps += AD_LOOK_STEPS;
    if (job != NULL) {
        (void)act_on(act, job); /* counted there */
    } else if (name->proc < 0 && cluster != NULL) {
        enum act_result result = act_on_factory(act, cluster);
        act->totals[result] += result != ACT_NOT_FOUND ? 1 : 0; /* there was nothing to do */
        queue_drop_if_empty(act->change, cluster);
    }
}

/* ---- the request ----------------------------------------------------------------------------- */

/* Frees the list of ids, which borrows from the request. */
static void forget_ids(struct act *act)
{
    ad_value_fini(&act->ids);
    act->ids = (struct ad_value){0};
}

static void act_destroy(struct act *act)
{
    forget_ids(act);
    if (act->turn != NULL) {
        LIST_REMOVE(act, entry);
    }
    slice_commits_end(act->commits);
    slice_work_destroy(act->turn);
    mem_free(act->found);
    vec_fini(&act->answers, ad_destroy_item);
    mem_free(act);
}

static void act_committed(void *arg)
{
    struct act *act = arg;
    struct schedd *schedd = act->schedd;
    struct ad *args = ad_create();
    for (int i = 0; i < ACT_RESULTS; i++) {
        ad_set_int(args, schedd_plan_act_name((enum act_result)i), act->totals[i]);
    }
    const struct wire_body body = {
        .args = args,
        .ads = (const struct ad *const *)act->answers.items,
        .ad_count = act->answers.count,
    };
    forget_ids(act);
    wire_reply_ok(act->request, &body);
    ad_destroy(args);
    act_destroy(act);
    claims_flush(schedd);
}

static void act_dropped(void *arg)
{
    struct act *act = arg;
    forget_ids(act);
    wire_reply_error(act->request, -ESHUTDOWN, "the schedd is stopping");
    act_destroy(act);
}

static void act_gone(void *arg)
{
    act_destroy(arg);
}

static int read_action(struct act *act, struct err *err)
{
    const struct wire_peer *peer = wire_request_peer(act->request);
    const struct ad *args = wire_request_args(act->request);
    const char *word = ad_string_or(args, "Action", "");
    size_t action = 0;
    while (action < sizeof(WORDS) / sizeof(WORDS[0]) && strcmp(WORDS[action], word) != 0) {
        action++;
    }
    if (action == sizeof(WORDS) / sizeof(WORDS[0])) {
        return err_set(err, -EINVAL, "unknown Action '%.50s'", word);
    }
    act->action = (enum act_action)action;
    int result = caller_find(act->schedd, peer, &act->caller, err);
    if (result != 0) {
        return result;
    }
    const char *reason = ad_string_or(args, "Reason", "");
    act->reason = reason[0] != '\0' ? reason : NULL;
    return 0;
}

static void act_slice(void *arg)
{
    struct act *act = arg;
    size_t count = act->found != NULL ? act->found_count : act->id_count;
    if (PLANTED(removal_in_part) && act->action == ACT_REMOVE) {
        count = (count + 1) / 2;
    }
    act->change = change_begin(act->schedd);
    act->steps = 0;
    while (act->at < count && act->steps < AD_SLICE_STEPS) {
        if (act->found != NULL) {
            act_on_found(act);
        } else {
            act_on_named(act);
        }
    }
    if (act->at < count) {
        slice_commits_add(act->commits, act->change);
        return;
    }
    caller_log_denied(act->schedd, act->request, act->totals[ACT_PERMISSION_DENIED]);
    wire_request_on_gone(act->request, NULL, NULL);
    act->committing = true;
    change_commit(act->change, act_committed, act_dropped, act);
}

static void refuse_act(struct act *act, int result, const struct err *err)
{
    forget_ids(act);
    caller_refuse(act->schedd, act->request, result, err);
    act_destroy(act);
}

/* To be called when the jobs are known: starts with the first slice. */
static void start_act(struct act *act)
{
    struct schedd *schedd = act->schedd;
    act->turn = slice_work_create(schedd->slices, wire_request_peer(act->request)->identity,
                                  act_slice, act);
    act->commits = slice_commits_create(schedd, act->request, act->turn);
    LIST_INSERT_HEAD(&schedd->under_way.acts, act, entry);
    wire_request_on_gone(act->request, act_gone, act);
    slice_work_want(act->turn);
}

static void act_on_selected(void *arg, struct selected *selected)
{
    struct act *act = arg;
    if (selected->result == -ECANCELED) {
        act_destroy(act);
        return;
    }
    if (selected->result != 0) {
        refuse_act(act, selected->result, &selected->err);
        return;
    }
    act->found_count = selected->count;
    act->found = selected->names;
    selected->names = NULL;
    start_act(act);
}

void act_handle(struct schedd *schedd, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct act *act = mem_zalloc(sizeof(*act));
    struct err err = {{0}};
    act->schedd = schedd;
    act->request = request;
    int result = read_action(act, &err);
    if (result == 0 && !ad_has(args, "Ids")) {
        result = select_by_constraint(schedd, request, ad_string_or(args, "Constraint", ""),
                                      act_on_selected, act, &err);
        if (result == 0) {
            return;
        }
    } else if (result == 0) {
        (void)ad_eval_attr(args, NULL, "Ids", NULL, &act->ids); /* it is there */
        act->id_count = ad_value_count(&act->ids);
        result = act->id_count > ACT_IDS_MAX
                     ? err_set(&err, -E2BIG, "more than %d ids in one request", ACT_IDS_MAX)
                     : 0;
    }
    if (result != 0) {
        refuse_act(act, result, &err);
    } else {
        start_act(act);
    }
}

void acts_fini(struct schedd *schedd)
{
    struct act *act = LIST_FIRST(&schedd->under_way.acts), *next;
    for (; act != NULL; act = next) {
        next = LIST_NEXT(act, entry);
        if (!act->committing) { /* else act_dropped() comes */
            act_dropped(act);
        }
    }
}
