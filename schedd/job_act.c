/* schedd/job_act.c - see job_act.h.
 *
 * The new state is committed first, with a raised epoch where the job ran, so that no late result
 * can land; only then is the startd told to stop.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_act.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/job_claims.h"
#include "schedd/job_factory.h"
#include "schedd/job_moves.h"
#include "schedd/job_queue.h"
#include "schedd/job_select.h"
#include "schedd/job_spool.h"
#include "schedd/schedd_plan.h"
#include "schedd/schedd_state.h"
#include "wire/wire.h"

#define ACT_IDS_MAX 100000

struct act {
    struct schedd *schedd;
    struct wire_request *request;
    struct change *change;
    enum act_action action;
    struct job_caller caller;
    const char *reason; /* NULL: the default */
    int64_t totals[ACT_RESULTS];
    struct vec answers; /* struct ad, for what was asked for by id */
};

static const char *const WORDS[] = {"Remove",     "Hold",    "Release", "Vacate",
                                    "VacateFast", "Suspend", "Continue"};
static const char *const VIA[] = {"roost rm",     "roost hold",    "roost release", "roost vacate",
                                  "roost vacate", "roost suspend", "roost continue"};

/* ---- one job --------------------------------------------------------------------------------- */

static enum act_result act_on(struct act *act, struct job *job)
{
    bool allowed = caller_may(&act->caller, job);
    enum act_result result = schedd_plan_act(act->action, (int)job_status(job), allowed);
    if (result == ACT_SUCCESS && act->action == ACT_RELEASE && spool_is_waiting(job)) {
        result = ACT_BAD_STATUS; /* its input is not there */
    }
    if (result == ACT_SUCCESS && act->action == ACT_RELEASE && job->cluster->owner->is_root) {
        result = ACT_PERMISSION_DENIED;
    }
    act->totals[result]++;
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

/* The jobs of a cluster that are not made yet: removed, they never are; held, not now. */
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

/* For a whole cluster: success if any job's was, else what the last one's was. */
static enum act_result act_on_cluster(struct act *act, struct cluster *cluster)
{
    enum act_result outcome = act_on_factory(act, cluster);
    struct vec jobs = {0};
    for (uint32_t i = 0; i < cluster->proc_count; i++) {
        if (cluster->procs[i] != NULL) {
            vec_push(&jobs, cluster->procs[i]);
        }
    }
    for (size_t i = 0; i < jobs.count; i++) { /* the last one's removal frees the cluster */
        enum act_result result = act_on(act, jobs.items[i]);
        if (outcome != ACT_SUCCESS) {
            outcome = result;
        }
    }
    if (jobs.count == 0) {
        queue_drop_if_empty(act->change, cluster);
    }
    vec_fini(&jobs, NULL);
    return outcome;
}

static void act_on_id(struct act *act, const char *id)
{
    int64_t cluster_id = 0;
    int64_t proc = -1;
    enum act_result result = ACT_NOT_FOUND;
    int status = 0;
    if (!job_id_parse(id, &cluster_id, &proc)) {
        result = ACT_ERROR;
    } else if (proc >= 0) {
        struct job *job = queue_job(act->schedd, cluster_id, proc);
        if (job != NULL) {
            status = (int)job_status(job);
            result = act_on(act, job);
        }
    } else {
        struct cluster *cluster = queue_cluster(act->schedd, cluster_id);
        if (cluster != NULL) {
            result = act_on_cluster(act, cluster);
        }
    }
    if (result == ACT_NOT_FOUND || result == ACT_ERROR) {
        act->totals[result]++;
    }
    add_answer(act, id, result, status);
}

static int act_on_ids(struct act *act, const struct ad *args, struct err *err)
{
    struct ad_value list;
    int result = ad_eval_attr(args, NULL, "Ids", NULL, &list);
    size_t count = result == 0 ? ad_value_count(&list) : 0;
    if (count > ACT_IDS_MAX) {
        result = err_set(err, -E2BIG, "more than %d ids", ACT_IDS_MAX);
    }
    for (size_t i = 0; result == 0 && i < count; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        if (item.type == AD_TYPE_STRING) {
            act_on_id(act, item.string.text);
        } else {
            act->totals[ACT_ERROR]++;
        }
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    return result;
}

/* ---- the request ----------------------------------------------------------------------------- */

struct answer {
    struct schedd *schedd;
    struct wire_request *request;
    struct ad *args;
    struct vec ads;
};

static void destroy_ad(void *ad)
{
    ad_destroy(ad);
}

static void answer_destroy(struct answer *answer)
{
    ad_destroy(answer->args);
    vec_fini(&answer->ads, destroy_ad);
    mem_free(answer);
}

static void committed(void *arg)
{
    struct answer *answer = arg;
    const struct wire_body body = {
        .args = answer->args,
        .ads = (const struct ad *const *)answer->ads.items,
        .ad_count = answer->ads.count,
    };
    wire_reply_ok(answer->request, &body);
    claims_flush(answer->schedd);
    answer_destroy(answer);
}

static void dropped(void *arg)
{
    struct answer *answer = arg;
    wire_reply_error(answer->request, -ESHUTDOWN, "the schedd ends");
    answer_destroy(answer);
}

static int begin(struct act *act, struct err *err)
{
    const struct wire_peer *peer = wire_request_peer(act->request);
    const struct ad *args = wire_request_args(act->request);
    const char *word = ad_string_or(args, "Action", "");
    size_t action = 0;
    while (action < sizeof(WORDS) / sizeof(WORDS[0]) && strcmp(WORDS[action], word) != 0) {
        action++;
    }
    if (action == sizeof(WORDS) / sizeof(WORDS[0])) {
        return err_set(err, -EINVAL, "Action '%.50s' is not one that can be done to jobs", word);
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

/* Commits what was done, and answers then. */
static void commit_act(struct act *act)
{
    struct answer *answer = mem_zalloc(sizeof(*answer));
    caller_log_denied(act->schedd, act->request, act->totals[ACT_PERMISSION_DENIED]);
    answer->schedd = act->schedd;
    answer->request = act->request;
    answer->args = ad_create();
    answer->ads = act->answers;
    for (int i = 0; i < ACT_RESULTS; i++) {
        ad_set_int(answer->args, schedd_plan_act_name((enum act_result)i), act->totals[i]);
    }
    change_commit(act->change, committed, dropped, answer);
    mem_free(act);
}

static void refuse_act(struct act *act, int result, const struct err *err)
{
    caller_refuse(act->schedd, act->request, result, err);
    mem_free(act);
}

/* All that the constraint means, at one moment. */
static void act_on_selected(void *arg, struct selected *selected)
{
    struct act *act = arg;
    if (selected->result == -ECANCELED) {
        mem_free(act);
        return;
    }
    if (selected->result != 0) {
        refuse_act(act, selected->result, &selected->err);
        return;
    }
    act->change = change_begin(act->schedd);
    for (size_t i = 0; i < selected->jobs.count; i++) {
        (void)act_on(act, selected->jobs.items[i]); /* counted there */
    }
    for (size_t i = 0; i < selected->factories.count; i++) {
        enum act_result result = act_on_factory(act, selected->factories.items[i]);
        act->totals[result] += result != ACT_NOT_FOUND ? 1 : 0; /* there was nothing to do */
        queue_drop_if_empty(act->change, selected->factories.items[i]);
    }
    commit_act(act);
}

void act_handle(struct schedd *schedd, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct act *act = mem_zalloc(sizeof(*act));
    struct err err = {{0}};
    act->schedd = schedd;
    act->request = request;
    int result = begin(act, &err);
    if (result == 0 && !ad_has(args, "Ids")) {
        result = select_by_constraint(schedd, request, ad_string_or(args, "Constraint", ""),
                                      act_on_selected, act, &err);
        if (result == 0) {
            return;
        }
    }
    if (result != 0) {
        refuse_act(act, result, &err);
        return;
    }
    act->change = change_begin(schedd);
    result = act_on_ids(act, args, &err);
    if (result == 0) {
        commit_act(act);
    } else { /* refused before anything was changed */
        change_commit(act->change, NULL, NULL, NULL);
        vec_fini(&act->answers, destroy_ad);
        refuse_act(act, result, &err);
    }
}
