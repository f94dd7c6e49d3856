/* schedd/questions/job_select.c - see job_select.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/questions/job_select.h"

#include <errno.h>
#include <string.h>
#include <sys/queue.h>

#include "base/err.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/slices.h"
#include "base/strmap.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/questions/job_filter.h"
#include "schedd/job_owner.h"
#include "schedd/queue/queue_table.h"
#include "schedd/requests/request_work.h"
#include "schedd/schedd_state.h"
#include "wire/wire.h"

#define IDS_MAX 100000

/* ---- who ------------------------------------------------------------------------------------- */

/* Returns whether the peer is in QUEUE_SUPER_USERS.  Only full identities count; the settings
 * refuse others. */
static bool is_listed(const struct schedd *schedd, const struct wire_peer *peer)
{
    const char *const *listed = schedd->settings.super_users;
    for (size_t i = 0; listed != NULL && listed[i] != NULL; i++) {
        if (strchr(listed[i], '@') != NULL && strcmp(listed[i], peer->identity) == 0) {
            return true;
        }
    }
    return false;
}

int caller_check_super_users(const char *const *listed, const char *uid_domain, struct err *err)
{
    for (size_t i = 0; listed != NULL && listed[i] != NULL; i++) {
        const char *at = strchr(listed[i], '@');
        if (at == NULL) {
            return err_set(err, -EINVAL,
                           "QUEUE_SUPER_USERS: '%.100s' is not a full identity; write '%.100s@%s', "
                           "or leave the entry out: root over the Unix socket and tokens with "
                           "ADMINISTRATOR need no entry",
                           listed[i], listed[i], uid_domain);
        }
        if (at == listed[i] || at[1] == '\0') {
            return err_set(err, -EINVAL,
                           "QUEUE_SUPER_USERS: '%.100s' is not a full identity, NAME@DOMAIN",
                           listed[i]);
        }
    }
    return 0;
}

int caller_find(struct schedd *schedd, const struct wire_peer *peer, struct job_caller *ret,
                struct err *err)
{
    struct job_caller caller = {.owner = ""};
    caller.is_super = (peer->scopes & SCOPE_ADMINISTRATOR) != 0 || is_listed(schedd, peer);
    int result = owner_of_caller(schedd, peer, caller.owner, sizeof(caller.owner), err);
    if (result != 0 && !caller.is_super) {
        return result;
    }
    if (result != 0) {
        caller.owner[0] = '\0';
    }
    *ret = caller;
    return 0;
}

bool caller_may(const struct job_caller *caller, const struct job *job)
{
    return caller->is_super || strcmp(job->cluster->owner->name, caller->owner) == 0;
}

void caller_refuse(struct schedd *schedd, struct wire_request *request, int result,
                   const struct err *err)
{
    const struct wire_peer *peer = wire_request_peer(request);
    log_info(schedd->log, "queue.refused", err->text, LOG_TEXT("identity", peer->identity),
             LOG_TEXT("verb", wire_verb_name(wire_request_verb(request))),
             LOG_TEXT("peer", peer->address));
    wire_request_logged(request);
    wire_reply_error(request, result, "%s", err->text);
}

void caller_log_denied(struct schedd *schedd, struct wire_request *request, int64_t jobs)
{
    const struct wire_peer *peer = wire_request_peer(request);
    if (jobs > 0) {
        log_info(schedd->log, "queue.denied", "skipped jobs of other users, or of root",
                 LOG_INT("jobs", jobs), LOG_TEXT("identity", peer->identity),
                 LOG_TEXT("verb", wire_verb_name(wire_request_verb(request))),
                 LOG_TEXT("peer", peer->address));
    }
}

/* ---- which ----------------------------------------------------------------------------------- */

