/* schedd/job_checkpoint_now.c - the request JOB_CHECKPOINT: makes running jobs write a checkpoint
 * now.
 *
 * Each job's startd is asked over its claim's connection.  It answers when the checkpoint is kept,
 * or why there is none, and the client is told at once.  Nothing of this is durable: the shadow
 * reports each checkpoint anyway, even if no client is waiting any more.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schedd/claim/claim_wire.h"
#include "schedd/job_checkpoints.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/vec.h"
#include "classad/ad.h"
#include "schedd/queue/job_ad.h"
#include "schedd/claim/job_claims.h"
#include "schedd/questions/job_select.h"
#include "schedd/queue/queue_table.h"
#include "schedd/schedd_state.h"
#include "wire/checkpoint_attrs.h"
#include "wire/wire.h"

#define ASKED_MAX 10000 /* jobs in one request */

struct asking {
    struct wire_request *request; /* NULL: the client is gone */
    size_t waiting; /* answers still to come from startds, plus one while jobs are being asked */
    int64_t taken, not_taken;
};

struct asked {
    struct asking *asking;
    char id[JOB_ID_SIZE];
};

static void client_gone(void *arg)
{
    ((struct asking *)arg)->request = NULL;
}

static void count_answer(struct asking *asking)
{
    if (--asking->waiting > 0) {
        return;
    }
    if (asking->request != NULL) {
        struct ad *args = ad_create();
        ad_set_int(args, "Success", asking->taken);
        ad_set_int(args, "Failed", asking->not_taken);
        const struct wire_body body = {.args = args};
        wire_reply_ok(asking->request, &body);
        ad_destroy(args);
    }
    mem_free(asking);
}

/* Sends the client a part of the answer about one job.  said: the startd's answer; NULL: none. */
static void tell_result(struct asking *asking, const char *id, const char *result, const char *why,
                        const struct ad *said)
{
    bool taken = strcmp(result, "Success") == 0;
    asking->taken += taken ? 1 : 0;
    asking->not_taken += taken ? 0 : 1;
    if (asking->request == NULL) {
        return;
    }
    struct ad *ad = ad_create();
    ad_set_string(ad, "Id", id);
    ad_set_string(ad, "Result", result);
    if (why[0] != '\0') {
        ad_set_string(ad, "Reason", why);
    }
    if (said != NULL) {
        ad_set_int(ad, CKPT_SEQUENCE, ad_int_or(said, CKPT_SEQUENCE, 0));
        ad_set_real(ad, CKPT_SECONDS, ad_real_or(said, CKPT_SECONDS, 0));
    }
    const struct ad *ads[] = {ad};
    const struct wire_body body = {.ads = ads, .ad_count = 1};
    (void)wire_reply_part(asking->request, &body); /* few enough to be queued */
    ad_destroy(ad);
}

static void startd_answered(void *arg, struct wire_reply *reply)
{
    struct asked *asked = arg;
    tell_result(asked->asking, asked->id, reply->status == 0 ? "Success" : "Failed",
                reply->status == 0 ? "" : reply->text, reply->args);
    count_answer(asked->asking);
    mem_free(asked);
}

static int ask_startd(struct asking *asking, const struct claim *claim)
{
    struct wire *wire = claim_wire(claim);
    if (wire == NULL) {
        return -ENOTCONN;
    }
    struct asked *asked = mem_zalloc(sizeof(*asked));
    asked->asking = asking;
    (void)snprintf(asked->id, sizeof(asked->id), "%s", claim->job_id); /* fits */
    struct ad *args = ad_create();
    ad_set_string(args, "JobId", claim->job_id);
    ad_set_int(args, "ClaimEpoch", claim->epoch);
    const struct wire_secret id = {SECRET_CLAIM_ID, SECRET_OF_ARGS, claim->id};
    const struct wire_body body = {.args = args, .secrets = &id, .secret_count = 1};
    int64_t sent = wire_call(wire, VERB_CHECKPOINT_CLAIM, &body, 0, startd_answered, asked);
    ad_destroy(args);
    if (sent < 0) {
        mem_free(asked);
        return (int)sent;
    }
    asking->waiting++;
    return 0;
}

