/* schedd/job_access.c - see job_access.h; the protocol is docs/protocol/access.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/job_access.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/questions/job_select.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "schedd/shadows/shadows.h"
#include "wire/wire.h"

#define TICKET_BYTES 16
#define CLUSTERS_MAX 1000 /* clusters that one ticket may name */

struct access {
    struct schedd *schedd;
    struct wire_request *request;
    struct owner *owner;
    struct ad *answer;
    char ticket[2 * TICKET_BYTES + 1];
};

/* ---- what may be asked of a job that runs ---------------------------------------------------- */

static int not_running(const struct job *job, const char *id, struct err *err)
{
    const char *now = job->phase == JOB_HELD ? "is held"
                      : job->phase == JOB_PLACING || job->phase == JOB_COMPLETED
                          ? "has ended"
                          : "is idle and does not run yet";
    return err_set(err, -ESRCH, "job %s %s", id, now);
}

static int find_run(struct access *access, const struct job_caller *caller, struct ad *admit,
                    struct err *err)
{
    const char *id = ad_string_or(wire_request_args(access->request), "JobId", "");
    struct job *job = queue_job_by_id(access->schedd, id);
    if (job == NULL) {
        return err_set(err, -ENOENT, "no such job in the queue: %.40s", id);
    }
    if (!caller_may(caller, job)) {
        return err_set(err, -EPERM, "job %s belongs to another user", id);
    }
    if (job->phase != JOB_CLAIMED && job->phase != JOB_ACTIVE) {
        return not_running(job, id, err);
    }
    access->owner = job->cluster->owner;
    ad_set_string(admit, "JobId", id);
    ad_set_int(admit, "ClaimEpoch", job->epoch);
    ad_set_string(access->answer, "RemoteHost", job_string(job, "RemoteHost", ""));
    ad_set_int(access->answer, "JobStatus", (int64_t)job_status(job));
    return 0;
}

/* ---- spooled files of clusters --------------------------------------------------------------- */

static int add_cluster(struct access *access, const struct job_caller *caller, const char *id,
                       struct vec *ids, struct err *err)
{
    int64_t number = 0, proc = -1;
    struct cluster *cluster =
        job_id_parse(id, &number, &proc) ? queue_cluster(access->schedd, number) : NULL;
    if (cluster == NULL || proc >= 0) {
        return err_set(err, -ENOENT, "no such cluster in the queue: %.40s", id);
    }
    if (!caller->is_super && strcmp(cluster->owner->name, caller->owner) != 0) {
        return err_set(err, -EPERM, "cluster %s belongs to another user", id);
    }
    if (access->owner != NULL && access->owner != cluster->owner) {
        return err_set(
            err, -EINVAL,
            "the clusters belong to several owners; name one owner's clusters at a time");
    }
    if (!ad_has(cluster->ad, "SUBMIT_Iwd")) {
        return err_set(err, -EINVAL, "cluster %s was not submitted with -spool", id);
    }
    access->owner = cluster->owner;
    vec_push(ids, mem_strdup(id));
    return 0;
}

static int find_clusters(struct access *access, const struct job_caller *caller, struct ad *admit,
                         struct err *err)
{
    struct ad_value list;
    struct vec ids = {0};
    (void)ad_eval_attr(wire_request_args(access->request), NULL, "Ids", NULL, &list);
    size_t count = ad_value_count(&list); /* absent: undefined, no elements */
    int result = count == 0             ? err_set(err, -EINVAL, "JOB_ACCESS needs Ids")
                 : count > CLUSTERS_MAX ? err_set(err, -E2BIG, "more than %d Ids", CLUSTERS_MAX)
                                        : 0;
    for (size_t i = 0; result == 0 && i < count; i++) {
        struct ad_value item;
        ad_value_item(&list, i, &item);
        result = add_cluster(access, caller, item.type == AD_TYPE_STRING ? item.string.text : "",
                             &ids, err);
        ad_value_fini(&item);
    }
    ad_value_fini(&list);
    if (result == 0) {
        ad_set_strings(admit, "Ids", (const char *const *)ids.items, ids.count);
    }
    vec_fini(&ids, mem_free);
    return result;
}