struct selection {
    LIST_ENTRY(selection) entry; /* in schedd->under_way.selections */
    struct schedd *schedd;
    struct wire_request *request;
    struct ad_expr *constraint;
    struct job_filter *filter;
    struct request_work work;
    int64_t *clusters; /* ids of the clusters at the first slice; NULL: no slice yet */
    size_t cluster_count, at;
    uint32_t proc; /* next ProcId of clusters[at] */
    struct selected found;
    selected_f done;
    void *arg;
};

static void add_name(struct selected *selected, int64_t cluster, int64_t proc)
{
    if (selected->count == selected->capacity) {
        selected->capacity = selected->capacity == 0 ? 64 : selected->capacity * 2;
        selected->names =
            mem_realloc(selected->names, selected->capacity * sizeof(*selected->names));
    }
    selected->names[selected->count++] = (struct job_name){cluster, proc};
}

void selected_fini(struct selected *selected)
{
    mem_free(selected->names);
    selected->names = NULL;
    selected->count = selected->capacity = 0;
}

static void selection_destroy(struct selection *selection)
{
    LIST_REMOVE(selection, entry);
    request_work_fini(&selection->work);
    job_filter_destroy(selection->filter);
    ad_expr_destroy(selection->constraint);
    mem_free(selection->clusters);
    selected_fini(&selection->found);
    mem_free(selection);
}

static void end_selection(struct selection *selection, struct selected *selected)
{
    selected_f done = selection->done;
    void *arg = selection->arg;
    wire_request_on_gone(selection->request, NULL, NULL);
    selection_destroy(selection);
    done(arg, selected);
    selected_fini(selected);
}

static void selection_gone(void *arg)
{
    struct selection *selection = arg;
    struct selected selected = {.result = -ECANCELED};
    selected_f done = selection->done;
    void *done_arg = selection->arg;
    selection_destroy(selection);
    done(done_arg, &selected);
}

/* Counts the list of selected jobs as bytes of the request, because a constraint of a few bytes may
 * select a hundred thousand jobs. */
static int charge_names(struct wire_request *request, const struct selected *selected,
                        struct err *err)
{
    return wire_request_charge(request, selected->capacity * sizeof(*selected->names), err);
}

/* All jobs were evaluated: calls done with the result. */
static void tell_found(struct selection *selection)
{
    struct selected selected = selection->found;
    selection->found = (struct selected){0};
    (void)request_work_end(&selection->work); /* logged */
    selected.result = charge_names(selection->request, &selected, &selected.err);
    if (selected.result != 0) {
        selected_fini(&selected);
    }
    end_selection(selection, &selected);
}

static void judge_factory(struct selection *selection, const struct cluster *cluster)
{
    selection->work.work.steps += WORK_LOOK_STEPS;
    if (cluster->factory != NULL && ad_eval_bool(selection->constraint, cluster->ad, NULL,
                                                 &selection->work.context) == AD_TRUE) {
        add_name(&selection->found, cluster->id, -1);
    }
}

static void list_clusters(struct selection *selection)
{
    const struct schedd *schedd = selection->schedd;
    size_t at = 0;
    void *value = NULL;
    selection->clusters =
        mem_alloc((strmap_count(schedd->queue.clusters) + 1) * sizeof(*selection->clusters));
    while (strmap_next(schedd->queue.clusters, &at, NULL, &value)) {
        selection->clusters[selection->cluster_count++] = ((const struct cluster *)value)->id;
    }
}