static void ask_job(struct asking *asking, const struct job_caller *caller, const struct job *job)
{
    char id[JOB_ID_SIZE];
    job_id(job, id);
    if (!caller_may(caller, job)) {
        tell_result(asking, id, "PermissionDenied", "", NULL);
    } else if (!checkpoints_wanted(job)) {
        tell_result(asking, id, "NotWanted", "", NULL);
    } else if (job->phase != JOB_ACTIVE || job->claim == NULL || job->claim->state != CLAIM_BUSY) {
        tell_result(asking, id, "BadStatus", "", NULL);
    } else if (ask_startd(asking, job->claim) != 0) {
        tell_result(asking, id, "Failed", "the startd is not connected", NULL);
    }
}

static bool can_checkpoint(const struct job *job)
{
    return job->phase == JOB_ACTIVE && checkpoints_wanted(job);
}

struct wish { /* a request until its jobs are known */
    struct schedd *schedd;
    struct wire_request *request;
    struct job_caller caller;
};

/* Asks the startds of these jobs.  jobs: all that the client named, or those that run among the
 * jobs for which its constraint is true. */
static void ask_jobs(const struct wish *wish, const struct selected *jobs)
{
    if (jobs->count > ASKED_MAX) {
        struct err err;
        int result = err_set(&err, -E2BIG, "more than %d jobs in one request", ASKED_MAX);
        caller_refuse(wish->schedd, wish->request, result, &err);
        return;
    }
    struct asking *asking = mem_zalloc(sizeof(*asking));
    asking->request = wish->request;
    asking->waiting = 1;
    wire_request_on_gone(wish->request, client_gone, asking);
    int64_t denied = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct job *job =
            queue_job(wish->schedd, jobs->names[i].cluster, jobs->names[i].proc);
        denied += caller_may(&wish->caller, job) ? 0 : 1;
    }
    caller_log_denied(wish->schedd, wish->request, denied);
    for (size_t i = 0; i < jobs->count; i++) {
        ask_job(asking, &wish->caller,
                queue_job(wish->schedd, jobs->names[i].cluster, jobs->names[i].proc));
    }
    count_answer(asking);
}

static void jobs_selected(void *arg, struct selected *selected)
{
    struct wish *wish = arg;
    size_t count = 0;
    for (size_t i = 0; selected->result == 0 && i < selected->count; i++) {
        const struct job_name *name = &selected->names[i];
        const struct job *job = queue_job(wish->schedd, name->cluster, name->proc);
        if (job != NULL && can_checkpoint(job)) {
            selected->names[count++] = *name;
        }
    }
    selected->count = count;
    if (selected->result == 0) {
        ask_jobs(wish, selected);
    } else if (selected->result != -ECANCELED) {
        caller_refuse(wish->schedd, wish->request, selected->result, &selected->err);
    }
    mem_free(wish);
}

void checkpoints_now(struct schedd *schedd, struct wire_request *request)
{
    const struct ad *args = wire_request_args(request);
    struct err err = {{0}};
    struct selected jobs = {0};
    int64_t missing = 0;
    struct wish *wish = mem_zalloc(sizeof(*wish));
    wish->schedd = schedd;
    wish->request = request;
    int result = caller_find(schedd, wire_request_peer(request), &wish->caller, &err);
    bool named = ad_has(args, "Ids");
    if (result == 0 && !named) {
        result = select_by_constraint(schedd, request, ad_string_or(args, "Constraint", ""),
                                      jobs_selected, wish, &err);
        if (result == 0) {
            return;
        }
    } else if (result == 0) {
        result = select_by_ids(schedd, request, "Ids", &jobs, &missing, &err);
    }
    if (result == 0) {
        ask_jobs(wish, &jobs);
    } else {
        caller_refuse(schedd, request, result, &err);
    }
    selected_fini(&jobs);
    mem_free(wish);
}