/* Tells the client in the answer whether it owns the jobs (IsOwner), and tells root the owner's
 * account (Account).  The ads of the jobs, which their owner wrote, say which files of the client's
 * machine are sent and where output goes; another user must not read or write these files with
 * rights of its own. */
static void say_whose(struct access *access, const struct job_caller *caller)
{
    const struct wire_peer *peer = wire_request_peer(access->request);
    if (peer->has_uid && peer->uid == 0) {
        ad_set_string(access->answer, "Account", access->owner->name);
    }
    ad_set_bool(access->answer, "IsOwner", strcmp(access->owner->name, caller->owner) == 0);
}

/* ---- the ticket ------------------------------------------------------------------------------ */

static void access_destroy(struct access *access)
{
    ad_destroy(access->answer);
    mem_free(access);
}

static void client_admitted(void *arg, int status, const char *text)
{
    struct access *access = arg;
    if (status != 0) {
        wire_reply_error(access->request, status, "%s", text);
    } else {
        ad_set_string(access->answer, "ShadowPin", text);
        const struct wire_secret ticket = {SECRET_TICKET, SECRET_OF_ARGS, access->ticket};
        const struct wire_body body = {.args = access->answer,
                                       .secrets = &ticket,
                                       .secret_count = 1};
        wire_reply_ok(access->request, &body);
    }
    access_destroy(access);
}

static void make_ticket(struct access *access)
{
    unsigned char secret[TICKET_BYTES];
    loop_secret(access->schedd->loop, secret, sizeof(secret));
    text_hex(secret, sizeof(secret), access->ticket);
    struct strbuf route;
    strbuf_init(&route, 0);
    strbuf_printf(&route, "shadow/%s", access->owner->name);
    ad_set_string(access->answer, "ShadowRoute", strbuf_text(&route));
    strbuf_fini(&route);
    ad_set_string(access->answer, "ShadowAddress", access->schedd->self.address);
}

void access_handle(struct schedd *schedd, struct wire_request *request)
{
    struct err err = {{0}};
    struct job_caller caller;
    const char *purpose = ad_string_or(wire_request_args(request), "Purpose", "");
    bool of_run = text_equal_nocase(purpose, "Tail") || text_equal_nocase(purpose, "Shell");
    bool of_files = text_equal_nocase(purpose, "Spool") || text_equal_nocase(purpose, "Fetch");
    struct access *access = mem_zalloc(sizeof(*access));
    *access = (struct access){.schedd = schedd, .request = request, .answer = ad_create()};
    struct ad *admit = ad_create();
    ad_set_string(admit, "Purpose", purpose);
    ad_set_string(admit, "TokenId", wire_request_peer(request)->token_id);
    int result = 0;
    if (schedd->stopping) {
        result = err_set(&err, -ESHUTDOWN, "the schedd is stopping");
    } else if (wire_request_peer(request)->relayed) { /* a hub could read the ticket, and use it */
        result =
            err_set(&err, -EPERM, "a ticket is given only on a direct connection to the schedd");
    }
    result = result != 0 ? result : caller_find(schedd, wire_request_peer(request), &caller, &err);
    if (result == 0) {
        result = of_run     ? find_run(access, &caller, admit, &err)
                 : of_files ? find_clusters(access, &caller, admit, &err)
                            : err_set(&err, -EINVAL,
                                      "JOB_ACCESS needs a Purpose: Tail, Shell, "
                                      "Spool or Fetch");
    }
    if (result != 0) {
        caller_refuse(schedd, request, result, &err);
        access_destroy(access);
    } else {
        make_ticket(access);
        if (of_files) {
            say_whose(access, &caller);
        }
        log_info(schedd->log, "access.granted",
                 "issued a ticket with which a client may connect to the owner's shadow",
                 LOG_TEXT("owner", access->owner->name), LOG_TEXT("purpose", purpose),
                 LOG_TEXT("by", wire_request_peer(request)->identity));
        shadows_call(schedd, access->owner, VERB_JOB_ADMIT, admit, access->ticket, client_admitted,
                     access);
    }
    ad_destroy(admit);
}