static void select_slice(void *arg)
{
    struct selection *selection = arg;
    struct selected selected = {.result = 0};
    if (!slice_work_enter(selection->work.turn, CALLER_WORKS_MAX)) {
        return;
    }
    if (selection->clusters == NULL) {
        list_clusters(selection);
    }
    request_work_begin(&selection->work);
    while (selection->at < selection->cluster_count && request_work_goes_on(&selection->work)) {
        const struct cluster *cluster =
            queue_cluster(selection->schedd, selection->clusters[selection->at]);
        if (cluster == NULL || selection->proc >= cluster->proc_count) {
            if (cluster != NULL) {
                judge_factory(selection, cluster);
            }
            selection->at++;
            selection->proc = 0;
            continue;
        }
        const struct job *job = cluster->procs[selection->proc++];
        selection->work.work.steps += WORK_LOOK_STEPS;
        if (job != NULL && job_filter_wants(selection->filter, job)) {
            add_name(&selection->found, cluster->id, job->proc);
        }
    }
    if (selection->at == selection->cluster_count) {
        tell_found(selection);
        return;
    }
    selected.result = request_work_check(&selection->work, &selected.err);
    if (selected.result != 0) {
        end_selection(selection, &selected);
    } else {
        slice_work_want(selection->work.turn);
    }
}

int select_by_constraint(struct schedd *schedd, struct wire_request *request, const char *text,
                         selected_f done, void *arg, struct err *err)
{
    struct ad_expr *constraint = NULL;
    int result = request_constraint(text, &constraint, err);
    if (result != 0) {
        return result;
    }
    struct selection *selection = mem_zalloc(sizeof(*selection));
    selection->schedd = schedd;
    selection->request = request;
    selection->constraint = constraint;
    selection->done = done;
    selection->arg = arg;
    request_work_init(&selection->work, schedd, request, text, select_slice, selection);
    selection->filter = job_filter_create(schedd, constraint, &selection->work.context);
    LIST_INSERT_HEAD(&schedd->under_way.selections, selection, entry);
    wire_request_on_gone(request, selection_gone, selection);
    slice_work_want(selection->work.turn);
    return 0;
}

void selections_fini(struct schedd *schedd)
{
    while (!LIST_EMPTY(&schedd->under_way.selections)) {
        struct selected selected = {.result = 0};
        selected.result = err_set(&selected.err, -ESHUTDOWN, "the schedd is stopping");
        end_selection(LIST_FIRST(&schedd->under_way.selections), &selected);
    }
}

/* Adds the jobs of one id.  seen: ids of whole clusters that were named before. */
static int select_by_id(struct schedd *schedd, const char *id, struct selected *ret,
                        struct strmap *seen, int64_t *missing, struct err *err)
{
    int64_t cluster_id = 0, proc = -1;
    if (!job_id_parse(id, &cluster_id, &proc)) {
        return err_set(err, -EINVAL, "'%.50s' is not a job id", id);
    }
    struct cluster *cluster = queue_cluster(schedd, cluster_id);
    size_t before = ret->count;
    if (proc >= 0) {
        if (queue_job(schedd, cluster_id, proc) != NULL) {
            add_name(ret, cluster_id, proc);
        }
    } else if (cluster != NULL) {
        if (strmap_set(seen, id, cluster) != NULL) {
            return 0;
        }
        for (uint32_t i = 0; i < cluster->proc_count; i++) {
            if (cluster->procs[i] != NULL) {
                add_name(ret, cluster_id, i);
            }
        }
    }
    *missing += ret->count == before ? 1 : 0;
    return 0;
}

int select_by_ids(struct schedd *schedd, struct wire_request *request, const char *name,
                  struct selected *ret, int64_t *missing, struct err *err)
{
    const struct ad *args = wire_request_args(request);
    struct ad_value list;
    struct strmap *seen = strmap_create(STRMAP_CASE_SENSITIVE);
    (void)ad_eval_attr(args, NULL, name, NULL, &list); /* absent: undefined, no elements */
    size_t count = ad_value_count(&list);
    int result =
        count > IDS_MAX ? err_set(err, -E2BIG, "more than %d ids in one request", IDS_MAX) : 0;
    for (size_t i = 0; result == 0 && i < count; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        result = item.type == AD_TYPE_STRING
                     ? select_by_id(schedd, item.string.text, ret, seen, missing, err)
                     : err_set(err, -EINVAL, "%s is not a list of strings", name);
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    strmap_destroy(seen, NULL);
    return result != 0 ? result : charge_names(request, ret, err);
}
