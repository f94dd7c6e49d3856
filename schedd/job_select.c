/* schedd/job_select.c - see job_select.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_select.h"

#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "base/loop.h"
#include "base/os.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/job_submit.h"
#include "schedd/job_filter.h"
#include "schedd/schedd_state.h"
#include "wire/wire.h"

#define IDS_MAX 100000

/* ---- who ------------------------------------------------------------------------------------- */

/* A name of the list is an account's, or with "@" a whole identity. */
static bool is_listed(struct schedd *schedd, const struct wire_peer *peer)
{
    char name[OWNER_NAME_MAX + 2] = "";
    if (peer->has_uid) {
        if (os_user_name(schedd->os, peer->uid, name, sizeof(name), NULL) != 0) {
            return false;
        }
    } else {
        size_t length = strcspn(peer->identity, "@");
        if (length == 0 || length >= sizeof(name)) {
            return false;
        }
        memcpy(name, peer->identity, length);
    }
    const char *const *listed = schedd->settings.super_users;
    for (size_t i = 0; listed != NULL && listed[i] != NULL; i++) {
        if (strcmp(listed[i], name) == 0 ||
            (!peer->has_uid && strcmp(listed[i], peer->identity) == 0)) {
            return true;
        }
    }
    return false;
}

int caller_find(struct schedd *schedd, const struct wire_peer *peer, struct job_caller *ret,
                struct err *err)
{
    struct job_caller caller = {.owner = ""};
    caller.is_super = (peer->scopes & SCOPE_ADMINISTRATOR) != 0 || is_listed(schedd, peer);
    int result = submit_owner(schedd, peer, caller.owner, sizeof(caller.owner), err);
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

/* ---- which ----------------------------------------------------------------------------------- */

struct selection {
    struct job_filter *filter;
    struct vec *jobs;
};

static bool select_job(void *arg, struct job *job)
{
    struct selection *selection = arg;
    if (job_filter_wants(selection->filter, job)) {
        vec_push(selection->jobs, job);
    }
    return true;
}

int select_by_constraint(struct schedd *schedd, const char *text, struct vec *jobs, struct err *err)
{
    struct ad_expr *constraint = NULL;
    if (ad_expr_parse(text, strlen(text), AD_OLD, &constraint, err) != 0) {
        return err_prefix(err, -EINVAL, "Constraint");
    }
    const struct ad_context context = {.now_s = loop_wall_s(schedd->loop)};
    struct selection selection = {.jobs = jobs,
                                  .filter = job_filter_create(schedd, constraint, &context)};
    queue_walk(schedd, select_job, &selection);
    job_filter_destroy(selection.filter);
    ad_expr_destroy(constraint);
    return 0;
}

static int select_by_id(struct schedd *schedd, const char *id, struct vec *jobs, int64_t *missing,
                        struct err *err)
{
    int64_t cluster_id = 0, proc = -1;
    if (!job_id_parse(id, &cluster_id, &proc)) {
        return err_set(err, -EINVAL, "'%.50s' is not the id of a job", id);
    }
    const struct cluster *cluster = queue_cluster(schedd, cluster_id);
    size_t before = jobs->count;
    for (uint32_t i = 0; cluster != NULL && i < cluster->proc_count; i++) {
        if (cluster->procs[i] != NULL && (proc < 0 || proc == i)) {
            vec_push(jobs, cluster->procs[i]);
        }
    }
    *missing += jobs->count == before ? 1 : 0;
    return 0;
}

int select_by_ids(struct schedd *schedd, const struct ad *args, const char *name, struct vec *jobs,
                  int64_t *missing, struct err *err)
{
    struct ad_value list;
    (void)ad_eval_attr(args, NULL, name, NULL, &list); /* absent: undefined, no elements */
    size_t count = ad_value_count(&list);
    int result = count > IDS_MAX ? err_set(err, -E2BIG, "more than %d ids", IDS_MAX) : 0;
    for (size_t i = 0; result == 0 && i < count; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        result = item.type == AD_TYPE_STRING
                     ? select_by_id(schedd, item.string.text, jobs, missing, err)
                     : err_set(err, -EINVAL, "%s is not a list of texts", name);
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    return result;
}
